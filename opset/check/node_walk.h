// The nodes of a model with the place that findings name.
#pragma once

#include <cstddef>
#include <vector>

#include "onnx_io/models/walk.h"
#include "opset/findings/check_report.h"
#include "tensor/interruption.h"

namespace grurun::opset {

/// Calls visit(NodeAt) for each node of a graph or function, and for those in its bodies, without versions.
/// The depth of the model must have been judged: the walk recurses.
template <typename Visit>
void for_each_node_at(const std::vector<onnx_io::Node>& nodes, const CheckScope& scope, const Visit& visit) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    look_for_interruption();
    const NodeAt at{scope, nodes[i], i};
    visit(at);
    onnx_io::for_each_body(nodes[i], [&](const onnx_io::Graph& body, const onnx_io::Attribute& attribute) {
      for_each_node_at(body.nodes, CheckScope::of_subgraph(at, attribute.name), visit);
    });
  }
}

/// The same of the main graph, then of each function.
template <typename Visit>
void for_each_node_at(const onnx_io::Model& model, const Visit& visit) {
  for_each_node_at(model.graph.nodes, CheckScope::of_main_graph(model), visit);
  for (const onnx_io::Function& function : model.functions)
    for_each_node_at(function.nodes, CheckScope::of_function(function), visit);
}

}  // namespace grurun::opset
