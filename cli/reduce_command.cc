#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/input_flags.h"
#include "cli/new_folder.h"
#include "cli/reference_choice.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/tolerance_flags.h"
#include "conformance/reduce/reduce.h"
#include "onnx_io/bytes.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/scratch_folder.h"
#include "report/reduce/reduce_format.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "trial/value_store.h"

namespace grurun::cli {
namespace {

namespace fs = std::filesystem;
using conformance::Truth;

struct ReduceFlags {
  std::string model;
  InputFlags data;
  EngineFlags engine;
  ToleranceFlags tolerance;
  std::vector<std::string> expected;
  std::string against, runtime, folder;
  std::string same = "message";
  bool anonymize = false;
  std::string max_time, max_run_time = "60";
  std::uint64_t max_runs = 3000;
  ReportFlags report;
};

/// All of them in memory at once, since parts are cut out wherever they are known.
void add_named_values(const std::string& path, const char* flag, trial::KnownValues& values) {
  const trial::ValueStore store = trial::ValueStore::open(path, flag);
  for (const std::string& name : store.names()) values.emplace(name, store.read(name));
}

/// Outputs as a run reads them; values between, too, from what holds values by name.
Truth expected_truth(const ReduceFlags& flags, const onnx_io::Graph& graph) {
  trial::KnownValues values;
  std::vector<std::string> outputs;
  for (const std::string& argument : flags.expected) {
    const bool is_data_set = fs::exists(fs::path(argument) / "output_0.pb");
    if (choose_reference(argument).kind == ReferenceKind::values && !is_data_set)
      add_named_values(argument, "--expected", values);
    else
      outputs.push_back(argument);
  }
  if (!outputs.empty()) {
    const auto slots = trial::output_slots(graph);
    std::vector<Value> read = trial::read_values(outputs, slots, trial::Side::output, "--expected");
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (!read[i].empty()) values[slots[i].name] = std::move(read[i]);
  }
  return Truth(std::move(values));
}

/// Values by a runtime that --against names; in the folder `scratch`.
Truth runtime_truth(const ReduceFlags& flags, const ReferenceChoice& choice,
                    const conformance::ReduceOptions& options, const std::string& scratch) {
  conformance::RuntimeTruth truth;
  truth.run.flag = "--against " + flags.against;
  truth.run.command = choice.command;
  truth.run.scratch = scratch;
  truth.run.bytes_at_once = bytes_at_once(flags.engine);
  truth.run.deadline = options.deadline;
  truth.max_time = options.each.max_time;
  return Truth(std::move(truth));
}

std::optional<Truth> truth_of(const ReduceFlags& flags, const ReferenceChoice& choice,
                              const onnx_io::Graph& graph, const conformance::ReduceOptions& options,
                              const std::string& scratch) {
  if (!flags.expected.empty()) return expected_truth(flags, graph);
  switch (choice.kind) {
    case ReferenceKind::precise:
      return Truth(Truth::Source::precise);
    case ReferenceKind::values: {
      trial::KnownValues values;
      add_named_values(choice.path, "--against", values);
      return Truth(std::move(values));
    }
    case ReferenceKind::model:
      return Truth(onnx_io::load_model_to_run(choice.path).model);
    case ReferenceKind::runtime:
      return runtime_truth(flags, choice, options, scratch);
    case ReferenceKind::none:
      break;
  }
  return flags.runtime.empty() ? std::nullopt : std::optional(Truth(Truth::Source::engine));
}

void check_flags(const ReduceFlags& flags) {
  if (!flags.expected.empty() && !flags.against.empty())
    fail_usage("--expected and --against both say what values ought to be; give one of them");
  if (flags.same != "message" && flags.same != "verdict")
    fail_usage("--same takes message or verdict, not {}", flags.same);
  if (flags.max_runs == 0) fail_usage("--max-runs takes a number from 1");
  require_new_folder("-o", flags.folder);
}

SandboxFiles sandbox_files(const ReduceFlags& flags, const ReferenceChoice& choice,
                           const std::vector<NamedPath>& reports) {
  SandboxFiles files{{flags.model}, flags.data.inputs, paths_of(reports)};
  files.folders.push_back(flags.folder);
  for (const std::string& argument : flags.expected) files.values.push_back(argument);
  add_reference(choice, files);
  return files;
}

conformance::ReduceOptions reduce_options(const ReduceFlags& flags) {
  conformance::ReduceOptions options;
  options.each.tolerance = checked(flags.tolerance);
  options.each.seed = flags.data.seed.value_or(0);
  options.each.diagnose = false;
  if (const auto limit = parse_time_limit("--max-run-time", flags.max_run_time))
    options.each.max_time = std::chrono::ceil<std::chrono::nanoseconds>(*limit);
  if (const auto limit =
          flags.max_time.empty() ? std::nullopt : parse_time_limit("--max-time", flags.max_time))
    options.deadline = std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::nanoseconds>(*limit);
  if (!flags.runtime.empty()) {
    conformance::OtherRuntime other;
    other.command = conformance::parse_command("--runtime", flags.runtime);
    if (!flags.engine.max_memory.empty())
      other.max_memory = parse_bytes("--max-memory", flags.engine.max_memory);
    options.each.other = std::move(other);
  }
  options.anonymize = flags.anonymize;
  options.any_message = flags.same == "verdict";
  options.max_runs = flags.max_runs;
  return options;
}

/// What the case was judged by, for those who run it.
void write_tolerance(const std::string& folder, const trial::ToleranceChoice& tolerance) {
  if (!tolerance.rtol && !tolerance.atol) return;
  std::string text;
  if (tolerance.rtol) text += fmt::format("\"rtol\": {}", *tolerance.rtol);
  if (tolerance.atol) text += fmt::format("{}\"atol\": {}", text.empty() ? "" : ", ", *tolerance.atol);
  onnx_io::write_file(folder + "/data.json", {"{" + text + "}\n"});
}

int run(const ReduceFlags& flags, const ReferenceChoice& choice, Reports<report::ReduceReport>& reports) {
  conformance::ReduceOptions options = reduce_options(flags);
  const onnx_io::Model model = onnx_io::load_model_to_run(flags.model).model;
  require_unread(reports.files(), files_of(model));
  const std::vector<Value> inputs = gather_inputs(flags.data, model.graph);
  std::optional<onnx_io::ScratchFolder> of_runtime;
  if (choice.kind == ReferenceKind::runtime) of_runtime.emplace();
  std::optional<Truth> truth =
      truth_of(flags, choice, model.graph, options, of_runtime ? of_runtime->path() : "");
  reports.open();
  memory::begin_counting_heap();
  report::ReduceReport result{flags.model, flags.folder, std::nullopt};
  std::error_code error;
  fs::create_directories(flags.folder, error);
  if (error) fail_usage("-o {}: the folder cannot be made: {}", flags.folder, error.message());
  {
    const onnx_io::ScratchFolder scratch(flags.folder);
    options.scratch = scratch.path();
    result.reduction = conformance::reduce(model, inputs, truth ? &*truth : nullptr, options);
  }
  if (result.reduction) {
    conformance::write_case(flags.folder, result.reduction->part);
    write_tolerance(flags.folder, options.each.tolerance);
  } else {
    fs::remove(flags.folder, error);
  }
  reports.write(result);
  return result.exit_status();
}

Work prepare(const std::shared_ptr<const ReduceFlags>& chosen) {
  const ReduceFlags& flags = *chosen;
  check_flags(flags);
  const auto reports = std::make_shared<Reports<report::ReduceReport>>(flags.report, "reduce", true);
  reduce_options(flags);
  apply(flags.engine);
  std::vector<NamedPath> read{{"the model", flags.model}};
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  for (const std::string& argument : flags.expected) read.push_back({"--expected", argument});
  if (!flags.against.empty()) read.push_back({"--against", flags.against});
  require_unread(reports->files(), read);
  const ReferenceChoice choice = choose_reference(flags.against);
  SandboxChoice sandbox{flags.engine.sandbox, sandbox_files(flags, choice, reports->files())};
  if (choice.kind == ReferenceKind::runtime) leave_sandbox(sandbox, "--against " + flags.against);
  if (!flags.runtime.empty()) leave_sandbox(sandbox, "--runtime");
  return {sandbox, [=] { return run(*chosen, choice, *reports); }};
}

constexpr const char* reduce_footer = R"(
Leaves out nodes, outputs and sizes as long as the rest fails in the same way: with the same verdict of conformance, and for the same
reason. Where values between are known, parts are cut out there.

