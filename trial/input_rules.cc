#include "trial/input_rules.h"

#include <algorithm>

#include "opset/recurrent/recurrent_form.h"

namespace grurun::trial {
namespace {

std::int64_t int_attribute(const onnx_io::Node& node, const char* name) {
  const onnx_io::Attribute* attribute = node.find_attribute(name);
  return attribute != nullptr ? attribute->i : 0;
}

// The one input of a node whose values the size of an axis of its first input limits.
struct Limit {
  std::size_t place;  // of the limited input
  std::int64_t axis;
  std::int64_t lowest;
};

std::optional<Limit> limit_of(const onnx_io::Node& node) {
  if (opset::find_recurrent_form(node.op_type, node.domain) != nullptr)
    return Limit{opset::input_sequence_lens, int_attribute(node, "layout") == 1 ? 1 : 0, 1};
  const bool gather = node.op_type == "Gather" || node.op_type == "GatherElements";
  if (gather) return Limit{1, int_attribute(node, "axis"), 0};
  return std::nullopt;
}

}  // namespace

InputRules::InputRules(const onnx_io::Graph& graph) : initializers_(onnx_io::index_initializers(graph)) {
  for (const onnx_io::Node& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    const std::optional<Limit> limit = limit_of(node);
    if (limit && limit->place < node.inputs.size() && !node.inputs[0].empty())
      uses_[node.inputs[limit->place]].push_back({node.inputs[0], limit->axis, limit->lowest});
  }
}

std::optional<Range> InputRules::range_of(const std::string& input,
                                          const std::map<std::string, Shape>& shapes) const {
  const auto uses = uses_.find(input);
  if (uses == uses_.end()) return std::nullopt;
  std::optional<Range> range;
  for (const Use& use : uses->second) {
    const std::optional<Shape> data = shape_of(use.data, shapes);
    if (!data) continue;
    const auto rank = static_cast<std::int64_t>(data->rank());
    const std::int64_t axis = use.axis < 0 ? use.axis + rank : use.axis;
    if (axis < 0 || axis >= rank) continue;
    const std::int64_t size = (*data)[static_cast<std::size_t>(axis)];
    // Lengths of an empty sequence can only be 0; indices into nothing have no right value.
    const auto last = static_cast<double>(use.lowest == 1 ? size : std::max<std::int64_t>(size - 1, 0));
    const Range found{std::min(static_cast<double>(use.lowest), last), last};
    range = range ? Range{std::max(range->low, found.low), std::min(range->high, found.high)} : found;
  }
  if (range && range->low > range->high) range->low = range->high;
  return range;
}

std::optional<Shape> InputRules::shape_of(const std::string& name,
                                          const std::map<std::string, Shape>& shapes) const {
  if (const auto found = initializers_.find(name); found != initializers_.end())
    return found->second->shape();
  const auto found = shapes.find(name);
  return found == shapes.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace grurun::trial
