#include "conformance/reduce/inner_nodes.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "onnx_io/models/rename.h"
#include "onnx_io/models/walk.h"

namespace grurun::conformance {
namespace {

using onnx_io::Graph;
using onnx_io::Node;

bool makes(const Node& node, const std::string& output) {
  return std::ranges::count(node.outputs, output) > 0;
}

/// What returned values and nodes of a list read.
std::unordered_set<std::string> names_read(const std::vector<Node>& nodes,
                                           const std::vector<std::string>& returned) {
  std::unordered_set<std::string> read(returned.begin(), returned.end());
  for (const Node& node : nodes)
    for (const onnx_io::Read& each : onnx_io::reads_of(node)) read.emplace(each.name);
  return read;
}

void drop_unread_nodes(std::vector<Node>& nodes, const std::vector<std::string>& returned) {
  for (std::size_t before = nodes.size() + 1; before != nodes.size();) {
    before = nodes.size();
    const std::unordered_set<std::string> read = names_read(nodes, returned);
    std::erase_if(nodes, [&](const Node& node) {
      return std::ranges::none_of(node.outputs, [&](const std::string& name) { return read.contains(name); });
    });
  }
}

/// Takes the node out of a list of nodes of one graph. Whether it was there.
bool take_out(std::vector<Node>& nodes, const std::vector<std::string>& returned, const std::string& output,
              const std::string& instead) {
  const auto found = std::ranges::find_if(nodes, [&](const Node& node) { return makes(node, output); });
  if (found == nodes.end() || std::ranges::count(found->inputs, instead) == 0) return false;
  const bool is_returned = std::ranges::any_of(
      found->outputs, [&](const std::string& name) { return std::ranges::count(returned, name) > 0; });
  if (is_returned) {
    if (found->op_type == "Identity") return false;
    Node hands_on;
    hands_on.op_type = "Identity";
    hands_on.inputs = {instead};
    hands_on.outputs = {output};
    *found = std::move(hands_on);
  } else {
    onnx_io::NameMap names;
    for (const std::string& name : found->outputs)
      if (!name.empty()) names[name] = instead;
    nodes.erase(found);
    for (Node& node : nodes) node = onnx_io::renamed(std::move(node), names);
  }
  drop_unread_nodes(nodes, returned);
  return true;
}

std::vector<std::string> names_of(const std::vector<onnx_io::ValueInfo>& infos) {
  std::vector<std::string> names;
  for (const onnx_io::ValueInfo& info : infos) names.push_back(info.name);
  return names;
}

bool take_out_of_bodies(std::vector<Node>& nodes, const std::string& output, const std::string& instead) {
  bool done = false;
  for (Node& node : nodes) {
    if (done) break;
    onnx_io::rewrite_bodies(node, [&](Graph body) {
      if (done) return body;
      done = take_out(body.nodes, names_of(body.outputs), output, instead) ||
             take_out_of_bodies(body.nodes, output, instead);
      if (done) {
        const std::unordered_set<std::string> read = names_read(body.nodes, names_of(body.outputs));
        std::erase_if(body.initializers, [&](const auto& each) { return !read.contains(each.name); });
        body.value_info.clear();
      }
      return body;
    });
  }
  return done;
}

/// Inputs of the graph are left: they belong to values.
void drop_unread_weights(Graph& graph) {
  const std::unordered_set<std::string> read = names_read(graph.nodes, names_of(graph.outputs));
  std::erase_if(graph.initializers, [&](const auto& each) { return !read.contains(each.name); });
}

bool take_out_of_model(onnx_io::Model& model, const std::string& output, const std::string& instead) {
  bool done = take_out_of_bodies(model.graph.nodes, output, instead);
  for (onnx_io::Function& function : model.functions) {
    if (done) break;
    done = take_out(function.nodes, function.outputs, output, instead) ||
           take_out_of_bodies(function.nodes, output, instead);
  }
  if (done) drop_unread_weights(model.graph);
  trial::drop_unused_functions(model);
  return done;
}

void add_inner(const std::vector<Node>& nodes, std::vector<InnerNode>& out) {
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    InnerNode inner;
    for (const std::string& name : node->outputs)
      if (inner.output.empty()) inner.output = name;
    for (const std::string& name : node->inputs)
      if (!name.empty() && std::ranges::count(inner.inputs, name) == 0) inner.inputs.push_back(name);
    if (!inner.output.empty() && !inner.inputs.empty()) out.push_back(std::move(inner));
  }
}

void add_bodies(const std::vector<Node>& nodes, std::vector<InnerNode>& out) {
  onnx_io::for_each_node(nodes, [&](const Node& node) {
    onnx_io::for_each_body(node,
                           [&](const Graph& body, const onnx_io::Attribute&) { add_inner(body.nodes, out); });
  });
}

/// Operators of the inner nodes by what they make.
std::multimap<std::string, std::string> inner_operators(const onnx_io::Model& model) {
  std::multimap<std::string, std::string> out;
  const auto add = [&](const Node& node) {
    for (const std::string& name : node.outputs) out.emplace(name, node.op_type);
  };
  for (const Node& node : model.graph.nodes)
    onnx_io::for_each_body(
        node, [&](const Graph& body, const onnx_io::Attribute&) { onnx_io::for_each_node(body.nodes, add); });
  for (const onnx_io::Function& function : model.functions) onnx_io::for_each_node(function.nodes, add);
  return out;
}

}  // namespace

std::vector<InnerNode> inner_nodes_of(const onnx_io::Model& model) {
  std::vector<InnerNode> out;
  add_bodies(model.graph.nodes, out);
  for (const onnx_io::Function& function : model.functions) {
    add_inner(function.nodes, out);
    add_bodies(function.nodes, out);
  }
  return out;
}

std::optional<Candidate> without_inner_node(const Candidate& candidate, const std::string& output,
                                            const std::string& instead) {
  Candidate out = candidate;
  if (out.other) {
    // One name that means two things would change one of the two models in another way.
    const auto here = inner_operators(out.part.model), there = inner_operators(*out.other);
    if (here.count(output) != 1 || there.count(output) != 1 ||
        here.find(output)->second != there.find(output)->second)
      return std::nullopt;
    if (!take_out_of_model(*out.other, output, instead)) return std::nullopt;
  }
  if (!take_out_of_model(out.part.model, output, instead)) return std::nullopt;
  return out;
}

}  // namespace grurun::conformance
