#include <optional>
#include <utility>
#include <vector>

#include "opset/check/check_parts.h"
#include "opset/check/node_walk.h"
#include "opset/pages/forms.h"
#include "opset/pages/graph_view.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

namespace {

// What inference knows of the inputs of a node of the main graph, and constants there.
class KnownInputs {
 public:
  KnownInputs(const onnx_io::Model& model, const KnownValues& known) : known_(known), view_(model.graph) {}

  NodeFacts facts(const onnx_io::Node& node, int since_version) const {
    std::vector<InputFacts> inputs(node.inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].given = !node.inputs[i].empty();
      const auto type = known_.inferred.find(node.inputs[i]);
      if (type == known_.inferred.end() || type->second.kind != ValueType::Kind::tensor) continue;
      inputs[i].dtype = type->second.elem;
      inputs[i].shape = type->second.shape;
    }
    return {node, since_version, std::move(inputs),
            [this, &node](std::size_t i) { return value(node.inputs[i]); }};
  }

 private:
  const Tensor* value(const std::string& name) const {
    const auto computed = known_.computed.find(name);
    return computed != known_.computed.end() ? &computed->second : view_.constant(name);
  }

  const KnownValues& known_;
  const GraphView view_;
};

std::optional<int> version_of(const NodeAt& at) {
  const auto import = at.scope.imports->find(at.node.domain);
  if (import == at.scope.imports->end()) return std::nullopt;
  return since_version(at.node.op_type, at.node.domain, import->second);
}

template <typename Facts>
void for_each_form(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report,
                   const Facts& found_in) {
  for_each_node_at(model, [&](NodeAt at) {
    if (!may_have_form(at.node) || functions.find(at.node) != nullptr) return;
    at.since_version = version_of(at);
    if (!at.since_version) return;
    for (FormFound& form : found_in(at))
      report.add(rule_info(form.rule), at.label(), std::move(form.message), "");
  });
}

}  // namespace

void check_forms_of_nodes(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report) {
  for_each_form(model, functions, report, [](const NodeAt& at) {
    return forms_in_node(
        NodeFacts(at.node, *at.since_version, std::vector<InputFacts>(at.node.inputs.size())));
  });
}

void check_forms_of_inputs(const onnx_io::Model& model, const FunctionIndex& functions,
                           const KnownValues& known, CheckReport& report) {
  const KnownInputs inputs(model, known);
  for_each_form(model, functions, report, [&](const NodeAt& at) {
    const bool in_main = at.scope.parent == nullptr && at.scope.function == nullptr;
    return in_main ? forms_in_inputs(inputs.facts(at.node, *at.since_version)) : std::vector<FormFound>();
  });
}

}  // namespace grurun::opset
