#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/element_text.h"
#include "cli/flag_values.h"
#include "cli/inputs.h"
#include "cli/outputs.h"
#include "cli/print_value.h"
#include "cli/random_inputs.h"
#include "cli/time_limit.h"
#include "conformance/compare.h"
#include "engine/graph/executor.h"
#include "engine/kernels/parallel.h"
#include "tensor/error.h"
#include "tensor/memory.h"

namespace grurun::cli {
namespace {

struct RunFlags {
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> expected;
  std::string save_inputs;
  std::string save_outputs;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> ranges;
  std::vector<std::string> shapes;
  std::vector<std::string> dimensions;
  ToleranceFlags tolerances;
  int threads = 0;
  std::optional<double> max_time;
  std::string max_memory;
  bool full = false;
  bool quiet = false;
};

RandomSettings random_settings(const RunFlags& flags) {
  RandomSettings settings;
  settings.seed = flags.seed.value_or(0);
  for (const std::string& text : flags.ranges) settings.ranges.push_back(parse_range("--val-range", text));
  for (const std::string& text : flags.shapes) {
    settings.shapes.push_back(parse_named_shape("--input-shapes", text));
  }
  for (const std::string& text : flags.dimensions) {
    const auto [name, size] = parse_dimension("--set", text);
    if (!settings.dimensions.emplace(name, size).second) fail_usage("--set: '{}' is set twice", name);
  }
  return settings;
}

bool describes_random(const RunFlags& flags) {
  return !flags.ranges.empty() || !flags.shapes.empty() || !flags.dimensions.empty();
}

// Random values go in only when asked for: no --inputs at all, or a flag that describes them. A forgotten
// file must not be replaced in silence.
std::vector<Value> gather_inputs(const RunFlags& flags, const onnx_io::Graph& graph,
                                 const std::vector<Slot>& slots) {
  std::vector<Value> values = read_slots(flags.inputs, slots, input_files);
  if (flags.inputs.empty() || flags.seed || describes_random(flags)) {
    const RandomSettings settings = random_settings(flags);
    const std::vector<std::string> lines = fill_random(graph, slots, settings, values);
    for (const std::string& line : lines) {
      fmt::print(stderr, "grurun: random input {}, seed {}\n", printable(line), settings.seed);
    }
    if (lines.empty() && describes_random(flags)) {
      fail_usage("--val-range, --input-shapes and --set describe random inputs, but every input has a value");
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool needed = !slots[i].initialized && slots[i].type.kind != ValueType::Kind::optional;
    if (needed && values[i].empty()) {
      fail_usage("input '{}' has no value: add it to --inputs, or give --seed N to have it filled at random",
                 slots[i].name);
    }
  }
  return values;
}

void apply_limits(const RunFlags& flags) {
  kernels::set_threads(flags.threads);
  // Without a flag a tensor larger than the machine's memory is refused, rather than left to the system's
  // killer.
  const auto machine =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  memory::set_limit(flags.max_memory.empty() ? machine : parse_bytes("--max-memory", flags.max_memory));
}

std::vector<Value> run_model(const RunFlags& flags, const onnx_io::Model& model,
                             const std::vector<Slot>& slots, std::vector<Value> inputs) {
  engine::PlanOptions plan_options;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!inputs[i].empty()) plan_options.fed.insert(slots[i].name);
  }
  std::unique_ptr<TimeLimit> limit;
  engine::RunOptions run_options;
  run_options.seed = flags.seed.value_or(0);
  if (flags.max_time) {
    limit = std::make_unique<TimeLimit>(std::chrono::duration<double>(*flags.max_time));
    run_options.deadline = limit->deadline();
  }
  return with_context([&] { return flags.model; },
                      [&] {
                        const auto plan = engine::make_plan(model, plan_options);
                        return engine::run_plan(*plan, std::move(inputs), run_options);
                      });
}

void print_output(const RunFlags& flags, const Slot& slot, const Value& value) {
  fmt::print("{}  {}\n", printable(slot.name), value.describe());
  if (!flags.quiet) fmt::print("{}", print_value(value, flags.full ? PrintOptions::full() : PrintOptions{}));
}

int run(const RunFlags& flags) {
  if (flags.model.empty()) {
    fail_usage("no model named; put it first, as in grurun model.onnx --inputs a.pb; see grurun --help");
  }
  apply_limits(flags);
  const onnx_io::Model model = onnx_io::load_model(flags.model);
  const std::vector<Slot> slots = input_slots(model.graph);
  const std::vector<Slot> outputs = output_slots(model.graph);
  const auto tolerances = tolerances_for(flags.tolerances, outputs);
  const std::vector<Value> expected = read_slots(flags.expected, outputs, expected_files);
  std::vector<Value> inputs = gather_inputs(flags, model.graph, slots);
  if (!flags.save_inputs.empty()) save_values(flags.save_inputs, slots, inputs, input_files.prefix);

  const std::vector<Value> values = run_model(flags, model, slots, std::move(inputs));
  bool differs = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    print_output(flags, outputs[i], values[i]);
    if (flags.expected.empty()) continue;
    if (expected[i].empty()) {
      fmt::print("  not compared: no expected value is given\n");
      continue;
    }
    const conformance::Comparison result = conformance::compare_values(values[i], expected[i], tolerances[i]);
    fmt::print("  {}: {}\n", result.ok ? "as expected" : "differs", printable(conformance::describe(result)));
    differs = differs || !result.ok;
  }
  if (!flags.save_outputs.empty()) save_values(flags.save_outputs, outputs, values, expected_files.prefix);
  return differs ? 1 : 0;
}

