#include "trial/graph_sources.h"

#include <algorithm>

#include "tensor/dispatch.h"
#include "trial/intermediates.h"

namespace grurun::trial {

using onnx_io::Node;

GraphSources::GraphSources(const onnx_io::Graph& graph, const GraphSources* outer)
    : graph_(graph),
      outer_(outer),
      producers_(graph.nodes),
      initializers_(onnx_io::index_initializers(graph)) {
  for (const onnx_io::ValueInfo& input : graph.inputs) inputs_.insert(input.name);
  for (const Node& node : graph.nodes) {
    const bool is_made_of_weights = std::ranges::all_of(
        node.inputs, [&](const std::string& each) { return each.empty() || is_weight(each); });
    // A body reads what is around it.
    if (is_made_of_weights && !onnx_io::has_body(node))
      weights_.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const Node& node : graph.nodes) {
    if (seen_through(node) != nullptr) continue;
    for (const std::string& input : node.inputs)
      if (!input.empty()) readers_[source(input)].push_back(&node);
  }
}

bool GraphSources::owns(const std::string& name) const {
  return producers_.find(name) != nullptr || initializers_.contains(name) || inputs_.contains(name);
}

const GraphSources& GraphSources::scope_of(const std::string& name) const {
  const GraphSources* scope = this;
  while (scope->outer_ != nullptr && !scope->owns(name)) scope = scope->outer_;
  return *scope;
}

const Node* GraphSources::maker(const std::string& name) const {
  return scope_of(name).producers_.node(name);
}

const Tensor* GraphSources::constant(const std::string& name) const {
  const Node* node = maker(name);
  if (node == nullptr) {
    const onnx_io::InitializerIndex& initializers = scope_of(name).initializers_;
    const auto found = initializers.find(name);
    return found == initializers.end() ? nullptr : found->second;
  }
  const onnx_io::Attribute* value = is_constant(*node) ? node->find_attribute("value") : nullptr;
  return value == nullptr || value->tensors.empty() ? nullptr : &value->tensors[0];
}

bool GraphSources::is_weight(const std::string& name) const {
  const GraphSources& scope = scope_of(name);
  return scope.weights_.contains(name) ||
         (scope.producers_.find(name) == nullptr && scope.initializers_.contains(name));
}

std::string GraphSources::source(std::string name) const {
  for (std::size_t steps = 0; steps <= producers_.size(); ++steps) {
    const Node* node = maker(name);
    const std::string* before = node == nullptr ? nullptr : seen_through(*node);
    if (before == nullptr) return name;
    name = *before;
  }
  return name;  // a circle
}

std::vector<const Node*> GraphSources::readers(const std::string& name) const {
  const auto found = readers_.find(name);
  return found == readers_.end() ? std::vector<const Node*>() : found->second;
}

const std::string* GraphSources::seen_through(const Node& node) const {
  if (!node.domain.empty() && node.domain != "com.microsoft") return nullptr;
  if (node.inputs.empty()) return nullptr;
  const std::string& before = node.inputs[0];
  if (node.op_type == "Identity" || node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear")
    return &before;
  if (node.op_type != "Cast") return nullptr;
  const onnx_io::Attribute* to = node.find_attribute("to");
  return to != nullptr && Floats::set.contains(static_cast<DType>(to->i)) ? &before : nullptr;
}

}  // namespace grurun::trial
