// The values between the nodes of a model, as they are made.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial {

/// A value that a node of the main graph made.
struct MadeValue {
  std::size_t node;         // its place among the nodes of the graph
  const std::string& name;  // of the value
  const Value& value;
};

/// Runs the model node by node and shows what each node of the main graph makes, when it is made; what calls
/// of functions make, at the end; what Constant nodes make, never. Bodies are part of their node. inputs[i]
/// belongs to graph.inputs[i]. Throws what planning and running throw.
void run_seeing_values(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun,
                       const std::function<void(const MadeValue&)>& see);

using ValuesByName = std::unordered_map<std::string, Value>;

/// All of them, which memory has to hold at once.
ValuesByName values_by_name(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun);

/// Whether the node is a Constant, whose value the plan holds.
bool is_constant(const onnx_io::Node& node);

/// "node 'norm_2' (LayerNormalization-17)".
std::string label_of(const onnx_io::Model& model, const onnx_io::Node& node);

}  // namespace grurun::trial
