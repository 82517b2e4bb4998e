#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx/onnx_pb.h"
#include "onnx_io/models/walk.h"
#include "opset/check/check_names.h"
#include "opset/check/check_node.h"
#include "opset/check/check_parts.h"
#include "opset/findings/labels.h"
#include "opset/schema/declared_types.h"
#include "tensor/value_type.h"

namespace grurun::opset {

namespace {

using onnx_io::Function;
using onnx_io::Graph;
using onnx_io::Node;

std::string_view name_of(const onnx_io::ValueInfo& value) {
  return value.name;
}

std::string_view name_of(const onnx::ValueInfoProto& value) {
  return value.name();
}

template <typename Values>
std::vector<std::string_view> names_of(const Values& values) {
  std::vector<std::string_view> names;
  for (const auto& value : values) names.push_back(name_of(value));
  return names;
}

class GraphWalk {
 public:
  GraphWalk(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report)
      : model_(model), report_(report), nodes_(functions, report, model.from_openvino_ir) {}

  void walk_main() {
    const CheckScope scope = CheckScope::of_main_graph(model_);
    walk_graph(model_.graph, scope, nullptr);
  }

  /// proto: nullptr where the model was not read from a message. The plain form keeps no value_info of
  /// functions.
  void walk_function(const Function& function, const onnx::FunctionProto* proto) {
    const CheckScope scope = CheckScope::of_function(function);
    NameScope names(scope, nullptr, report_);
    names.define_function(function);
    walk_nodes(function.nodes, scope, names);
    for (const std::string& output : function.outputs) names.check_output(output);
    if (proto != nullptr) names.check_value_info(names_of(proto->value_info()));
  }

 private:
  std::vector<PendingUse> walk_graph(const Graph& graph, const CheckScope& scope, const NameScope* outer) {
    NameScope names(scope, outer, report_);
    names.define_graph(graph, model_.ir_version < 4);
    check_declarations(graph, scope);
    if (scope.parent == nullptr) check_element_types(graph, scope);
    std::vector<PendingUse> unresolved = walk_nodes(graph.nodes, scope, names);
    for (const onnx_io::ValueInfo& output : graph.outputs) names.check_output(output.name);
    names.check_value_info(names_of(graph.value_info));
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
    check_node_names(nodes, scope);
    names.check_gradients(nodes);
    return names.judge_pending(nodes);
  }

  // IR.md: node names "identify specific nodes in the graph", and are "unique within a namespace".
  void check_node_names(const std::vector<Node>& nodes, const CheckScope& scope) {
    std::unordered_map<std::string_view, std::size_t> counts;
    std::string_view first;
    std::size_t repeated = 0;
    for (const Node& node : nodes) {
      if (node.name.empty() || ++counts[node.name] != 2) continue;
      if (repeated++ == 0) first = node.name;
    }
    if (repeated == 0) return;
    const std::string more = repeated == 1 ? "" : fmt::format(", and {} more names so", repeated - 1);
    report_.add(Rule::node_name_unique, scope,
                fmt::format("{} nodes are named '{}'{}: give each its own, or none", counts[first],
                            shortened(std::string(first), 200), more));
  }

  void walk_subgraphs(const NodeAt& at, NameScope& names) {
    onnx_io::for_each_body(at.node, [&](const Graph& body, const onnx_io::Attribute& attribute) {
      const CheckScope inner = CheckScope::of_subgraph(at, attribute.name);
      if (auto fault = initialized_input_fault(body, model_.ir_version))
        report_.add(Rule::name_unique, at, *std::move(fault));
      names.add_pending(walk_graph(body, inner, &names), at.index);
    });
  }

  /// What a graph says of the type of a name.
  struct Declaration {
    std::string_view by;
    ValueType type;
  };

  // Against each other; what inference finds is compared with them elsewhere.
  void check_declarations(const Graph& graph, const CheckScope& scope) {
    std::unordered_map<std::string_view, Declaration> first;
    for (const onnx_io::Initializer& initializer : graph.initializers) {
      const Tensor& tensor = initializer.tensor;
      first.try_emplace(
          initializer.name,
          Declaration{"initializer", ValueType::tensor(tensor.dtype(), symbolic_shape(tensor.shape()))});
    }
    const auto declare = [&](const std::vector<onnx_io::ValueInfo>& values, std::string_view by) {
      for (const onnx_io::ValueInfo& value : values) {
        const auto [other, added] = first.try_emplace(value.name, Declaration{by, value.type});
        if (!added) compare(other->second, value, by, scope);
      }
    };
    declare(graph.inputs, "graph input");
    declare(graph.outputs, "graph output");
    declare(graph.value_info, "value_info");
  }

  void compare(const Declaration& other, const onnx_io::ValueInfo& value, std::string_view by,
               const CheckScope& scope) {
    if (by == "value_info" && by == other.by) return;  // GRAPH009
    ValueType type = value.type;
    if (type.kind == ValueType::Kind::sparse_tensor) type.kind = ValueType::Kind::tensor;  // held dense
    if (may_be_one(type, other.type) && same_shape(type, other.type)) return;
    report_.add(
        Rule::initializer_type, scope,
        fmt::format("{} '{}' is {}, {} {} of that name is declared {}", other.by, value.name,
                    other.type.describe(), by == other.by ? "another" : "the", by, value.type.describe()));
  }

  static std::string kind_of(const ValueType& type) {
    switch (type.kind) {
      case ValueType::Kind::sequence:
        return "a sequence";
      case ValueType::Kind::optional:
        return "an optional";
      default:
        return "a map";
    }
  }

  // TypeProto.Tensor: elem_type "MUST NOT have the value of UNDEFINED".
  void check_element_types(const Graph& graph, const CheckScope& scope) {
    const auto check = [&](const onnx_io::ValueInfo& value, const char* by) {
      const ValueType* type = &value.type;
      while (type->element != nullptr) type = type->element.get();
      const bool is_tensor =
          type->kind == ValueType::Kind::tensor || type->kind == ValueType::Kind::sparse_tensor;
      const bool holds_nothing = type != &value.type && type->kind == ValueType::Kind::unknown;
      if (!holds_nothing && (!is_tensor || type->elem != DType::undefined)) return;
      report_.add(
          Rule::element_declared, scope,
          fmt::format("{} '{}' is declared as {} without an element type; give it one", by, value.name,
                      type == &value.type ? "a tensor" : kind_of(value.type) + " of tensors"));
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
  for (std::size_t i = 0; i < model.functions.size(); ++i) {
    const bool read = model.proto != nullptr && std::cmp_less(i, model.proto->functions_size());
    walk.walk_function(model.functions[i], read ? &model.proto->functions(static_cast<int>(i)) : nullptr);
  }
}

}  // namespace grurun::opset
