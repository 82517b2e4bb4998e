#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flag_values.h"
#include "cli/input_flags.h"
#include "cli/outputs.h"
#include "cli/path_conflicts.h"
#include "cli/reasons.h"
#include "cli/rule_check.h"
#include "cli/streams.h"
#include "cli/time_limit.h"
#include "engine/graph/executor.h"
#include "report/element_text.h"
#include "report/print_value.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "trial/compare.h"

namespace grurun::cli {
namespace {

struct RunFlags {
  std::string model;
  InputFlags data;
  std::vector<std::string> expected;
  std::string save_inputs;
  std::string save_outputs;
  ToleranceFlags tolerances;
  EngineFlags engine;
  ReasonFlags reasons;
  std::string max_time;
  bool check = false;
  bool full = false;
  bool quiet = false;
};

std::optional<std::chrono::duration<double>> max_time(const RunFlags& flags) {
  return flags.max_time.empty() ? std::nullopt : parse_time_limit("--max-time", flags.max_time);
}

std::vector<Value> run_model(const RunFlags& flags, const onnx_io::Model& model,
                             const std::vector<Slot>& slots, std::vector<Value> inputs) {
  engine::PlanOptions plan_options;
  plan_options.fuse = false;  // the types of all values are compared
  plan_options.fed = engine::fed_names(model.graph, inputs);
  std::unique_ptr<TimeLimit> limit;
  engine::RunOptions run_options;
  run_options.seed = flags.data.seed.value_or(0);
  if (const auto most = max_time(flags)) {
    limit = std::make_unique<TimeLimit>(*most);
    run_options.deadline = limit->deadline();
  }
  return with_context([&] { return flags.model; },
                      [&] {
                        RuleCheck rules(model, plan_options.fed, flags.check);
                        for (std::size_t i = 0; i < slots.size(); ++i) rules.see(slots[i].name, inputs[i]);
                        run_options.observe = [&](const engine::Step& step, std::size_t output,
                                                  const Value& value) { rules.see(step, output, value); };
                        const auto plan = engine::make_plan(model, plan_options);
                        std::vector<Value> outputs = engine::run_plan(*plan, std::move(inputs), run_options);
                        for (std::size_t i = 0; i < outputs.size(); ++i) {
                          rules.see(plan->output_names[i], outputs[i]);
                        }
                        if (limit) limit->require_kept();
                        rules.print_warnings();
                        return outputs;
                      });
}

void print_output(const RunFlags& flags, const Slot& slot, const Value& value) {
  print("{}  {}\n", printable(slot.name), value.describe());
  if (!flags.quiet)
    print_text(
        report::print_value(value, flags.full ? report::PrintOptions::full() : report::PrintOptions{}));
}

// Inputs and outputs in one folder make a data set.
std::vector<NamedPath> written_files(const RunFlags& flags) {
  const auto file = [](const std::string& path) { return names_folder(path) ? std::string() : path; };
  return {{"--save-inputs", file(flags.save_inputs)},
          {"--save-outputs", file(flags.save_outputs)},
          {"--trace-gates", flags.reasons.trace_gates}};
}

void require_unread_all(const RunFlags& flags, const std::vector<NamedPath>& read) {
  require_unread(written_files(flags), read);
  if (names_folder(flags.save_inputs))
    require_unread_folder({"--save-inputs", flags.save_inputs}, input_files.prefix, read);
  if (names_folder(flags.save_outputs))
    require_unread_folder({"--save-outputs", flags.save_outputs}, expected_files.prefix, read);
}

void check_paths(const RunFlags& flags) {
  require_format("--save-inputs", flags.save_inputs);
  require_format("--save-outputs", flags.save_outputs);
  const std::vector<NamedPath> written = written_files(flags);
  require_distinct(written);
  std::vector<NamedPath> read;
  for (const std::string& argument : flags.data.inputs) read.push_back({"--inputs", argument});
  for (const std::string& argument : flags.expected) read.push_back({"--expected", argument});
  require_unread_all(flags, read);
}

void check_paths(const RunFlags& flags, const onnx_io::Model& model) {
  require_unread_all(flags, files_of(model));
}

int run(const RunFlags& flags) {
  if (flags.model.empty()) {
    fail_usage("no model named; put it first, as in grurun model.onnx --inputs a.pb; see grurun --help");
  }
  apply(flags.engine);
  check(flags.reasons);
  max_time(flags);
  check_paths(flags);
  const onnx_io::Model model = onnx_io::load_model(flags.model);
  check_paths(flags, model);
  check(flags.reasons, model);
  const std::vector<Slot> slots = input_slots(model.graph);
  const std::vector<Slot> outputs = output_slots(model.graph);
  const auto tolerances = tolerances_for(flags.tolerances, outputs);
  const std::vector<Value> expected = read_slots(flags.expected, outputs, expected_files);
  std::vector<Value> inputs = gather_inputs(flags.data, model.graph, slots);
  if (!flags.save_inputs.empty()) save_inputs(flags.save_inputs, model.graph, slots, inputs);

  const bool looks_again = needs_inputs(flags.reasons, model, !flags.expected.empty());
  const std::vector<Value> kept = looks_again ? inputs : std::vector<Value>();
  memory::begin_counting_heap();
  const std::vector<Value> values = run_model(flags, model, slots, std::move(inputs));
  std::vector<bool> differs(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    print_output(flags, outputs[i], values[i]);
    if (flags.expected.empty()) continue;
    if (expected[i].empty()) {
      print("  not compared: no expected value is given\n");
      continue;
    }
    const trial::Comparison result = trial::compare_values(values[i], expected[i], tolerances[i]);
    print("  {}: {}\n", result.ok ? "as expected" : "differs", printable(trial::describe(result)));
    differs[i] = !result.ok;
  }
  if (!flags.save_outputs.empty()) save_values(flags.save_outputs, outputs, values, expected_files.prefix);
  if (looks_again) {
    tell_reasons(flags.reasons,
                 {model, outputs, kept, values, expected, differs, flags.data.seed.value_or(0)});
  }
  return std::ranges::find(differs, true) != differs.end() ? 1 : 0;
}

void add_data_flags(CLI::App& app, RunFlags& flags) {
  const char* data = "Data";
  add_inputs_flag(app, flags.data, data);
  CLI::Option* expected = app.add_option("--expected", flags.expected,
                                         "Compare with these, named as for --inputs (folder: output_K.pb)")
                              ->type_name("FILE")
                              ->group(data);
  // One value each time, so that a model named last is not taken for one.
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* text) {
    return app.add_option(name, values, text)->allow_extra_args(false)->group(data);
  };
  repeated("--rtol", flags.tolerances.rtol,
           "Relative tolerance, 1e-3 or for one output Y:1e-3; may be repeated")
      ->type_name("[Y:]NUMBER")
      ->needs(expected);
  repeated("--atol", flags.tolerances.atol, "Absolute tolerance, likewise")
      ->type_name("[Y:]NUMBER")
      ->needs(expected);
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
  app.add_option("model", flags->model, "Model file (.onnx, or .xml of an OpenVINO IR)")->type_name("MODEL");
  add_data_flags(app, *flags);
  add_random_flags(app, flags->data);
  add_engine_flags(app, flags->engine, "Engine");
  app.add_option("--max-time", flags->max_time, "Seconds that the run may take; 0, the default: no limit")
      ->type_name("SECONDS")
      ->group("Engine");
  app.add_flag("--check", flags->check, "Hold the model against all rules of grurun check before it runs");
  add_reason_flags(app, flags->reasons, "Output");
  CLI::Option* full =
      app.add_flag("--full", flags->full, "Print every element with every digit")->group("Output");
  app.add_flag("-q,--quiet", flags->quiet, "Print names, types and shapes only")
      ->group("Output")
      ->excludes(full);
  app.callback([&app, &action, flags] {
    if (app.get_subcommands().empty()) action = [flags] { return run(*flags); };
  });
}

}  // namespace grurun::cli
