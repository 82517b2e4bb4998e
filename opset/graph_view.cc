#include "opset/graph_view.h"

#include <algorithm>
#include <array>

namespace grurun::opset {

namespace {

using onnx_io::Node;

constexpr std::array<std::string_view, 6> plain_operators = {"Identity", "Cast",      "Reshape",
                                                             "Squeeze",  "Unsqueeze", "Flatten"};

bool is_plain(const Node& node) {
  return node.domain.empty() && !node.inputs.empty() &&
         std::ranges::find(plain_operators, node.op_type) != plain_operators.end();
}

}  // namespace

const Tensor* constant_value(const Node& node) {
  if (node.op_type != "Constant" || !node.domain.empty() || node.outputs.size() != 1) return nullptr;
  const onnx_io::Attribute* value = node.find_attribute("value");
  return value != nullptr && value->tensors.size() == 1 ? &value->tensors[0] : nullptr;
}

GraphView::GraphView(const onnx_io::Graph& graph, const GraphView* outer) : outer_(outer) {
  for (const onnx_io::Initializer& initializer : graph.initializers) {
    constants_.try_emplace(initializer.name, &initializer.tensor);
  }
  for (const Node& node : graph.nodes) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) producers_.try_emplace(node.outputs[i], Producer{&node, i});
    }
    if (const Tensor* value = constant_value(node)) constants_.try_emplace(node.outputs[0], value);
  }
}

// Body inputs: iteration, condition, states; outputs: condition, states. Inputs: trip count, condition,
// states.
GraphView GraphView::of_loop(const Node& loop, const onnx_io::Graph& body, const GraphView& outer) {
  GraphView view(body, &outer);
  const std::size_t most = std::min({loop.inputs.size(), body.inputs.size(), body.outputs.size() + 1});
  for (std::size_t i = 2; i < most; ++i) {
    const std::string& state = body.inputs[i].name;
    if (view.plain(body.outputs[i - 1].name) == state) view.handed_on_.try_emplace(state, &loop.inputs[i]);
  }
  return view;
}

std::optional<GraphView::Producer> GraphView::producer(const std::string& name) const {
  const auto found = producers_.find(name);
  return found == producers_.end() ? std::nullopt : std::optional(found->second);
}

const Node* GraphView::made_by(const std::string& name, std::string_view op_type) const {
  const auto found = producers_.find(name);
  if (found == producers_.end()) return nullptr;
  const Node* node = found->second.node;
  return node->domain.empty() && node->op_type == op_type ? node : nullptr;
}

// A cycle in the graph must not keep this going.
const std::string& GraphView::plain(const std::string& name) const {
  constexpr int longest = 64;
  const std::string* at = &name;
  for (int i = 0; i < longest; ++i) {
    const auto found = producers_.find(*at);
    if (found == producers_.end() || !is_plain(*found->second.node)) break;
    at = &found->second.node->inputs[0];
  }
  return *at;
}

const Tensor* GraphView::constant(const std::string& name) const {
  const std::string& value = plain(name);
  const auto found = constants_.find(value);
  if (found != constants_.end()) return found->second;
  const auto handed_on = handed_on_.find(value);
  if (handed_on != handed_on_.end()) return outer_->constant(*handed_on->second);
  return outer_ != nullptr && producers_.count(value) == 0 ? outer_->constant(value) : nullptr;
}

std::optional<std::vector<std::int64_t>> GraphView::integers(const std::string& name) const {
  const Tensor* tensor = constant(name);
  const auto list = [](const auto& elements) {
    return std::vector<std::int64_t>(elements.begin(), elements.end());
  };
  if (tensor != nullptr && tensor->dtype() == DType::int64) return list(tensor->span<std::int64_t>());
  if (tensor != nullptr && tensor->dtype() == DType::int32) return list(tensor->span<std::int32_t>());
  return std::nullopt;
}

std::optional<std::int64_t> GraphView::integer(const std::string& name) const {
  const Tensor* tensor = constant(name);
  if (tensor == nullptr || tensor->size() != 1) return std::nullopt;
  const auto list = integers(name);
  return list ? std::optional(list->front()) : std::nullopt;
}

std::optional<double> GraphView::number(const std::string& name) const {
  const Tensor* tensor = constant(name);
  if (tensor == nullptr || tensor->size() != 1) return std::nullopt;
  if (tensor->dtype() == DType::float32) return *tensor->data<float>();
  if (tensor->dtype() == DType::float64) return *tensor->data<double>();
  return std::nullopt;
}

}  // namespace grurun::opset
