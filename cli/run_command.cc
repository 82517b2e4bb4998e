#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <new>
#include <set>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/input_flags.h"
#include "cli/intermediate_flags.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/time_limit.h"
#include "cli/tolerance_flags.h"
#include "cli/warnings.h"
#include "onnx_io/values/tensor_files.h"
#include "opset/check/mended_findings.h"
#include "report/bounded.h"
#include "report/run/run_format.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "tensor/printable.h"
#include "trial/as_type.h"
#include "trial/bisecting/bisect.h"
#include "trial/diagnosis/explain.h"
#include "trial/diagnosis/trace.h"
#include "trial/trial.h"

namespace grurun::cli {
namespace {

using report::RunReport;
using trial::Side;
using trial::Slot;

struct RunFlags {
  std::string model;
  InputFlags data;
  std::vector<std::string> expected;
  std::string save_inputs;
  std::string save_outputs;
  std::vector<std::string> rtol;  // "1e-3" for every output, "Y:1e-3" for one
  std::vector<std::string> atol;
  EngineFlags engine;
  std::string trace_gates;
  IntermediateFlags intermediates;
  bool precise = false;
  bool cast = false;
  std::string max_time;
  bool check = false;
  ReportFlags report;
  bool full = false;
  bool quiet = false;
};

std::optional<std::chrono::duration<double>> max_time(const RunFlags& flags) {
  return flags.max_time.empty() ? std::nullopt : parse_time_limit("--max-time", flags.max_time);
}

// Inputs and outputs in one folder make a data set.
std::vector<NamedPath> written_files(const RunFlags& flags, std::vector<NamedPath> written) {
  const auto file = [](const std::string& path) { return trial::names_folder(path) ? std::string() : path; };
  written.push_back({"--save-inputs", file(flags.save_inputs)});
  written.push_back({"--save-outputs", file(flags.save_outputs)});
  written.push_back({"--trace-gates", flags.trace_gates});
  if (!trial::names_folder(flags.intermediates.save))
    written.push_back({"--save-intermediates", flags.intermediates.save});
  return written;
}

void require_unread_all(const RunFlags& flags, const std::vector<NamedPath>& written,
                        const std::vector<NamedPath>& read) {
  require_unread(written, read);
  if (trial::names_folder(flags.save_inputs))
    require_unread_folder({"--save-inputs", flags.save_inputs}, Side::input, read);
  if (trial::names_folder(flags.save_outputs))
    require_unread_folder({"--save-outputs", flags.save_outputs}, Side::output, read);
}

void check_paths(const RunFlags& flags, const std::vector<NamedPath>& written) {
  require_format("--save-inputs", flags.save_inputs);
  require_format("--save-outputs", flags.save_outputs);
  require_distinct(written);
  std::vector<NamedPath> read{{"the model", flags.model}};
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  for (const std::string& argument : flags.expected) read.push_back({"--expected", argument});
  add_read_paths(flags.intermediates, read);
  require_unread_all(flags, written, read);
}

// What a name asks for goes before what is asked for all.
void apply_tolerances(const char* flag, const std::vector<std::string>& texts,
                      const std::vector<Slot>& outputs, std::optional<double> trial::ToleranceChoice::*member,
                      std::vector<trial::Tolerances>& out) {
  std::vector<std::pair<std::string, double>> parsed;
  std::vector<std::string> names;
  for (const std::string& text : texts) parsed.push_back(parse_named_number(flag, text));
  for (const Slot& output : outputs) names.push_back(output.name);
  std::set<std::string> seen;
  for (const auto& [name, number] : parsed) {
    if (!seen.insert(name).second) {
      fail_usage("{}: the tolerance {} is given twice", flag,
                 name.empty() ? "of all outputs" : "of '" + name + "'");
    }
    if (name.empty()) {
      for (trial::Tolerances& tolerances : out) tolerances.flag.*member = number;
    }
  }
  for (const auto& [name, number] : parsed) {
    if (name.empty()) continue;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      fail_usage("{}: the model has no output '{}'; its outputs are {}", flag, name,
                 trial::quoted_list(names));
    }
    out[static_cast<std::size_t>(found - names.begin())].flag.*member = number;
  }
}

std::vector<trial::Tolerances> tolerances_for(const RunFlags& flags, const std::vector<Slot>& outputs) {
  std::vector<trial::Tolerances> out(outputs.size());
  apply_tolerances("--rtol", flags.rtol, outputs, &trial::ToleranceChoice::rtol, out);
  apply_tolerances("--atol", flags.atol, outputs, &trial::ToleranceChoice::atol, out);
  return out;
}

void save(const std::string& path, const onnx_io::Graph& graph, const std::vector<Slot>& slots,
          const std::vector<Value>& values, Side side) {
  if (path.empty()) return;
  tell_text(report::lines_of(
      trial::write_values(path, graph, slots, values, side),
      [](const std::string& other) {
        return fmt::format("grurun: {} is not of this run; remove it to make the folder a data set of it\n",
                           printable(other));
      },
      "grurun: "));
}

// What cannot be told does not take the place of the verdict that outputs differ: a line on stderr says why.
void tell_failure(const trial::Outcome& outcome, const Error& error) {
  if (!outcome.differs() || error.kind() == ErrorKind::internal) throw error;
  tell("grurun: {}\n", printable(error.what()));
}

void explain(const RunFlags& flags, const trial::Trial& trial, RunReport& report) {
  trial::Reasons reasons = trial::explain(trial, report.outcome);
  report.reasons = std::move(reasons.explanations);
  if (reasons.failed) return tell_failure(report.outcome, *reasons.failed);
  if (flags.precise && std::ranges::count(report.reasons, "precision", &trial::Explanation::kind) == 0)
    tell(
        "grurun: --precise tells nothing here: no output is a tensor of float, float16 or bfloat16 that the "
        "model computes in double, in the shape that both sides have\n");
}

void trace_gates(const RunFlags& flags, const onnx_io::Model& model, const trial::Outcome& outcome) {
  try {
    onnx_io::write_values(flags.trace_gates,
                          trial::trace_gates(model, outcome.inputs, {flags.data.seed.value_or(0), {}}));
  } catch (const Error& error) {
    tell_failure(outcome, error);
  }
}

/// What is asked for all outputs holds for the values between.
trial::Tolerances general_tolerances(const RunFlags& flags) {
  trial::Tolerances out;
  for (const std::string& text : flags.rtol)
    if (const auto [name, number] = parse_named_number("--rtol", text); name.empty()) out.flag.rtol = number;
  for (const std::string& text : flags.atol)
    if (const auto [name, number] = parse_named_number("--atol", text); name.empty()) out.flag.atol = number;
  return out;
}

void look_between(const RunFlags& flags, const onnx_io::Model& model, const onnx_io::ScratchFolder* scratch,
                  RunReport& report) {
  try {
    trial::BisectOptions options;
    options.tolerances = general_tolerances(flags);
    options.rerun.seed = flags.data.seed.value_or(0);
    look_between(flags.intermediates, model, report.outcome.inputs, options, scratch, report);
  } catch (const Error& error) {
    tell_failure(report.outcome, error);
  }
}

trial::TrialOptions trial_options(const RunFlags& flags, const std::vector<Slot>& outputs) {
  trial::TrialOptions options;
  options.depth = flags.check ? trial::CheckDepth::everything : trial::CheckDepth::recurrent_layers;
  options.fuse = !flags.engine.no_fusion;
  options.seed = flags.data.seed.value_or(0);
  options.compare_random = true;  // the same seed draws the same
  options.tolerances = tolerances_for(flags, outputs);
  options.precise = flags.precise ? trial::Precise::all : trial::Precise::none;
  options.keep_inputs = !flags.trace_gates.empty() || flags.intermediates.any();
  return options;
}

void run_model(const RunFlags& flags, const onnx_io::RunnableModel& file,
               const onnx_io::ScratchFolder* scratch, std::unique_ptr<TimeLimit>& limit, RunReport& report) {
  const onnx_io::Model& model = file.model;
  if (!flags.trace_gates.empty()) trial::require_traceable(model);
  const std::vector<Slot> inputs = trial::input_slots(model.graph),
                          outputs = trial::output_slots(model.graph);
  for (const Slot& output : outputs) report.outputs.push_back(output.name);
  trial::TrialOptions options = trial_options(flags, outputs);
  trial::DataSet set;
  set.expected = trial::read_values(flags.expected, outputs, Side::output, "--expected");
  if (flags.cast) trial::cast_expected(model.graph, set.expected);
  set.inputs = gather_inputs(flags.data, model.graph);
  save(flags.save_inputs, model.graph, inputs, set.inputs, Side::input);

  Warnings warnings;
  options.warn = [&](const opset::Finding& finding) {
    warnings.tell_of(finding);
    report.warnings.push_back(finding);
  };
  for (const opset::Finding& finding : opset::mended_findings(file.mended)) options.warn(finding);
  if (limit != nullptr) options.deadline = limit->deadline();
  memory::begin_counting_heap();
  {
    trial::Trial trial(model, std::move(options));
    report.outcome = with_context([&] { return flags.model; }, [&] { return trial.run(std::move(set)); });
    save(flags.save_outputs, model.graph, outputs, report.outcome.outputs, Side::output);
    explain(flags, trial, report);
  }  // its packed weights are not to be there twice
  if (!flags.trace_gates.empty()) trace_gates(flags, model, report.outcome);
  if (flags.intermediates.any()) look_between(flags, model, scratch, report);
  limit.reset();  // what is left is writing
}

SandboxFiles sandbox_files(const RunFlags& flags, const std::vector<NamedPath>& written,
                           const std::string& scratch) {
  SandboxFiles files{{flags.model}, flags.data.inputs, paths_of(written)};
  files.values.insert(files.values.end(), flags.expected.begin(), flags.expected.end());
  for (const std::string& path : {flags.intermediates.expected, flags.intermediates.names})
    if (!path.empty()) files.values.push_back(path);
  for (const std::string& path : {flags.save_inputs, flags.save_outputs, flags.intermediates.save})
    if (trial::names_folder(path)) files.folders.push_back(path);
  if (!scratch.empty()) files.scratch.push_back(scratch);
  return files;
}

// What ends a run is a part of its report. A wrong argument, without which there would be one, is not.
template <typename Body>
void noting_errors(RunReport& report, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    report.error = error;
  } catch (const std::bad_alloc&) {
    report.error = Error(ErrorKind::limit, memory::out_of_memory_text());
  }
  if (report.error && report.error->kind() == ErrorKind::usage && report.outcome.outputs.empty())
    throw *report.error;
}

