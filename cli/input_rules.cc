#include "cli/input_rules.h"

#include <algorithm>

#include "opset/recurrent_form.h"

namespace grurun::cli {
namespace {

using Shapes = std::map<std::string, Shape>;

std::optional<Shape> shape_of(const onnx_io::Graph& graph, const std::string& name, const Shapes& shapes) {
  if (const Tensor* tensor = graph.find_initializer(name)) return tensor->shape();
  const auto found = shapes.find(name);
  return found == shapes.end() ? std::nullopt : std::optional(found->second);
}

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

std::optional<Range> range_by_use(const onnx_io::Graph& graph, const std::string& input,
                                  const Shapes& shapes) {
  std::optional<Range> range;
  for (const onnx_io::Node& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    const std::optional<Limit> limit = limit_of(node);
    if (!limit || limit->place >= node.inputs.size() || node.inputs[limit->place] != input) continue;
    const std::optional<Shape> data = shape_of(graph, node.inputs[0], shapes);
    if (!data) continue;
    const auto rank = static_cast<std::int64_t>(data->rank());
    const std::int64_t axis = limit->axis < 0 ? limit->axis + rank : limit->axis;
    if (axis < 0 || axis >= rank) continue;
    const std::int64_t size = (*data)[static_cast<std::size_t>(axis)];
    // Lengths of an empty sequence can only be 0; indices into nothing have no right value.
    const auto last = static_cast<double>(limit->lowest == 1 ? size : std::max<std::int64_t>(size - 1, 0));
    const Range found{std::min(static_cast<double>(limit->lowest), last), last};
    range = range ? Range{std::max(range->low, found.low), std::min(range->high, found.high)} : found;
  }
  if (range && range->low > range->high) range->low = range->high;
  return range;
}

}  // namespace grurun::cli
