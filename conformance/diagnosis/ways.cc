#include "conformance/diagnosis/ways.h"

#include <algorithm>
#include <array>

#include "conformance/diagnosis/calls.h"
#include "engine/graph/node_rules.h"
#include "onnx_io/openvino_ir.h"

namespace grurun::conformance::diagnosis {

using onnx_io::Node;

namespace {

bool keeps_order(const Node& node) {
  static const std::array names{"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"};
  return node.domain.empty() && std::ranges::find(names, node.op_type) != names.end();
}

/// Whether the way back from a graph's output goes on through it.
bool is_followed(const Node& node) {
  return !node.inputs.empty() && (keeps_order(node) || (node.domain.empty() && node.op_type == "Transpose"));
}

}  // namespace

std::optional<Op> op_of(const Node& node) {
  const bool of_openvino = node.domain == onnx_io::openvino_domain;
  if (of_openvino && node.op_type == "LSTM") return Op::lstm;
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "RNN") return Op::rnn;
  if (node.op_type == "GRU") return Op::gru;
  if (node.op_type == "LSTM") return Op::lstm;
  return std::nullopt;
}

std::string label_of(const onnx_io::Model& model, const Node& node) {
  const auto imported = model.opset_imports.find(node.domain);
  const int version =
      imported == model.opset_imports.end() ? 0 : engine::resolved_version(node, imported->second);
  return engine::node_label(node, "", version);
}

NodeByValue producers_of(const onnx_io::Graph& graph) {
  NodeByValue producers;
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) producers.try_emplace(output, &node);
  }
  return producers;
}

NodeByValue recurrent_sources(const onnx_io::Graph& graph) {
  NodeByValue sources;
  for (const Node& node : graph.nodes) {
    const Node* last = op_of(node) ? &node : nullptr;
    for (std::size_t i = 0; last != &node && i < node.inputs.size(); ++i) {
      const auto source = sources.find(node.inputs[i]);
      if (source != sources.end()) last = std::max(last, source->second);
    }
    if (last == nullptr) continue;
    for (const std::string& output : node.outputs) {
      if (!output.empty()) sources.try_emplace(output, last);
    }
  }
  return sources;
}

std::optional<Way> way_back(const NodeByValue& producers, std::string value) {
  Way way{};
  for (std::size_t steps = 0; steps <= producers.size(); ++steps) {
    const auto made = producers.find(value);
    if (made == producers.end()) return std::nullopt;
    const Node* node = made->second;
    if (op_of(*node)) {
      way.from = node;
      way.output = static_cast<std::size_t>(std::ranges::find(node->outputs, value) - node->outputs.begin());
      return way.output < 3 ? std::optional(way) : std::nullopt;
    }
    if (!is_followed(*node)) return std::nullopt;
    way.between.push_back(node);
    value = node->inputs[0];
  }
  return std::nullopt;
}

bool has_recurrent_node(const onnx_io::Model& model) {
  const auto has = [](const onnx_io::Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) { return op_of(node).has_value(); });
  };
  return has(model.graph) || (!model.functions.empty() && has(with_calls_written_out(model).graph));
}

std::vector<Untraced> find_untraced(const onnx_io::Model& stated) {
  const onnx_io::Model model = with_calls_written_out(stated);
  const NodeByValue producers = producers_of(model.graph), sources = recurrent_sources(model.graph);
  std::vector<Untraced> out;
  for (std::size_t i = 0; i < model.graph.outputs.size(); ++i) {
    auto made = producers.find(model.graph.outputs[i].name);
    for (std::size_t steps = 0; made != producers.end() && is_followed(*made->second); ++steps) {
      made = steps > model.graph.nodes.size() ? producers.end() : producers.find(made->second->inputs[0]);
    }
    if (made == producers.end() || op_of(*made->second)) continue;
    const auto before = sources.find(model.graph.outputs[i].name);
    if (before != sources.end()) out.push_back({i, label_of(model, *before->second), made->second->op_type});
  }
  return out;
}

}  // namespace grurun::conformance::diagnosis
