// The values between the nodes of a model as another runtime makes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"
#include "trial/value_store.h"

namespace grurun::conformance {

/// A value that a runtime is asked for.
struct WantedValue {
  onnx_io::ValueInfo info;
  std::size_t bytes = 0;
};

/// What is asked of a runtime for such a value.
WantedValue wanted_value(const std::string& name, const Value& value);

/// The values of the main graph, as a run makes them, each once. Throws what a run throws.
std::vector<WantedValue> wanted_values(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                       const trial::Rerun& rerun);

/// The command that `--against NAME` stands for: a runtime of the Python package; nullopt: NAME is none.
/// $GRURUN_PYTHON, or else python3, runs it.
std::optional<std::string> command_of_runtime(const std::string& name);

struct RuntimeRun {
  std::string flag;     // that asked for it: "--runtime", "--against onnxruntime"
  std::string command;  // as conformance's --runtime takes it
  std::string model;    // the file
  bool has_external_data = false;
  std::string scratch;            // a folder for what is written on the way
  std::size_t bytes_at_once = 0;  // values that one run of the command returns take no more, but for one
  std::optional<std::chrono::steady_clock::time_point> deadline;
};

/// The inputs and outputs of a model, and the initializers that it takes to feed these inputs: the names of
/// those which are inputs, too, and their values only where one of them is fed.
onnx_io::Graph graph_to_feed(const onnx_io::Graph& graph, const std::vector<Value>& inputs);

/// Has the command run the model with the values among its outputs, as often as it takes to get all of them.
/// graph: has the model's inputs and outputs (graph_to_feed). Values stay with the store. Throws Error(usage)
/// where the command cannot be run; Error(invalid_model), (unsupported) or (limit) with the last line that it
/// said, where it refuses the model, does not run it, or takes too long.
trial::ValueStore values_of_runtime(const RuntimeRun& run, const onnx_io::Graph& graph,
                                    const std::vector<Value>& inputs, const std::vector<WantedValue>& wanted);

/// The outputs that the command makes of the model, by graph output; nullopt: it fails. Throws Error(usage)
/// where the command cannot be run.
std::optional<std::vector<Value>> outputs_of_runtime(const RuntimeRun& run, const onnx_io::Graph& graph,
                                                     const std::vector<Value>& inputs);

}  // namespace grurun::conformance
