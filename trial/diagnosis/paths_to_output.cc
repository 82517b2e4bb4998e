#include "trial/diagnosis/paths_to_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/graph/node_rules.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "opset/pages/page.h"
#include "opset/schema/function_calls.h"

namespace grurun::trial::diagnosis {

using onnx_io::Node;

namespace {

bool keeps_order(const Node& node) {
  return opset::elements_of(node) == opset::Elements::in_order;
}

/// Whether the way back from a graph's output goes on through it.
bool is_followed(const Node& node) {
  return !node.inputs.empty() && (keeps_order(node) || (node.domain.empty() && node.op_type == "Transpose"));
}

/// By value: the last node of that kind in the graph's order on which it depends, through whatever operators.
template <typename Predicate>
NodeByValue last_sources(const onnx_io::Graph& graph, const Predicate& is_source) {
  NodeByValue sources;
  for (const Node& node : graph.nodes) {
    const Node* last = is_source(node) ? &node : nullptr;
    if (last == nullptr) {
      for (const onnx_io::Read& read : onnx_io::reads_of(node)) {
        const auto source = sources.find(read.name);
        if (source != sources.end()) last = std::max(last, source->second);
      }
    }
    if (last == nullptr) continue;
    for (const std::string& output : node.outputs) {
      if (!output.empty()) sources.try_emplace(output, last);
    }
  }
  return sources;
}

bool is_recurrent(const Node& node) {
  return op_of(node).has_value();
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

std::string label_of(const onnx_io::OpsetImports& imports, const Node& node) {
  const auto imported = imports.find(node.domain);
  if (imported == imports.end()) return engine::node_label(node, "", 0);
  const auto version = opset::since_version(node.op_type, node.domain, imported->second);
  const int custom = engine::newest_op_version(node.domain, node.op_type, imported->second);
  return engine::node_label(node, "", version.value_or(custom));
}

NodeByValue recurrent_sources(const onnx_io::Graph& graph) {
  return last_sources(graph, is_recurrent);
}

std::optional<PathToOutput> find_path_to_output(const onnx_io::Producers& producers, std::string value) {
  PathToOutput path{};
  for (std::size_t steps = 0; steps <= producers.size(); ++steps) {
    const auto* made = producers.find(value);
    if (made == nullptr) return std::nullopt;
    const Node* node = made->node;
    if (op_of(*node)) {
      path.from = node;
      path.output = made->output;
      return path.output < 3 ? std::optional(path) : std::nullopt;
    }
    if (!is_followed(*node)) return std::nullopt;
    path.between.push_back(node);
    value = node->inputs[0];
  }
  return std::nullopt;
}

const Node* first_recurrent(const Node& node) {
  return onnx_io::find_node(node, is_recurrent);
}

const Node* first_not_followed(const onnx_io::Producers& producers, const std::string& value) {
  const Node* made = producers.node(value);
  for (std::size_t steps = 0; made != nullptr && is_followed(*made); ++steps) {
    made = steps > producers.size() ? nullptr : producers.node(made->inputs[0]);
  }
  return made;
}

bool has_recurrent_node(const onnx_io::Model& model) {
  return onnx_io::find_node(model, is_recurrent) != nullptr;
}

std::vector<Untraced> find_untraced(const onnx_io::Model& model) {
  const onnx_io::Producers producers(model.graph.nodes);
  const opset::FunctionIndex functions(model.functions);
  const auto called = [&](const Node& node) {
    const onnx_io::Function* function = functions.find(node);
    return function != nullptr && onnx_io::find_node(function->nodes, is_recurrent) != nullptr ? function
                                                                                               : nullptr;
  };
  const NodeByValue sources = last_sources(model.graph, [&](const Node& node) {
    return first_recurrent(node) != nullptr || called(node) != nullptr;
  });
  std::vector<Untraced> out;
  for (std::size_t i = 0; i < model.graph.outputs.size(); ++i) {
    const std::string& name = model.graph.outputs[i].name;
    const Node* made = first_not_followed(producers, name);
    const auto before = sources.find(name);
    if (made == nullptr || before == sources.end() || op_of(*made)) continue;
    const Node& last = *before->second;
    if (op_of(last)) {
      out.push_back({i, label_of(model.opset_imports, last),
                     fmt::format("output '{}' is made by {} after it, through which nothing is traced back; "
                                 "the node was not shown wrong",
                                 name, made->op_type),
                     false});
    } else if (const onnx_io::Function* function = called(last)) {
      out.push_back({i, label_of(function->opset_imports, *onnx_io::find_node(function->nodes, is_recurrent)),
                     fmt::format("it stands in function '{}' of another opset, which is not looked into",
                                 function->name),
                     false});
    } else {
      out.push_back(
          {i, label_of(model.opset_imports, *first_recurrent(last)),
           fmt::format("it stands in {}, which is not looked into", label_of(model.opset_imports, last)),
           true});
    }
  }
  return out;
}

}  // namespace grurun::trial::diagnosis
