#include "opset/check_graphs.h"

#include <fmt/format.h>

#include "opset/check_names.h"
#include "tensor/value_type.h"

namespace grurun::opset {

namespace {

using onnx_io::Function;
using onnx_io::Graph;
using onnx_io::Node;

class GraphWalk {
 public:
  GraphWalk(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report)
      : model_(model), report_(report), nodes_(functions, report, model.from_openvino_ir) {}

  void walk_main() {
    const CheckScope scope = CheckScope::of_main_graph(model_);
    walk_graph(model_.graph, scope, nullptr);
  }

  void walk_function(const Function& function) {
    const CheckScope scope = CheckScope::of_function(function);
    NameScope names(scope, nullptr, report_);
    names.define_function(function);
    walk_nodes(function.nodes, scope, names);
    for (const std::string& output : function.outputs) names.check_output(output);
  }

 private:
  std::vector<PendingUse> walk_graph(const Graph& graph, const CheckScope& scope, const NameScope* outer) {
    NameScope names(scope, outer, report_);
    names.define_graph(graph, model_.ir_version < 4);
    check_initializers(graph, scope);
    std::vector<PendingUse> unresolved = walk_nodes(graph.nodes, scope, names);
    for (const onnx_io::ValueInfo& output : graph.outputs) names.check_output(output.name);
    return unresolved;
  }

  std::vector<PendingUse> walk_nodes(const std::vector<Node>& nodes, const CheckScope& scope,
                                     NameScope& names) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const NodeAt at{scope, nodes[i], i};
      names.use_inputs(at);
      nodes_.check(scope, nodes[i], i);
      walk_subgraphs(at, names);
      names.define_outputs(at);
    }
    return names.judge_pending(nodes);
  }

  void walk_subgraphs(const NodeAt& at, NameScope& names) {
    for (const onnx_io::Attribute& attribute : at.node.attributes) {
      for (const auto& graph : attribute.graphs) {
        const CheckScope inner = CheckScope::of_subgraph(at, attribute.name);
        names.add_pending(walk_graph(*graph, inner, &names), at.index);
      }
    }
  }

  void check_initializers(const Graph& graph, const CheckScope& scope) {
    std::unordered_map<std::string_view, const ValueType*> inputs;
    for (const onnx_io::ValueInfo& input : graph.inputs) inputs.try_emplace(input.name, &input.type);
    for (const onnx_io::Initializer& initializer : graph.initializers) {
      const auto input = inputs.find(initializer.name);
      if (input != inputs.end()) check_initializer(initializer, *input->second, scope);
    }
  }

  void check_initializer(const onnx_io::Initializer& initializer, const ValueType& declared,
                         const CheckScope& scope) {
    const bool dense = declared.kind == ValueType::Kind::tensor;
    if (!dense && declared.kind != ValueType::Kind::sparse_tensor) return;
    const Tensor& tensor = initializer.tensor;
    bool same = declared.elem == DType::undefined || declared.elem == tensor.dtype();
    if (declared.shape) {
      same = same && declared.shape->size() == tensor.rank();
      for (std::size_t i = 0; same && i < tensor.rank(); ++i) {
        const Dim& dim = (*declared.shape)[i];
        same = !dim.value || *dim.value == tensor.dim(i);
      }
    }
    if (same) return;
    report_.add(
        Rule::initializer_type, scope,
        fmt::format("initializer '{}' is tensor({}) {}, the graph input of that name is declared {}{}",
                    initializer.name, dtype_name(tensor.dtype()), tensor.shape().to_string(),
                    declared.to_string(), declared.shape ? " " + to_string(*declared.shape) : ""));
  }

  const onnx_io::Model& model_;
  CheckReport& report_;
  NodeChecker nodes_;
};

}  // namespace

void check_graphs(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report) {
  GraphWalk walk(model, functions, report);
  walk.walk_main();
  for (const Function& function : model.functions) walk.walk_function(function);
}

}  // namespace grurun::opset
