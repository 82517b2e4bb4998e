#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/input_flags.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/time_limit.h"
#include "cli/warnings.h"
#include "onnx_io/folder.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/values/tensor_files.h"
#include "opset/check/mended_findings.h"
#include "report/bisect/bisect_format.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "trial/bisect.h"
#include "trial/precise.h"
#include "trial/trial.h"

namespace grurun::cli {
namespace {

struct BisectFlags {
  std::string model;
  InputFlags data;
  EngineFlags engine;
  std::string against;
  std::string find;
  std::optional<double> rtol, atol;
  bool all = false;
  std::string max_time;
  ReportFlags report;
};

using report::BisectReport;
using trial::ValuesByName;

const std::map<std::string, trial::Oddity> oddities{{"nan", trial::Oddity::nan},
                                                    {"inf", trial::Oddity::inf},
                                                    {"overflow-float16", trial::Oddity::overflow_float16},
                                                    {"denormal", trial::Oddity::denormal}};

constexpr const char* precise = "precise";

bool holds_values(const std::string& path) {
  return path.ends_with(".npz") || path.ends_with(".json") || std::filesystem::is_directory(path);
}

/// Values by name: of one file, or of a folder of files, each named by what is in it, or else by its name.
ValuesByName stored_values(const std::string& path) {
  std::vector<std::string> files{path};
  if (std::filesystem::is_directory(path)) {
    files.clear();
    for (const onnx_io::FolderEntry& entry : onnx_io::entries_of(path)) {
      if (entry.name.ends_with(".pb") || entry.name.ends_with(".npy"))
        files.push_back(path + "/" + entry.name);
    }
  }
  ValuesByName values;
  for (const std::string& file : files) {
    for (onnx_io::NamedValue& read : onnx_io::read_values(file)) {
      const std::string name = read.name.empty() ? std::filesystem::path(file).stem().string() : read.name;
      if (!values.emplace(name, std::move(read.value)).second)
        fail_usage("--against {}: two values are named '{}'", path, name);
    }
  }
  return values;
}

/// What another model of the same inputs makes.
ValuesByName values_of(const std::string& path, const onnx_io::Graph& graph, const std::vector<Value>& inputs,
                       const trial::Rerun& rerun) {
  const onnx_io::RunnableModel other = onnx_io::load_model_to_run(path);
  std::vector<Value> given;
  for (const onnx_io::ValueInfo& wanted : other.model.graph.inputs) {
    const auto same = std::ranges::find(graph.inputs, wanted.name, &onnx_io::ValueInfo::name);
    given.push_back(
        same == graph.inputs.end()
            ? Value()
            : trial::as_declared(inputs[static_cast<std::size_t>(same - graph.inputs.begin())], wanted.type));
  }
  return trial::values_by_name(other.model, std::move(given), rerun);
}

ValuesByName reference_of(const BisectFlags& flags, const onnx_io::Model& model,
                          const std::vector<Value>& inputs, const trial::Rerun& rerun) {
  if (flags.against == precise) {
    std::vector<Value> wide;
    for (const Value& input : inputs) wide.push_back(trial::widened(input));
    return trial::values_by_name(trial::widened(model), std::move(wide), rerun);
  }
  if (holds_values(flags.against)) return stored_values(flags.against);
  return values_of(flags.against, model.graph, inputs, rerun);
}

int run(const BisectFlags& flags) {
  if (flags.against.empty() == flags.find.empty())
    fail_usage(
        "bisect takes one of --against, what values are to be, and --find, which numbers are not to be");
  if (!flags.find.empty() && !oddities.contains(flags.find))
    fail_usage("--find takes nan, inf, overflow-float16 or denormal, not '{}'", flags.find);
  apply(flags.engine, flags.max_time);
  Reports<BisectReport> reports(flags.report, "bisect", true);
  std::vector<NamedPath> read{{"the model", flags.model}};
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  if (!flags.against.empty()) read.push_back({"--against", flags.against});
  require_unread(reports.files(), read);
  SandboxFiles files{{flags.model}, flags.data.inputs, paths_of(reports.files())};
  if (!flags.against.empty() && flags.against != precise)
    (holds_values(flags.against) ? files.values : files.models).push_back(flags.against);
  enter_sandbox(flags.engine.sandbox, files);
  const onnx_io::RunnableModel file = onnx_io::load_model_to_run(flags.model);
  const onnx_io::Model& model = file.model;
  require_unread(reports.files(), files_of(model));
  const std::vector<Value> inputs = gather_inputs(flags.data, model.graph);
  reports.open();
  Warnings warnings;
  for (const opset::Finding& finding : opset::mended_findings(file.mended)) warnings.tell_of(finding);

  trial::BisectOptions options;
  options.tolerances.flag = {flags.rtol, flags.atol};
  options.rerun.seed = flags.data.seed.value_or(0);
  options.all = flags.all;
  std::unique_ptr<TimeLimit> limit;
  if (const auto most =
          flags.max_time.empty() ? std::nullopt : parse_time_limit("--max-time", flags.max_time)) {
    limit = std::make_unique<TimeLimit>(*most);
    options.rerun.deadline = limit->deadline();
  }
  memory::begin_counting_heap();
  BisectReport result{flags.model, {}, {}, {}};
  with_context([&] { return flags.model; },
               [&] {
                 trial::TrialOptions checked;
                 checked.warn = [&](const opset::Finding& finding) { warnings.tell_of(finding); };
                 trial::Trial(model, std::move(checked)).check(inputs);
                 if (!flags.find.empty()) {
                   result.sought = flags.find;
                   result.found = trial::find_oddity(model, inputs, oddities.at(flags.find), options.rerun);
                   return;
                 }
                 const ValuesByName reference = reference_of(flags, model, inputs, options.rerun);
                 result.bisection = trial::bisect(model, inputs, reference, options);
                 result.bisection->reference = flags.against == precise ? "double precision" : flags.against;
               });
  limit.reset();
  reports.write(result);
  return result.exit_status();
}

constexpr const char* bisect_footer = R"(
Compares the value that every node makes with a reference's of the same name, and runs nodes that differ once more by themselves on the
reference's values: so a node that is wrong is told from one that hands on what it was given.