void add_data_flags(CLI::App& app, RunFlags& flags) {
  const char* data = "Data";
  app.add_option(
         "--inputs", flags.inputs,
         "FILE.pb or .npy in the order of the graph's inputs, NAME=FILE, FILE.npz or .json by name, or a "
         "folder with input_K.pb")
      ->type_name("FILE")
      ->group(data);
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
  app.add_option("--save-outputs", flags.save_outputs,
                 "Write outputs: a folder (output_K.pb), .npz, .json, .pb or .npy")
      ->type_name("PATH")
      ->group(data);
  app.add_option("--save-inputs", flags.save_inputs, "Write the inputs used, likewise (folder: input_K.pb)")
      ->type_name("PATH")
      ->group(data);
}

void add_random_flags(CLI::App& app, RunFlags& flags) {
  const char* random = "Random inputs (all of them without --inputs; those missing with --seed)";
  app.add_option("--seed", flags.seed, "Seed of random inputs and operators (0)")
      ->type_name("N")
      ->group(random);
  app.add_option("--val-range", flags.ranges, "Range of values, -1:1 or for one input X:0:9; may be repeated")
      ->allow_extra_args(false)
      ->type_name("[X:]LOW:HIGH")
      ->group(random);
  app.add_option("--input-shapes", flags.shapes, "Shapes, X:[5,2,3]")->type_name("X:[D,...]")->group(random);
  app.add_option("--set", flags.dimensions, "Sizes of named dimensions, batch=4 or batch=4,frames=20")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("DIM=N")
      ->group(random);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<RunFlags>();
  app.add_option("model", flags->model, "Model file (.onnx)")->type_name("MODEL");
  add_data_flags(app, *flags);
  add_random_flags(app, *flags);
  app.add_option("--threads", flags->threads, "Threads; 0, the default, is one for each CPU")
      ->check(CLI::Range(0, 1024).description(""))
      ->type_name("N")
      ->group("Limits");
  app.add_option("--max-time", flags->max_time, "Seconds that the run may take (no limit)")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->type_name("SECONDS")
      ->group("Limits");
  app.add_option("--max-memory", flags->max_memory,
                 "Bytes that tensors may take, 512M, 4G (the machine's memory)")
      ->type_name("SIZE")
      ->group("Limits");
  app.add_flag("--full", flags->full, "Print every element with every digit")->group("Output");
  app.add_flag("-q,--quiet", flags->quiet, "Print names, types and shapes only")->group("Output");
  app.callback([&app, &action, flags] {
    if (app.get_subcommands().empty()) action = [flags] { return run(*flags); };
  });
}

}  // namespace grurun::cli
