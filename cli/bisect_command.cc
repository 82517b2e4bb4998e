#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/input_flags.h"
#include "cli/reference_choice.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/time_limit.h"
#include "cli/warnings.h"
#include "conformance/runtime_values.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/scratch_folder.h"
#include "opset/check/mended_findings.h"
#include "report/bisect/bisect_format.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "trial/as_type.h"
#include "trial/bisecting/bisect.h"
#include "trial/bisecting/oddities.h"
#include "trial/trial.h"

namespace grurun::cli {
namespace {

struct BisectFlags {
  std::string model;
  InputFlags data;
  EngineFlags engine;
  std::string against;
  std::string runtime;
  std::string names;
  std::string find;
  std::optional<double> rtol, atol;
  bool all = false, rank = false;
  std::string max_time;
  ReportFlags report;
};

using report::BisectReport;

const std::map<std::string, trial::Oddity> oddities{{"nan", trial::Oddity::nan},
                                                    {"inf", trial::Oddity::inf},
                                                    {"overflow-float16", trial::Oddity::overflow_float16},
                                                    {"denormal", trial::Oddity::denormal}};

/// What the reference is: --runtime is one more way to name it.
ReferenceChoice reference_of_flags(const BisectFlags& flags) {
  if (!flags.runtime.empty()) return {ReferenceKind::runtime, "", flags.runtime};
  return choose_reference(flags.against);
}

std::string flag_of_runtime(const BisectFlags& flags) {
  return flags.runtime.empty() ? "--against " + flags.against : "--runtime";
}

/// What reports call the reference.
std::string reference_name(const BisectFlags& flags, const ReferenceChoice& choice) {
  if (!flags.runtime.empty()) return "the command of --runtime";
  return choice.kind == ReferenceKind::precise ? "double precision" : flags.against;
}

/// The values of a runtime. The model is not held while it runs: it has its own weights, which are not to be
/// there twice.
trial::ValueStore values_of_program(const BisectFlags& flags, const ReferenceChoice& choice,
                                    std::optional<onnx_io::RunnableModel>& file,
                                    const std::vector<Value>& inputs, const trial::Rerun& rerun,
                                    const onnx_io::ScratchFolder& scratch) {
  const std::vector<conformance::WantedValue> wanted = conformance::wanted_values(file->model, inputs, rerun);
  const conformance::RuntimeRun run{flag_of_runtime(flags),
                                    choice.command,
                                    flags.model,
                                    !file->model.external_files.empty(),
                                    scratch.path(),
                                    bytes_at_once(flags.engine),
                                    rerun.deadline};
  const onnx_io::Graph graph = conformance::graph_to_feed(file->model.graph, inputs);
  file.reset();
  trial::ValueStore values = conformance::values_of_runtime(run, graph, inputs, wanted);
  file = onnx_io::load_model_to_run(flags.model);
  return values;
}

/// A reference that no runtime makes.
trial::Reference reference_for(const std::string& path, const ReferenceChoice& choice,
                               const onnx_io::Model& model, const std::vector<Value>& inputs,
                               const trial::Rerun& rerun, const std::string& scratch) {
  if (choice.kind == ReferenceKind::precise)
    return with_context([&] { return path; },
                        [&] { return trial::precise_reference_of(model, inputs, rerun, scratch); });
  if (choice.kind == ReferenceKind::values) return {trial::ValueStore::open(choice.path, "--against")};
  const onnx_io::RunnableModel other = onnx_io::load_model_to_run(choice.path);
  const auto where = [&] {
    const std::string by_place = trial::fed_by_place(other.model.graph, model.graph, path);
    return by_place.empty() ? choice.path : choice.path + ": " + by_place;
  };
  return with_context(where, [&] { return trial::reference_of(model, inputs, other.model, rerun, scratch); });
}

void require_one_reference(const BisectFlags& flags) {
  if (int{!flags.against.empty()} + int{!flags.runtime.empty()} + int{!flags.find.empty()} != 1)
    fail_usage(
        "bisect takes one of --against and --runtime, what values are to be, and --find, which numbers are "
        "not to be");
  if (!flags.find.empty() && !oddities.contains(flags.find))
    fail_usage("--find takes nan, inf, overflow-float16 or denormal, not '{}'", flags.find);
  if (!flags.find.empty() && (!flags.names.empty() || flags.rank))
    fail_usage("--names and --rank go with a reference; --find has none");
}

int run(const BisectFlags& flags, const ReferenceChoice& choice, const onnx_io::ScratchFolder& scratch,
        Reports<BisectReport>& reports) {
  const bool starts_program = choice.kind == ReferenceKind::runtime;
  std::optional<onnx_io::RunnableModel> file = onnx_io::load_model_to_run(flags.model);
  require_unread(reports.files(), files_of(file->model));
  const std::vector<Value> inputs = gather_inputs(flags.data, file->model.graph);
  reports.open();
  Warnings warnings;
  for (const opset::Finding& finding : opset::mended_findings(file->mended)) warnings.tell_of(finding);

  trial::BisectOptions options;
  options.tolerances.flag = {flags.rtol, flags.atol};
  options.rerun.seed = flags.data.seed.value_or(0);
  options.all = flags.all;
  options.rank = flags.rank;
  std::unique_ptr<TimeLimit> limit;
  if (const auto most =
          flags.max_time.empty() ? std::nullopt : parse_time_limit("--max-time", flags.max_time)) {
    limit = std::make_unique<TimeLimit>(*most);
    options.rerun.deadline = limit->deadline();
  }
  memory::begin_counting_heap();
  BisectReport result{flags.model, {}, {}, {}};
  const auto in_model = [&](auto&& body) { return with_context([&] { return flags.model; }, body); };
  in_model([&] {
    trial::TrialOptions checked;
    checked.warn = [&](const opset::Finding& finding) { warnings.tell_of(finding); };
    trial::Trial(file->model, std::move(checked)).check(inputs);
  });
  if (!flags.find.empty()) {
    result.sought = flags.find;
    result.found = in_model(
        [&] { return trial::find_oddity(file->model, inputs, oddities.at(flags.find), options.rerun); });
  } else {
    std::optional<trial::Reference> reference;
    if (starts_program) {
      reference.emplace(trial::Reference{
          in_model([&] { return values_of_program(flags, choice, file, inputs, options.rerun, scratch); })});
    } else {
      reference = reference_for(flags.model, choice, file->model, inputs, options.rerun, scratch.path());
    }
    if (!flags.names.empty()) reference->values.rename(trial::read_name_map(flags.names), "--names");
    result.bisection = in_model([&] { return trial::bisect(file->model, inputs, *reference, options); });
    result.bisection->reference = reference_name(flags, choice);
  }
  limit.reset();
  reports.write(result);
  return result.exit_status();
}

Work prepare(const std::shared_ptr<const BisectFlags>& chosen) {
  const BisectFlags& flags = *chosen;
  require_one_reference(flags);
  apply(flags.engine, flags.max_time);
  const auto reports = std::make_shared<Reports<BisectReport>>(flags.report, "bisect", true);
  std::vector<NamedPath> read{{"the model", flags.model}};
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  if (!flags.against.empty()) read.push_back({"--against", flags.against});
  require_unread(reports->files(), read);
  const ReferenceChoice choice = reference_of_flags(flags);
  const auto scratch = std::make_shared<const onnx_io::ScratchFolder>();
  SandboxFiles files{{flags.model}, flags.data.inputs, paths_of(reports->files())};
  files.scratch.push_back(scratch->path());
  if (!flags.names.empty()) files.values.push_back(flags.names);
  add_reference(choice, files);
  SandboxChoice sandbox{flags.engine.sandbox, files};
  if (choice.kind == ReferenceKind::runtime) leave_sandbox(sandbox, flag_of_runtime(flags));
  return {sandbox, [=] { return run(*chosen, choice, *scratch, *reports); }};
}

constexpr const char* bisect_footer = R"(
Compares the value that every node makes with a reference's of the same name, and runs nodes that differ once more by themselves on the
reference's values: so a node that is wrong is distinguished from one that passes on what it was given. What rounding explains is no
difference, unless --rtol or --atol is given.