  grurun bisect model.onnx --inputs test_data_set_0 --against values.npz
  grurun bisect half.onnx --inputs x.npy --against float.onnx --rtol 0.01
  grurun bisect model.onnx --seed 0 --against precise --rtol 1e-5
  grurun bisect model.onnx --inputs x.npy --find nan

Exit codes: 0 nothing differs, or is found; 1 something; 2 usage; 3 invalid model or data; 4 unsupported; 5 a limit was hit; 70 internal error.)";

}  // namespace

void add_bisect(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<BisectFlags>();
  command.add_option("model", flags->model, "Model file (.onnx)")->type_name("MODEL")->required();
  add_inputs_flag(command, flags->data, "Data");
  add_random_flags(command, flags->data);
  const char* looking = "What is looked for";
  command
      .add_option(
          "--against", flags->against,
          "Values by name (.npz, .json, or a folder of .pb and .npy), another model, or precise: this one "
          "in double")
      ->type_name("X")
      ->group(looking);
  command
      .add_option("--find", flags->find, "The first node that makes a nan, inf, overflow-float16 or denormal")
      ->type_name("WHAT")
      ->group(looking);
  command.add_option("--rtol", flags->rtol, "Relative tolerance (1e-3)")->type_name("NUMBER")->group(looking);
  command.add_option("--atol", flags->atol, "Absolute tolerance (1e-7)")->type_name("NUMBER")->group(looking);
  command.add_flag("--all", flags->all, "Go on behind the first wrong node")->group(looking);
  add_engine_flags(command, flags->engine, "Engine");
  command.add_option("--max-time", flags->max_time, "Seconds that it may take; 0, the default: no limit")
      ->type_name("SECONDS")
      ->group("Engine");
  add_report_flags(command, flags->report, either_of(report::format_names<BisectReport>()), "Output");
  add_short_form(command, flags->report, "json", "Write the result as JSON; - is stdout", "Output");
  command.footer(bisect_footer);
  command.callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace grurun::cli
