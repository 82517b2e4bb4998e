#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/input_flags.h"
#include "cli/new_folder.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/time_limit.h"
#include "onnx_io/bytes.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/models/write_model.h"
#include "report/generate/generate_format.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "trial/write_data_set.h"

namespace grurun::cli {
namespace {

namespace fs = std::filesystem;

struct GenerateFlags {
  std::string model, folder;
  InputFlags data;
  EngineFlags engine;
  int sets = 1;
  bool sweep = false, precise = false;
  std::string max_time;
  ReportFlags report;
};

/// The model's files as they are; what ONNX's format does not hold is written in it.
void copy_model(const onnx_io::Model& model, const std::string& folder) {
  const fs::path to(folder);
  if (model.from_openvino_ir) return onnx_io::write_model((to / "model.onnx").string(), model);
  const auto copy = [](const std::string& from, const fs::path& target) {
    if (target.has_parent_path()) fs::create_directories(target.parent_path());
    onnx_io::write_file(target.string(), {onnx_io::read_file(from).text()});
  };
  copy(model.path, to / "model.onnx");
  for (const std::string& file : model.external_files)
    copy(file, to / fs::path(file).lexically_relative(onnx_io::folder_of(model.path)));
}

trial::GenerateOptions generate_options(const GenerateFlags& flags, const onnx_io::Graph& graph) {
  InputFlags without_sizes = flags.data;
  without_sizes.dimensions.clear();
  trial::GenerateOptions options;
  options.random = random_settings(without_sizes, trial::input_slots(graph));
  options.sizes = parse_size_lists("--set", flags.data.dimensions);
  options.sets = flags.sets;
  options.sweep = flags.sweep;
  options.precise = flags.precise;
  return options;
}

int run(const GenerateFlags& flags, Reports<report::GenerateReport>& reports) {
  const onnx_io::Model model = onnx_io::load_model_to_run(flags.model).model;
  require_unread(reports.files(), files_of(model));
  const trial::GenerateOptions options = generate_options(flags, model.graph);
  const std::vector<Value> given =
      trial::read_values(flags.data.inputs, trial::input_slots(model.graph), trial::Side::input, "--inputs");
  reports.open();
  const std::unique_ptr<TimeLimit> limit =
      limit_time(flags.max_time.empty() ? "0" : flags.max_time, "generate");
  memory::begin_counting_heap();
  bool is_copied = false;
  report::GenerateReport result{flags.model, flags.folder, {}};
  with_context([&] { return flags.model; },
               [&] {
                 result.generated = trial::generate(model, given, options, [&](const trial::DataSet& set) {
                   std::error_code error;
                   fs::create_directories(flags.folder, error);
                   if (error) fail_usage("-o {}: {}", flags.folder, error.message());
                   if (!is_copied) copy_model(model, flags.folder);
                   is_copied = true;
                   trial::write_data_set(flags.folder + "/" + set.name, model.graph, set);
                 });
               });
  reports.write(result);
  return result.exit_status();
}

Work prepare(const std::shared_ptr<const GenerateFlags>& chosen) {
  const GenerateFlags& flags = *chosen;
  require_new_folder("-o", flags.folder);
  const auto reports = std::make_shared<Reports<report::GenerateReport>>(flags.report, "generate", true);
  apply(flags.engine);
  std::vector<NamedPath> read{{"the model", flags.model}};
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  require_unread(reports->files(), read);
  SandboxFiles files{{flags.model}, flags.data.inputs, paths_of(reports->files())};
  files.folders.push_back(flags.folder);
  return {{flags.engine.sandbox, files}, [=] { return run(*chosen, *reports); }};
}

constexpr const char* generate_footer = R"(
Makes a case: the model, and data sets of random inputs with what grurun makes of them as expected outputs. A name that --set does not
tell needs --sweep or a size.

  grurun generate model.onnx -o case --seed 7 --sets 3 --set batch=1,3
  grurun generate model.onnx -o case --sweep --precise

Exit codes: 0 all data sets are written; 1 the model does not run at a size, or an output does not follow it; 2 usage; 3 invalid model or
data; 4 unsupported; 5 a limit was hit; 70 internal error.)";

}  // namespace

void add_generate(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<GenerateFlags>();
  command.add_option("model", flags->model, "Model file (.onnx)")->type_name("MODEL")->required();
  command.add_option("-o,--output", flags->folder, "The case's folder, a new or empty one")
      ->type_name("DIR")
      ->required();
  add_inputs_flag(command, flags->data, "Data");
  add_random_flags(command, flags->data)
      .description("Sizes of named dimensions, batch=1,3: each combination of them");
  const char* sets = "Data sets";
  command.add_option("--sets", flags->sets, "Data sets of each size, with the seeds that follow")
      ->check(CLI::Range(1, 10000).description(""))
      ->type_name("N")
      ->capture_default_str()
      ->group(sets);
  command
      .add_flag("--sweep", flags->sweep,
                "Several sizes of each named dimension (2,1,3,5), the others at their first")
      ->group(sets);
  command.add_flag("--precise", flags->precise, "Expected outputs are computed in double, and rounded")
      ->group(sets);
  add_engine_flags(command, flags->engine, "Engine");
  command.add_option("--max-time", flags->max_time, "Seconds that it may take; 0, the default: no limit")
      ->type_name("SECONDS")
      ->group("Engine");
  add_report_flags(command, flags->report, either_of(report::format_names<report::GenerateReport>()),
                   "Output");
  add_short_form(command, flags->report, "json", "Write the result as JSON; - is stdout", "Output");
  command.footer(generate_footer);
  command.callback([flags, &action] { action = [flags] { return prepare(flags); }; });
}

}  // namespace grurun::cli
