// A node of a model, to be run by itself on values that are known.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "trial/intermediates.h"

namespace grurun::trial {

class LoneNode {
 public:
  /// is_known: whether a value is there, by its name with the path of its scope. Nodes of the same graph that
  /// make what is not known and the node reads, from what is, come along. All arguments must outlive this.
  LoneNode(const onnx_io::Model& model, const Scope& scope, const onnx_io::Node& node,
           const std::function<bool(const std::string&)>& is_known);

  /// The node with what it needs; its inputs have no declared types.
  const onnx_io::Model& model() const { return model_; }
  /// By graph input: the name of its value, with the path of its scope.
  const std::vector<std::string>& needs() const { return needs_; }
  /// What came along, but for Constant nodes, in the order of the graph.
  const std::vector<const onnx_io::Node*>& others() const { return others_; }
  /// A value without which the node cannot be run and that is not known; empty: none.
  const std::string& missing() const { return missing_; }

 private:
  void add(const Scope& scope, const onnx_io::Node& node);
  void resolve(const Scope& reader, const std::string& name);

  const Scope& own_;
  const std::function<bool(const std::string&)>& is_known_;
  onnx_io::Model model_;
  std::vector<std::string> needs_;
  std::set<std::string> resolved_;
  std::set<const onnx_io::Node*> added_;
  std::vector<const onnx_io::Node*> others_;
  std::string missing_;
};

}  // namespace grurun::trial
