// Turns graphs and functions into steps of a plan; see plan.h for what the result means.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "engine/graph/arrangements.h"
#include "engine/graph/plan.h"
#include "engine/graph/scope.h"
#include "onnx_io/models/model.h"
#include "opset/pages/page.h"
#include "opset/schema/function_calls.h"
#include "opset/schema/registry.h"

namespace grurun::engine {

class PlanBuilder {
 public:
  /// functions must outlive the builder.
  PlanBuilder(const std::vector<onnx_io::Function>& functions, const PlanOptions& options);

  std::shared_ptr<const Plan> plan_model(const onnx_io::Model& model);
  std::shared_ptr<const Plan> plan_function(const onnx_io::Function& function, AttributeBindings attributes,
                                            const std::vector<bool>& present);

  /// The body graph of a node in scope, as a plan of its own with captures from that scope.
  std::shared_ptr<const Plan> plan_subgraph(const onnx_io::Graph& graph, Scope& scope,
                                            const std::string& label);

  /// The model-local function that the node calls, or nullptr.
  const onnx_io::Function* local_function(const onnx_io::Node& node) const { return functions_.find(node); }
  /// The scope of a function's body within the caller's frame, before its inputs are defined.
  Scope function_scope(const onnx_io::Function& function, const onnx_io::Node& node,
                       const Scope& caller) const;
  /// Counts a node that planning makes; Error(limit) beyond PlanOptions::max_nodes.
  void count_node();
  Arrangements& arrangements() { return arrangements_; }
  /// The functions of the model, for plans that outlive it; nullptr: none.
  std::shared_ptr<const std::vector<onnx_io::Function>> kept_functions();

 private:
  std::shared_ptr<const Plan> plan_graph(const onnx_io::Graph& graph, Frame& frame, Scope& scope);
  void add_initializers(const onnx_io::Graph& graph, Scope& scope);
  void bind_outputs(const std::vector<std::string>& names, Scope& scope);

  void add_node(const onnx_io::Node& node, Scope& scope);
  void add_resolved_node(const onnx_io::Node& node, Scope& scope);
  void add_kernel_step(const onnx_io::Node& node, Scope& scope, const OpRow& row, int since_version,
                       std::int64_t opset_version);
  void add_function_body(const onnx_io::Node& node, Scope& scope, int since_version,
                         std::int64_t opset_version);
  /// A step that builds the schema's body when it runs, once the types of its inputs are known.
  void add_deferred_body(const onnx_io::Node& node, Scope& scope, int since_version,
                         std::int64_t opset_version);
  /// since_version: of the operator that the function is the body of; 0 for a function of the model.
  void inline_function(const onnx_io::Function& function, const onnx_io::Node& node, Scope& scope,
                       int since_version = 0);

  /// Makes a constant of the step's output where all of its inputs are; false where it stays a step.
  bool fold(const onnx_io::Node& node, opset::Folded bounded_by, const Step& step, Scope& scope);

  std::vector<int> input_slots(const onnx_io::Node& node, Scope& scope);
  /// Makes slots for the outputs and binds their names.
  std::vector<int> define_outputs(const onnx_io::Node& node, Scope& scope);
  void push_step(Step step, Scope& scope, const std::vector<std::shared_ptr<const Plan>>& bodies);
  Scope nested(const Scope& scope, Frame& frame, const std::string& label) const;

  const PlanOptions& options_;
  const std::vector<onnx_io::Function>& model_functions_;
  const opset::FunctionIndex functions_;
  std::int64_t node_count_ = 0;
  Arrangements arrangements_;
  std::int64_t ir_version_ = std::numeric_limits<std::int64_t>::max();    // of the model; newest elsewhere
  std::shared_ptr<const std::vector<onnx_io::Function>> kept_functions_;  // once a body asks for them
  // Bytes of the model's constants, of all that was folded, and by how much that grew in doing so; see
  // PlanOptions::most_folded_growth.
  std::size_t constant_bytes_ = 0, folded_bytes_ = 0, folded_growth_ = 0;
};

}  // namespace grurun::engine
