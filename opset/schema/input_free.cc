#include "opset/schema/input_free.h"

#include <algorithm>

namespace grurun::opset {

std::unordered_set<std::string_view> input_free_values(const onnx::GraphProto& graph,
                                                       std::int64_t ir_version) {
  constexpr int free_initializers = 4;  // IR version: below, each is listed as an input, and none overridden
  std::unordered_set<std::string_view> fed, values;
  if (ir_version >= free_initializers)
    for (const auto& input : graph.input()) fed.insert(input.name());
  for (const auto& initializer : graph.initializer()) {
    if (!fed.contains(initializer.name())) values.insert(initializer.name());
  }
  for (const onnx::NodeProto& node : graph.node()) {
    const bool of_shapes = node.op_type() == "Shape" || node.op_type() == "Size";
    const bool holds_graph =
        std::ranges::any_of(node.attribute(), [](const auto& a) { return a.has_g() || a.graphs_size() > 0; });
    const bool is_free = std::ranges::all_of(
        node.input(), [&](const std::string& input) { return input.empty() || values.contains(input); });
    if (!of_shapes && (holds_graph || !is_free)) continue;
    values.insert(node.output().begin(), node.output().end());
  }
  return values;
}

}  // namespace grurun::opset