  grurun reduce half.onnx --seed 0 --against float.onnx --rtol 0.01 -o case
  grurun reduce model.onnx --seed 0 --against onnxruntime -o case
  grurun reduce model.onnx --inputs x.npy --runtime "their-runtime {model} {inputs} {outputs}" -o case
  grurun conformance case                   says of the case what reduce said

Exit codes: 0 the case is written; 1 nothing fails; 2 usage; 3 invalid model or data; 4 unsupported; 5 a limit was hit; 70 internal error.)";

}  // namespace

void add_reduce(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<ReduceFlags>();
  command.add_option("model", flags->model, "Model file (.onnx)")->type_name("MODEL")->required();
  command.add_option("-o,--output", flags->folder, "The case's folder, a new or empty one")
      ->type_name("DIR")
      ->required();
  add_inputs_flag(command, flags->data, "Data");
  add_random_flags(command, flags->data);
  const char* failing = "What fails";
  command
      .add_option("--expected", flags->expected,
                  "Values of outputs, as a run takes them; values between by name (.npz, .json, a folder)")
      ->type_name("FILE")
      ->group(failing);
  command.add_option("--against", flags->against, against_text)->type_name("X")->group(failing);
  command
      .add_option("--runtime", flags->runtime,
                  "A command whose outputs, or end, are judged: \"CMD {model} {inputs} {outputs}\"; what is "
                  "expected is what grurun computes, unless another flag tells it")
      ->type_name("COMMAND")
      ->group(failing);
  command
      .add_option(
          "--same", flags->same,
          "What is the same failure: message, verdict and message but for names and numbers, or verdict")
      ->type_name("WHAT")
      ->capture_default_str()
      ->group(failing);
  command.add_option("--rtol", flags->tolerance.rtol, "Relative tolerance (1e-3)")
      ->type_name("NUMBER")
      ->group(failing);
  command.add_option("--atol", flags->tolerance.atol, "Absolute tolerance (1e-7)")
      ->type_name("NUMBER")
      ->group(failing);
  const char* work = "How it is reduced";
  command
      .add_flag("--anonymize", flags->anonymize,
                "Replace names, and numbers of weights and inputs, where the failure stays")
      ->group(work);
  command
      .add_option("--max-time", flags->max_time, "Seconds after which the smallest case so far is the result")
      ->type_name("SECONDS")
      ->group(work);
  command
      .add_option("--max-run-time", flags->max_run_time, "Seconds that a run of a part may take; 0: no limit")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(work);
  command
      .add_option_function<std::string>(
          "--max-runs",
          [flags](const std::string& text) { flags->max_runs = parse_whole("--max-runs", text); },
          "Runs after which the smallest case so far is the result")
      ->type_name("N")
      ->default_str("3000")
      ->group(work);
  add_engine_flags(command, flags->engine, "Engine");
  add_report_flags(command, flags->report, either_of(report::format_names<report::ReduceReport>()), "Output");
  add_short_form(command, flags->report, "json", "Write the result as JSON; - is stdout", "Output");
  command.footer(reduce_footer);
  command.callback([flags, &action] { action = [flags] { return prepare(flags); }; });
}

}  // namespace grurun::cli
