#include "opset/check/check_preparation.h"

#include <vector>

#include "opset/schema/registry.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;

class PreparationWalk {
 public:
  PreparationWalk(const FunctionIndex& functions, const PreparationFault& fault_of, CheckReport& report)
      : functions_(functions), fault_of_(fault_of), report_(report) {}

  void walk(const std::vector<Node>& nodes, const CheckScope& scope) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      NodeAt at{scope, nodes[i], i};
      judge(at);
      for (const onnx_io::Attribute& attribute : nodes[i].attributes)
        for (const auto& graph : attribute.graphs)
          walk(graph->nodes, CheckScope::of_subgraph(at, attribute.name));
    }
  }

 private:
  void judge(NodeAt& at) {
    if (at.node.attributes.empty() || functions_.find(at.node) != nullptr) return;
    if (report_.has_error_at(at.key())) return;
    std::optional<std::string> fault = fault_of_(at.node, *at.scope.imports);
    if (!fault) return;
    const auto import = at.scope.imports->find(at.node.domain);
    if (import != at.scope.imports->end())
      at.since_version = since_version(at.node.op_type, at.node.domain, import->second);
    report_.add(Rule::attributes_usable, at, *std::move(fault));
  }

  const FunctionIndex& functions_;
  const PreparationFault& fault_of_;
  CheckReport& report_;
};

}  // namespace

void check_preparation(const onnx_io::Model& model, const FunctionIndex& functions,
                       const PreparationFault& fault_of, CheckReport& report) {
  PreparationWalk walk(functions, fault_of, report);
  walk.walk(model.graph.nodes, CheckScope::of_main_graph(model));
  for (const onnx_io::Function& function : model.functions)
    walk.walk(function.nodes, CheckScope::of_function(function));
}

}  // namespace grurun::opset