int run(const RunFlags& flags, const std::vector<NamedPath>& written, const onnx_io::ScratchFolder* scratch,
        Reports<RunReport>& reports) {
  RunReport report;
  report.model = flags.model;
  report.compares = !flags.expected.empty();
  if (flags.full) report.shows_values = report::PrintOptions::full();
  if (flags.quiet) report.shows_values.reset();
  onnx_io::RunnableModel file;
  std::unique_ptr<TimeLimit> limit;
  if (const auto most = max_time(flags)) limit = std::make_unique<TimeLimit>(*most);
  noting_errors(report, [&] { file = onnx_io::load_model_to_run(flags.model); });
  if (!report.error) require_unread_all(flags, written, files_of(file.model));
  reports.open();
  if (!report.error) noting_errors(report, [&] { run_model(flags, file, scratch, limit, report); });
  reports.write(report);
  if (report.error) throw *report.error;
  return report.exit_status();
}

Work prepare(const std::shared_ptr<const RunFlags>& chosen) {
  const RunFlags& flags = *chosen;
  if (flags.model.empty()) {
    fail_usage("no model named; put it first, as in grurun model.onnx --inputs a.pb; see grurun --help");
  }
  apply(flags.engine, flags.max_time);
  if (!flags.trace_gates.empty() && onnx_io::format_of(flags.trace_gates) != onnx_io::FileFormat::npz)
    fail_usage("--trace-gates takes a file that ends in .npz, not {}", flags.trace_gates);
  require_fitting(flags.intermediates);
  if (flags.expected.empty() && flags.intermediates.expected.empty() &&
      !(flags.rtol.empty() && flags.atol.empty()))
    fail_usage("{} requires --expected or --expected-intermediates; see grurun --help",
               flags.rtol.empty() ? "--atol" : "--rtol");
  max_time(flags);
  const auto reports = std::make_shared<Reports<RunReport>>(flags.report, "a run", false);
  const std::vector<NamedPath> written = written_files(flags, reports->files());
  check_paths(flags, written);
  const std::shared_ptr<onnx_io::ScratchFolder> scratch = scratch_for(flags.intermediates);
  return {{flags.engine.sandbox, sandbox_files(flags, written, scratch ? scratch->path() : "")},
          [=] { return run(*chosen, written, scratch.get(), *reports); }};
}

