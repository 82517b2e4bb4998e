// Walks over the nodes of a model, and who makes and reads a value. All walks agree on this:
// - Depth: a walk enters the bodies of a node (the graphs in its attributes) and the bodies in those. It
// recurses once
//   for each level; a file cannot nest more than about thirty levels, because protobuf refuses more.
// - Functions: a call is a node like another. The nodes of a function are visited once, after the main graph.
// - Shadowing: a name that a body defines anywhere (input, initializer or output of a node) is the body's own
// there.
//   It hides the value of that name in the graphs around it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"

namespace grurun::onnx_io {

/// Calls visit(body, attribute) for each body of the node itself, in the order of the attributes.
template <typename Visit>
void for_each_body(const Node& node, Visit&& visit) {
  for (const Attribute& attribute : node.attributes)
    for (const auto& body : attribute.graphs) visit(*body, attribute);
}

bool has_body(const Node& node);

/// Puts rewrite(body), a Graph, in the place of each body of the attribute, or of the node itself.
template <typename Rewrite>
void rewrite_bodies(Attribute& attribute, const Rewrite& rewrite) {
  for (auto& body : attribute.graphs) body = std::make_shared<const Graph>(rewrite(*body));
}
template <typename Rewrite>
void rewrite_bodies(Node& node, const Rewrite& rewrite) {
  for (Attribute& attribute : node.attributes) rewrite_bodies(attribute, rewrite);
}

/// The first node for which is_wanted(node) holds: of the nodes in their order, each before those in its
/// bodies. nullptr: none.
template <typename Predicate>
const Node* find_node(const std::vector<Node>& nodes, const Predicate& is_wanted);

/// The same of one node and those in its bodies.
template <typename Predicate>
const Node* find_node(const Node& node, const Predicate& is_wanted) {
  if (is_wanted(node)) return &node;
  const Node* found = nullptr;
  for_each_body(node, [&](const Graph& body, const Attribute&) {
    if (found == nullptr) found = find_node(body.nodes, is_wanted);
  });
  return found;
}

template <typename Predicate>
const Node* find_node(const std::vector<Node>& nodes, const Predicate& is_wanted) {
  for (const Node& node : nodes) {
    if (const Node* found = find_node(node, is_wanted)) return found;
  }
  return nullptr;
}

/// The same of the main graph, then of the functions.
template <typename Predicate>
const Node* find_node(const Model& model, const Predicate& is_wanted) {
  const Node* found = find_node(model.graph.nodes, is_wanted);
  for (const Function& function : model.functions) {
    if (found == nullptr) found = find_node(function.nodes, is_wanted);
  }
  return found;
}

/// Calls visit(node) for each node of a Model, of a list of nodes, or of one node and its bodies; a node
/// comes before those in its bodies.
template <typename Nodes, typename Visit>
void for_each_node(const Nodes& nodes, Visit&& visit) {
  find_node(nodes, [&](const Node& node) { return visit(node), false; });
}

/// A value that is read, and by which node.
struct Read {
  std::string_view name;
  const Node* by;  // nullptr: a body returns it
};

/// What a node reads of the graph that it stands in, and of those around it: its inputs that are not omitted,
/// then what its bodies read and do not define. A name may come several times. The node must outlive the
/// result.
std::vector<Read> reads_of(const Node& node);

/// What a body reads of the graphs around it: by its nodes in their order, then what it returns.
std::vector<Read> outer_reads(const Graph& body);

/// The nodes of one graph by the names of their outputs. Where several make one name, the first counts.
/// Bodies are not looked into. The nodes must outlive it.
class Producers {
 public:
  struct Producer {
    const Node* node;
    std::size_t index;   // of the node in the graph
    std::size_t output;  // of the node
  };

  explicit Producers(const std::vector<Node>& nodes);

  /// nullptr: no node makes it.
  const Producer* find(std::string_view name) const;
  const Node* node(std::string_view name) const;

  /// Number of values: no way back through the graph is longer.
  std::size_t size() const { return by_name_.size(); }

 private:
  std::unordered_map<std::string_view, Producer> by_name_;
};

}  // namespace grurun::onnx_io