  grurun bisect model.onnx --inputs test_data_set_0 --against values.npz
  grurun bisect half.onnx --inputs x.npy --against float.onnx --rtol 0.01
  grurun bisect model.onnx --seed 0 --against precise --rtol 1e-5
  grurun bisect int8.onnx --inputs x.npy --against float.onnx --rtol 0.1 --rank
  grurun bisect model.onnx --inputs x.npy --against onnxruntime
  grurun bisect model.onnx --inputs x.npy --find nan

Exit codes: 0 nothing differs, or is found; 1 something; 2 usage; 3 invalid model or data; 4 unsupported; 5 a limit was hit; 70 internal error.)";

}  // namespace

void add_bisect(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<BisectFlags>();
  command.add_option("model", flags->model, "Model file (.onnx)")->type_name("MODEL")->required();
  add_inputs_flag(command, flags->data, "Data");
  add_random_flags(command, flags->data);
  const char* looking = "What is looked for";
  command.add_option("--against", flags->against, against_text)->type_name("X")->group(looking);
  command
      .add_option("--runtime", flags->runtime,
                  "The values of another runtime: a command with {model}, {inputs} and {outputs}, as of "
                  "conformance")
      ->type_name("COMMAND")
      ->group(looking);
  command
      .add_option("--names", flags->names,
                  "Other names in the reference: {\"name in the model\": \"name there\"}")
      ->type_name("MAP.json")
      ->group(looking);
  command
      .add_option("--find", flags->find, "The first node that makes a nan, inf, overflow-float16 or denormal")
      ->type_name("WHAT")
      ->group(looking);
  command.add_option("--rtol", flags->rtol, "Relative tolerance (1e-3)")->type_name("NUMBER")->group(looking);
  command.add_option("--atol", flags->atol, "Absolute tolerance (1e-7)")->type_name("NUMBER")->group(looking);
  command.add_flag("--all", flags->all, "Go on behind the first wrong node")->group(looking);
  command.add_flag("--rank", flags->rank, "Run every node alone, and rank them by the error that each makes")
      ->group(looking);
  add_engine_flags(command, flags->engine, "Engine");
  command.add_option("--max-time", flags->max_time, "Seconds that it may take; 0, the default: no limit")
      ->type_name("SECONDS")
      ->group("Engine");
  add_report_flags(command, flags->report, either_of(report::format_names<BisectReport>()), "Output");
  add_short_form(command, flags->report, "json", "Write the result as JSON; - is stdout", "Output");
  command.footer(bisect_footer);
  command.callback([flags, &action] { action = [flags] { return prepare(flags); }; });
}

}  // namespace grurun::cli
