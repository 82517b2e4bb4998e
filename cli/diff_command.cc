#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/input_flags.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/time_limit.h"
#include "cli/tolerance_flags.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/scratch_folder.h"
#include "report/diff/model_diff_format.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "trial/as_type.h"
#include "trial/bisecting/bisect.h"
#include "trial/generate.h"

namespace grurun::cli {
namespace {

struct DiffFlags {
  std::string a, b;
  InputFlags data;
  ToleranceFlags tolerance;
  EngineFlags engine;
  std::string max_time;
  ReportFlags report;

  bool runs() const {
    return !data.inputs.empty() || data.seed || !data.ranges.empty() || !data.shapes.empty() ||
           !data.dimensions.empty();
  }
};

/// The first node of b whose value is not a's; nullopt: they have no value in common.
std::optional<trial::Bisection> parting_of(const onnx_io::Model& a, const onnx_io::Model& b,
                                           const std::vector<Value>& inputs_of_a,
                                           const trial::BisectOptions& options, const std::string& scratch) {
  try {
    const std::vector<Value> inputs = trial::inputs_for(b.graph, a.graph, inputs_of_a);
    trial::Reference reference = trial::reference_of(b, inputs, a, options.rerun, scratch);
    trial::Bisection parting = trial::bisect(b, inputs, reference, options);
    parting.reference = "A";
    return parting;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return std::nullopt;
  }
}

/// At each size of dimensions that nothing fixes.
void run_both(const DiffFlags& flags, const onnx_io::Model& a, const onnx_io::Model& b,
              const std::string& scratch, report::ModelDiffReport& result) {
  const std::vector<trial::Slot> slots = trial::input_slots(a.graph);
  InputFlags without_sizes = flags.data;
  without_sizes.dimensions.clear();
  trial::RandomSettings settings = random_settings(without_sizes, slots);
  const std::vector<Value> given =
      trial::read_values(flags.data.inputs, slots, trial::Side::input, "--inputs");
  const trial::Tolerances tolerances{checked(flags.tolerance), {}};
  const bool is_complete = std::ranges::none_of(given, &Value::empty);
  const std::vector<std::string> open =
      is_complete ? std::vector<std::string>() : trial::open_dimensions(a.graph);
  std::vector<trial::RunDiff>& out = result.runs.emplace();
  trial::BisectOptions options;
  options.tolerances = tolerances;
  options.rerun.seed = settings.seed;
  for (const auto& sizes : trial::swept_sizes(open, parse_size_lists("--set", flags.data.dimensions))) {
    settings.dimensions = sizes;
    std::vector<Value> inputs = given;
    trial::fill_random(a.graph, slots, settings, inputs);
    out.push_back(trial::diff_runs(a, b, inputs, tolerances, settings.seed));
    out.back().sizes = sizes;
    if (!result.parting && out.back().failed.empty() && !out.back().is_same())
      result.parting = parting_of(a, b, inputs, options, scratch);
  }
}

int run(const DiffFlags& flags, const onnx_io::ScratchFolder& scratch,
        Reports<report::ModelDiffReport>& reports) {
  const onnx_io::Model a = onnx_io::load_model_to_run(flags.a).model;
  const onnx_io::Model b = onnx_io::load_model_to_run(flags.b).model;
  require_unread(reports.files(), files_of(a));
  require_unread(reports.files(), files_of(b));
  reports.open();
  const std::unique_ptr<TimeLimit> limit = limit_time(flags.max_time.empty() ? "0" : flags.max_time, "diff");
  memory::begin_counting_heap();
  report::ModelDiffReport result{flags.a, flags.b, trial::diff_models(a, b), {}, {}};
  if (flags.runs()) run_both(flags, a, b, scratch.path(), result);
  reports.write(result);
  return result.exit_status();
}

Work prepare(const std::shared_ptr<const DiffFlags>& chosen) {
  const DiffFlags& flags = *chosen;
  const auto reports = std::make_shared<Reports<report::ModelDiffReport>>(flags.report, "diff", true);
  checked(flags.tolerance);
  apply(flags.engine);
  std::vector<NamedPath> read{{"A", flags.a}, {"B", flags.b}};
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  require_unread(reports->files(), read);
  const auto scratch = std::make_shared<const onnx_io::ScratchFolder>();
  SandboxFiles files{{flags.a, flags.b}, flags.data.inputs, paths_of(reports->files())};
  files.scratch.push_back(scratch->path());
  return {{flags.engine.sandbox, files}, [=] { return run(*chosen, *scratch, *reports); }};
}

constexpr const char* diff_footer = R"(
Says in what two models differ: opsets, inputs and outputs, nodes, attributes, and what each weight of B is to that of A (cast, quantized,
transposed, permuted, scaled). With inputs, from files or at random, both run, at several sizes of the dimensions that have a name.

  grurun diff float.onnx half.onnx
  grurun diff model.onnx optimized.onnx --seed 0 --rtol 1e-5
  grurun diff model.onnx quantized.onnx --inputs x.npy --report markdown=diff.md

Exit codes: 0 nothing differs, or with inputs the outputs agree; 1 something differs; 2 usage; 3 invalid model or data; 4 unsupported; 5 a
limit was hit; 70 internal error.)";

}  // namespace

void add_diff(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<DiffFlags>();
  command.add_option("A", flags->a, "Model file (.onnx)")->type_name("A")->required();
  command.add_option("B", flags->b, "Another one")->type_name("B")->required();
  add_inputs_flag(command, flags->data, "Data, to run both on");
  add_random_flags(command, flags->data)
      .description("Sizes of named dimensions, batch=1,3 (2,1,3,5 of each)");
  add_tolerance_flags(command, flags->tolerance);
  add_engine_flags(command, flags->engine, "Engine");
  command.add_option("--max-time", flags->max_time, "Seconds that it may take; 0, the default: no limit")
      ->type_name("SECONDS")
      ->group("Engine");
  add_report_flags(command, flags->report, either_of(report::format_names<report::ModelDiffReport>()),
                   "Output");
  add_short_form(command, flags->report, "json", "Write the result as JSON; - is stdout", "Output");
  command.footer(diff_footer);
  command.callback([flags, &action] { action = [flags] { return prepare(flags); }; });
}

}  // namespace grurun::cli
