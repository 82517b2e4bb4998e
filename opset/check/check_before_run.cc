#include "opset/check/check_before_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "opset/check/check_names.h"
#include "opset/check/check_parts.h"
#include "opset/check/node_walk.h"
#include "opset/check/recurrent_node.h"
#include "opset/inference/check_limits.h"
#include "opset/pages/graph_view.h"
#include "opset/recurrent/recurrent_schema.h"
#include "opset/recurrent/recurrent_shapes.h"
#include "opset/recurrent/recurrent_traps.h"
#include "opset/schema/registry.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx_io::Graph;
using onnx_io::Node;

// What is known of a value of the main graph.
struct Known {
  ValueType type;
  const Tensor* value = nullptr;
};

ValueType type_of(const Tensor& tensor) {
  return ValueType::tensor(tensor.dtype(), symbolic_shape(tensor.shape()));
}

class LayerWalk {
 public:
  LayerWalk(const onnx_io::Model& model, const std::unordered_set<std::string>& fed,
            const ComputedValues& computed, CheckResult& result)
      : model_(model),
        fed_(fed),
        computed_(computed),
        result_(result),
        report_(result),
        functions_(model.functions) {}

  void walk() {
    // Bounded nesting: the walk recurses.
    CheckResult ignored;
    CheckReport limits(ignored);
    if (!check_limits(model_, functions_, limits).safe_to_recurse) return;
    for (Finding& hidden : hidden_names(model_)) result_.findings.push_back(std::move(hidden));
    check_forms_of_nodes(model_, functions_, report_);
    for_each_node_at(model_, [&](const NodeAt& at) {
      const RecurrentForm* form = find_recurrent_form(at.node.op_type, at.node.domain);
      if (form != nullptr && functions_.find(at.node) == nullptr) check(*form, at);
    });
  }

 private:
  void check(const RecurrentForm& form, NodeAt at) {
    const auto import = at.scope.imports->find(at.node.domain);
    if (import == at.scope.imports->end() || !since_version(at.node.op_type, at.node.domain, import->second))
      return;
    const SchemaInfo& schema = *find_recurrent_schema(form, import->second);
    at.since_version = schema.since_version;
    check_recurrent_node(at, form, schema, report_, model_.from_openvino_ir);
    if (at.scope.parent == nullptr && at.scope.function == nullptr) check_shapes(at, form, schema);
  }

  void check_shapes(const NodeAt& at, const RecurrentForm& form, const SchemaInfo& schema) {
    find_known();
    const Node& node = at.node;
    std::vector<RecurrentInputInfo> inputs;
    for (std::size_t i = 0; i < node.inputs.size() && i < schema.inputs.size(); ++i) {
      inputs.push_back(info_of(node.inputs[i]));
    }
    RecurrentFindings told;
    const RecurrentAttributes attributes = read_recurrent_attributes(form, schema, node.attributes, told);
    RecurrentFindings findings;
    const RecurrentSizes sizes = check_recurrent_shapes(form, attributes, inputs, findings);
    check_recurrent_traps(form, attributes, inputs, findings);
    for (RecurrentFinding& found : findings) {
      const RuleInfo& rule = recurrent_rule(node.op_type, found.rule);
      if (rule.severity == Severity::error) report_.mark_faulty(at);
      report_.add(rule, at.label(), std::move(found.message), found.section);
    }
    if (!report_.any_faulty()) keep_outputs(node, attributes, sizes);
  }

  RecurrentInputInfo info_of(const std::string& name) const {
    RecurrentInputInfo info;
    info.given = !name.empty();
    const auto found = known_.find(name);
    if (found == known_.end() || found->second.type.kind != ValueType::Kind::tensor) return info;
    info.shape = found->second.type.shape;
    info.value = found->second.value;
    return info;
  }

  void keep_outputs(const Node& node, const RecurrentAttributes& attributes, const RecurrentSizes& sizes) {
    const auto X = known_.find(node.inputs.at(0));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const auto shape = recurrent_output_shape(i, attributes, sizes);
      if (node.outputs[i].empty() || !shape) continue;
      const DType dtype = X == known_.end() ? DType::undefined : X->second.type.elem;
      known_[node.outputs[i]] = {ValueType::tensor(dtype, *shape), nullptr};
      result_.inferred[node.outputs[i]] = ValueType::tensor(dtype, *shape);
    }
  }

  void find_known() {
    if (!known_.empty()) return;
    const Graph& graph = model_.graph;
    for (const onnx_io::ValueInfo& input : graph.inputs) known_[input.name] = {input.type, nullptr};
    for (const onnx_io::Initializer& initializer : graph.initializers) {
      if (fed_.count(initializer.name) != 0) continue;
      known_[initializer.name] = {type_of(initializer.tensor), &initializer.tensor};
    }
    for (const Node& node : graph.nodes) {
      if (const Tensor* value = constant_value(node)) known_[node.outputs[0]] = {type_of(*value), value};
    }
    for (const auto& [name, value] : computed_) known_[name] = {type_of(value), &value};
  }

  const onnx_io::Model& model_;
  const std::unordered_set<std::string>& fed_;
  const ComputedValues& computed_;
  CheckResult& result_;
  CheckReport report_;
  const FunctionIndex functions_;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace

CheckResult check_before_run(const onnx_io::Model& model, const std::unordered_set<std::string>& fed,
                             const ComputedValues& computed) {
  CheckResult result;
  LayerWalk(model, fed, computed, result).walk();
  return result;
}

void require_no_errors(const CheckResult& result) {
  const auto is_error = [](const Finding& finding) { return finding.severity == Severity::error; };
  const auto first = std::ranges::find_if(result.findings, is_error);
  if (first == result.findings.end()) return;
  const auto others = std::ranges::count_if(result.findings, is_error) - 1;
  const std::string node = first->node.empty() ? "" : fmt::format("node '{}' ({}): ", first->node, first->op);
  const std::string more = others == 0 ? "" : fmt::format(", and {} more: grurun check lists them", others);
  if (first->code == rule_info(Rule::opset_known).code)
    fail_unsupported("{}{} [{}]{}", node, first->message, first->code, more);
  fail_invalid("{}{} [{}]{}", node, first->message, first->code, more);
}

}  // namespace grurun::opset
