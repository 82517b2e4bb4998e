// Which values of a model its outputs depend on.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "onnx_io/models/model.h"
#include "trial/intermediates.h"

namespace grurun::trial {

class LiveValues {
 public:
  /// The model must outlive it.
  explicit LiveValues(const onnx_io::Model& model) : model_(model) {}

  /// Whether an output of the model, and of the body that the value stands in, depends on it. node: of the
  /// main graph, as MadeValue has it; name: without the scope's path.
  bool has(std::size_t node, const Scope& scope, const std::string& name);

 private:
  using Names = std::unordered_set<std::string>;
  const Names& names(const onnx_io::Graph& graph);

  const onnx_io::Model& model_;
  std::unordered_map<const onnx_io::Graph*, Names> by_graph_;
};

}  // namespace grurun::trial
