// Names of one graph: every value defined once, before it is used, and outputs that exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/findings/check_report.h"

namespace grurun::opset {

/// An initializer of a node's body that has the name of an input of the body. IR.md lets an initializer give
/// "a default value for that input", but the node gives each input of its body a value. Below IR version 4
/// initializers are listed as inputs behind those that the node gives. nullopt: none.
std::optional<std::string> initialized_input_fault(const onnx_io::Graph& body, std::int64_t ir_version);

/// Warnings of names in bodies that hide those of outer scopes, as a check gives them. The depth of the model
/// must have been judged.
std::vector<Finding> hidden_names(const onnx_io::Model& model);

/// A use of a name that nothing before it defines: judged when the whole graph has been seen, since a later
/// node may define it, here or in an outer scope.
struct PendingUse {
  std::string_view name;
  std::size_t
      node;  // index, in the graph that judges, of the node that uses it or holds the subgraph that does
  std::string path;  // of the node that uses it
  std::string op;
};

/// The names of one graph or function body while its nodes are walked in order.
class NameScope {
 public:
  NameScope(const CheckScope& at, const NameScope* outer, CheckReport& report)
      : at_(at), outer_(outer), report_(report) {}

  /// Graph inputs and initializers of a graph, or inputs of a function.
  void define_graph(const onnx_io::Graph& graph, bool initializers_are_inputs);
  void define_function(const onnx_io::Function& function);

  void use_inputs(const NodeAt& at);
  void define_outputs(const NodeAt& at);

  /// Uses that a subgraph of node number node could not resolve.
  void add_pending(std::vector<PendingUse> uses, std::size_t node);

  /// Judges pending uses that a later node of this graph defines: out of order, or a cycle. Returns the
  /// others; with no outer scope they are undefined and reported.
  std::vector<PendingUse> judge_pending(const std::vector<onnx_io::Node>& nodes);

  /// Reports names that value_info states twice and, all at once, those that neither this graph nor one
  /// around it defines.
  void check_value_info(const std::vector<std::string_view>& names);

  /// Reports Gradient nodes that name what is no tensor here, once all nodes are walked.
  void check_gradients(const std::vector<onnx_io::Node>& nodes);

  /// Reports an output that this graph does not define.
  void check_output(const std::string& name);

 private:
  bool visible(std::string_view name) const;
  void warn_of_hidden(const onnx_io::Graph& body);

  const CheckScope& at_;
  const NameScope* outer_;
  CheckReport& report_;
  std::unordered_set<std::string_view> defined_;
  std::vector<PendingUse> pending_;
};

}  // namespace grurun::opset
