// The flags that say what a model is run on, for every command that runs one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/data_set.h"
#include "trial/random_values.h"

namespace grurun::cli {

struct InputFlags {
  std::vector<std::string> inputs;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> ranges;
  std::vector<std::string> shapes;
  std::vector<std::string> dimensions;
};

/// --inputs, in the help's group of that name.
void add_inputs_flag(CLI::App& app, InputFlags& flags, const std::string& group);

/// --seed, --val-range, --input-shapes, --set. Returns the last: CLI11 ends the program where it is to find
/// one by name without memory.
CLI::Option& add_random_flags(CLI::App& app, InputFlags& flags);

/// Values by graph input: from files, or at random where no file is named or a flag describes random
/// inputs; what was made up is told on stderr. Empty where an initializer gives the value. Throws
/// Error(usage) for an input without a value and for flags that describe nothing.
std::vector<Value> gather_inputs(const InputFlags& flags, const onnx_io::Graph& graph);

/// How inputs are drawn, as the flags tell it. Throws Error(usage) for a shape or range that is given twice.
trial::RandomSettings random_settings(const InputFlags& flags, const std::vector<trial::Slot>& slots);

}  // namespace grurun::cli