void add_data_flags(CLI::App& app, RunFlags& flags) {
  const char* data = "Data";
  add_inputs_flag(app, flags.data, data);
  CLI::Option* const expected =
      app.add_option("--expected", flags.expected,
                     "Compare with these, named as for --inputs (folder: output_K.pb)")
          ->type_name("FILE")
          ->group(data);
  // One value each time, so that a model named last is not taken for one.
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* text) {
    return app.add_option(name, values, text)->allow_extra_args(false)->group(data);
  };
  repeated("--rtol", flags.rtol, "Relative tolerance, 1e-3 or for one output Y:1e-3; may be repeated")
      ->type_name("[Y:]NUMBER");
  repeated("--atol", flags.atol, "Absolute tolerance, likewise")->type_name("[Y:]NUMBER");
  add_cast_flag(app, flags.cast, data).needs(expected);
  app.add_option(
         "--save-outputs", flags.save_outputs,
         "Write outputs: a folder (output_K.pb; one to be made, with a dot in its name, ends with /), "
         ".npz, .json, .pb or .npy")
      ->type_name("PATH")
      ->group(data);
  app.add_option("--save-inputs", flags.save_inputs, "Write the inputs used, likewise (folder: input_K.pb)")
      ->type_name("PATH")
      ->group(data);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<RunFlags>();
  app.add_option("model", flags->model,
                 "Model file (.onnx, also as text or compressed, or .xml of an OpenVINO IR)")
      ->type_name("MODEL");
  add_data_flags(app, *flags);
  add_random_flags(app, flags->data);
  add_engine_flags(app, flags->engine, "Engine");
  add_fusion_flag(app, flags->engine.no_fusion, "Engine");
  app.add_option("--max-time", flags->max_time, "Seconds that the run may take; 0, the default: no limit")
      ->type_name("SECONDS")
      ->group("Engine");
  app.add_flag("--check", flags->check, "Hold the model against all rules of grurun check before it runs");
  app.add_option("--trace-gates", flags->trace_gates,
                 "Write every gate of every step of GRU, LSTM and RNN, recomputed in double")
      ->type_name("FILE.npz")
      ->group("Output");
  add_intermediate_flags(app, flags->intermediates);
  app.add_flag("--precise", flags->precise,
               "Compute once more in double, and say which side is nearer to the truth, by how many ULP")
      ->group("Output");
  add_report_flags(app, flags->report, either_of(report::format_names<RunReport>()), "Output");
  CLI::Option* full =
      app.add_flag("--full", flags->full, "Print every element with every digit")->group("Output");
  app.add_flag("-q,--quiet", flags->quiet, "Print names, types and shapes only")
      ->group("Output")
      ->excludes(full);
  app.callback([&app, &action, flags] {
    if (app.get_subcommands().empty()) action = [flags] { return prepare(flags); };
  });
}

}  // namespace grurun::cli
