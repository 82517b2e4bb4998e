#include "opset/summary/inline_calls.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "onnx_io/models/walk.h"
#include "opset/findings/labels.h"

namespace grurun::opset {
namespace {

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Graph;
using onnx_io::Node;

class Inliner {
 public:
  explicit Inliner(const FunctionIndex& functions) : functions_(functions) {}

  /// What the names and attributes of a function mean where it is called; nullptr members: the main graph.
  struct Call {
    std::string prefix;  // of names that are not in `values`
    std::unordered_map<std::string, std::string> values;
    const Node* node = nullptr;
    const Function* function = nullptr;

    std::string name(const std::string& value) const {
      if (value.empty()) return value;
      const auto found = values.find(value);
      return found == values.end() ? prefix + value : found->second;
    }
  };

  Graph graph(const Graph& from, const Call& call) {
    Graph to = from;
    for (auto* infos : {&to.inputs, &to.outputs, &to.value_info})
      for (onnx_io::ValueInfo& info : *infos) info.name = call.name(info.name);
    for (onnx_io::Initializer& initializer : to.initializers) initializer.name = call.name(initializer.name);
    to.nodes.clear();
    append(from.nodes, call, "", to.nodes);
    return to;
  }

 private:
  void append(const std::vector<Node>& from, const Call& call, const std::string& path,
              std::vector<Node>& to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      Node node = from[i];
      node.name = path + node_name(node.name, node.op_type, i);
      for (std::string& name : node.inputs) name = call.name(name);
      for (std::string& name : node.outputs) name = call.name(name);
      resolve_attributes(node, call);
      if (const Function* function = functions_.find(node)) {
        append_call(node, *function, to);
      } else {
        to.push_back(std::move(node));
      }
    }
  }

  // References to the caller's attributes, and names in subgraphs.
  void resolve_attributes(Node& node, const Call& call) {
    if (call.node != nullptr) resolve_references(node, *call.function, *call.node);
    onnx_io::rewrite_bodies(node, [&](const Graph& body) { return graph(body, call); });
  }

  void append_call(const Node& node, const Function& function, std::vector<Node>& to) {
    Call call{.prefix = unique(node.name) + "/", .values = {}, .node = &node, .function = &function};
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      call.values[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
    for (std::size_t i = 0; i < function.outputs.size() && i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      const auto [known, added] = call.values.emplace(function.outputs[i], node.outputs[i]);
      if (!added)
        to.push_back(identity_node(known->second, node.outputs[i]));  // an input, or an output again
    }
    append(function.nodes, call, node.name + "/", to);
  }

  std::string unique(const std::string& name) {
    std::string candidate = name;
    for (int i = 2; !taken_.insert(candidate).second; ++i) candidate = name + ":" + std::to_string(i);
    return candidate;
  }

  const FunctionIndex& functions_;
  std::unordered_set<std::string> taken_;  // prefixes
};

}  // namespace

Graph inline_calls(const onnx_io::Model& model, const FunctionIndex& functions) {
  return Inliner(functions).graph(model.graph, {});
}

}  // namespace grurun::opset
