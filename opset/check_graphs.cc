#include "opset/check_graphs.h"

#include <fmt/format.h>

#include "opset/check_names.h"
#include "opset/declared_types.h"
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
    check_declarations(graph, scope);
    if (scope.parent == nullptr) check_element_types(graph, scope);
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

  /// What a graph says of the type of a name.
  struct Declaration {
    const char* by;
    ValueType type;
  };

  // Of names that no node makes; what inference finds of the others is compared elsewhere.
  void check_declarations(const Graph& graph, const CheckScope& scope) {
    std::unordered_map<std::string_view, Declaration> first;
    for (const onnx_io::Initializer& initializer : graph.initializers) {
      const Tensor& tensor = initializer.tensor;
      first.try_emplace(
          initializer.name,
          Declaration{"initializer", ValueType::tensor(tensor.dtype(), symbolic_shape(tensor.shape()))});
    }
    for (const onnx_io::ValueInfo& input : graph.inputs) {
      compare(first, input, "graph input", scope);
      first.try_emplace(input.name, Declaration{"graph input", input.type});
    }
    if (first.empty()) return;
    for (const onnx_io::ValueInfo& value : graph.value_info) compare(first, value, "value_info", scope);
    for (const onnx_io::ValueInfo& output : graph.outputs) compare(first, output, "graph output", scope);
  }

  void compare(const std::unordered_map<std::string_view, Declaration>& first,
               const onnx_io::ValueInfo& value, const char* by, const CheckScope& scope) {
    const auto found = first.find(value.name);
    if (found == first.end()) return;
    ValueType type = value.type;
    if (type.kind == ValueType::Kind::sparse_tensor) type.kind = ValueType::Kind::tensor;  // held dense
    const Declaration& other = found->second;
    if (may_be_one(type, other.type) && same_shape(type, other.type)) return;
    report_.add(Rule::initializer_type, scope,
                fmt::format("{} '{}' is {}, the {} of that name is declared {}", other.by, value.name,
                            other.type.describe(), by, value.type.describe()));
  }

  // TypeProto.Tensor: elem_type "MUST NOT have the value of UNDEFINED".
  void check_element_types(const Graph& graph, const CheckScope& scope) {
    const auto check = [&](const onnx_io::ValueInfo& value, const char* by) {
      if (value.type.kind != ValueType::Kind::tensor || value.type.elem != DType::undefined) return;
      report_.add(Rule::element_declared, scope,
                  fmt::format("{} '{}' is declared as a tensor without an element type; give it one", by,
                              value.name));
    };
    for (const onnx_io::ValueInfo& input : graph.inputs) check(input, "graph input");
    for (const onnx_io::ValueInfo& output : graph.outputs) check(output, "graph output");
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
