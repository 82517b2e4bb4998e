#include "cli/input_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/flag_values.h"
#include "cli/streams.h"
#include "report/bounded.h"
#include "tensor/element_text.h"
#include "tensor/error.h"
#include "trial/random_values.h"

namespace grurun::cli {
namespace {

// That a shape without a name is of.
std::string only_input(const std::string& text, const std::vector<trial::Slot>& slots) {
  std::vector<std::string> names;
  for (const trial::Slot& slot : slots)
    if (!slot.initialized) names.push_back(slot.name);
  if (names.size() == 1) return names.front();
  const std::string shape = text.substr(text.starts_with(':') ? 1 : 0);
  fail_usage("--input-shapes {}: the model has {} inputs; name the one that is meant, as in {}:{}", shape,
             names.size(), names.empty() ? "X" : names.front(), shape);
}

bool describes_random(const InputFlags& flags) {
  return !flags.ranges.empty() || !flags.shapes.empty() || !flags.dimensions.empty();
}

}  // namespace

trial::RandomSettings random_settings(const InputFlags& flags, const std::vector<trial::Slot>& slots) {
  trial::RandomSettings settings;
  settings.names = {"--inputs", "--val-range", "--input-shapes", "--set"};
  settings.seed = flags.seed.value_or(0);
  for (const std::string& text : flags.ranges) {
    trial::NamedRange range = parse_range("--val-range", text);
    if (std::ranges::count(settings.ranges, range.name, &trial::NamedRange::name) > 0) {
      fail_usage("--val-range: the range {} is given twice",
                 range.name.empty() ? "of all inputs" : "of '" + range.name + "'");
    }
    settings.ranges.push_back(std::move(range));
  }
  for (const std::string& text : flags.shapes) {
    auto [name, shape] = parse_named_shape("--input-shapes", text);
    if (name.empty()) name = only_input(text, slots);
    if (!settings.shapes.emplace(name, std::move(shape)).second)
      fail_usage("--input-shapes: the shape of '{}' is given twice", name);
  }
  settings.dimensions = parse_dimensions("--set", flags.dimensions);
  return settings;
}

// Random values go in only when asked for: no --inputs at all, or a flag that describes them. A forgotten
// file must not be replaced in silence.
std::vector<Value> gather_inputs(const InputFlags& flags, const onnx_io::Graph& graph) {
  const std::vector<trial::Slot> slots = trial::input_slots(graph);
  std::vector<Value> values = trial::read_values(flags.inputs, slots, trial::Side::input, "--inputs");
  if (flags.inputs.empty() || flags.seed || describes_random(flags)) {
    const trial::RandomSettings settings = random_settings(flags, slots);
    const std::vector<std::string> lines = trial::fill_random(graph, slots, settings, values);
    tell_text(report::lines_of(
        lines,
        [&](const std::string& line) {
          return fmt::format("grurun: random input {}, seed {}\n", printable(line), settings.seed);
        },
        "grurun: "));
    if (lines.empty() && describes_random(flags)) {
      fail_usage("--val-range, --input-shapes and --set describe random inputs, but every input has a value");
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].is_needed() && values[i].empty()) {
      fail_usage("input '{}' has no value: add it to --inputs, or have it filled at random with --seed N",
                 slots[i].name);
    }
  }
  return values;
}

void add_inputs_flag(CLI::App& app, InputFlags& flags, const std::string& group) {
  app.add_option(
         "--inputs", flags.inputs,
         "FILE.pb or .npy in the order of the graph's inputs, NAME=FILE, FILE.npz or .json by name, or a "
         "folder with input_K.pb")
      ->type_name("FILE")
      ->group(group);
}

CLI::Option& add_random_flags(CLI::App& app, InputFlags& flags) {
  const char* random = "Random inputs (all of them without --inputs; those missing with one of these)";
  app.add_option_function<std::string>(
         "--seed", [&flags](const std::string& text) { flags.seed = parse_whole("--seed", text); },
         "Seed of random inputs and operators (0)")
      ->type_name("N")
      ->group(random);
  app.add_option("--val-range", flags.ranges, "Range of values, -1:1 or for one input X:0:9; may be repeated")
      ->allow_extra_args(false)
      ->type_name("[X:]LOW:HIGH")
      ->group(random);
  app.add_option("--input-shapes", flags.shapes, "Shapes, X:[5,2,3], or [5,2,3] for the only input")
      ->type_name("[X:][D,...]")
      ->group(random);
  return *app.add_option("--set", flags.dimensions, "Sizes of named dimensions, batch=4 or batch=4,frames=20")
              ->allow_extra_args(false)
              ->type_name("DIM=N")
              ->group(random);
}

}  // namespace grurun::cli
