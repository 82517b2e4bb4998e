#include "onnx_io/models/rename.h"

#include <utility>

#include "onnx_io/models/walk.h"

namespace grurun::onnx_io {

namespace {

Graph renamed_body(Graph body, NameMap names) {
  for (const std::string& own : names_defined_in(body)) names.erase(own);
  for (Node& node : body.nodes) node = renamed(std::move(node), names);
  for (ValueInfo& output : body.outputs) output.name = renamed(output.name, names);
  return body;
}

}  // namespace

std::string renamed(const std::string& name, const NameMap& names) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

Node renamed(Node node, const NameMap& names) {
  for (std::string& name : node.inputs) name = renamed(name, names);
  for (std::string& name : node.outputs) name = renamed(name, names);
  rewrite_bodies(node, [&](const Graph& body) { return renamed_body(body, names); });
  return node;
}

std::set<std::string> names_defined_in(const Graph& graph) {
  std::set<std::string> names;
  for (const ValueInfo& input : graph.inputs) names.insert(input.name);
  for (const Initializer& initializer : graph.initializers) names.insert(initializer.name);
  for (const Node& node : graph.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

}  // namespace grurun::onnx_io
