// A body graph as it was before it was planned, for the types that it does not declare.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/graph/scope.h"
#include "onnx_io/models/model.h"

namespace grurun::engine {

/// Whether the body leaves the element type of an output open, or a size of it.
bool leaves_types_open(const onnx_io::Graph& body);

class BodySource {
 public:
  struct Context {
    const onnx_io::Graph& body;
    const onnx_io::OpsetImports& imports;
    const AttributeBindings* attributes;  // of the function around it; nullptr: none
    std::shared_ptr<const std::vector<onnx_io::Function>> functions;
  };

  /// outer_names: values of outer scopes that the body reads; outer_values returns them.
  BodySource(const Context& context, std::vector<std::string> outer_names,
             std::shared_ptr<const Plan> outer_values);

  /// What the body declares of its outputs; what it leaves open as inference finds it for inputs of these
  /// types and for the outer values of this run. Unknown where it does not.
  std::vector<ValueType> output_types(const std::vector<ValueType>& inputs, RunContext& run) const;

 private:
  onnx_io::Model model_;  // whose main graph is the body
  std::shared_ptr<const std::vector<onnx_io::Function>> functions_;
  std::vector<std::string> outer_names_;
  std::shared_ptr<const Plan> outer_values_;
};

/// What the preparation of a node with bodies offers beside PrepareContext.
class BodyScope {
 public:
  virtual ~BodyScope() = default;

  /// nullptr for a body that declares the types of its outputs.
  virtual std::shared_ptr<const BodySource> source_of(const char* name) = 0;
  /// As the node names it; empty for an omitted one, or beyond the last.
  virtual std::string output_name(std::size_t index) const = 0;
};

}  // namespace grurun::engine
