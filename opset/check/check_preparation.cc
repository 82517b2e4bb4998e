#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "opset/check/check_parts.h"
#include "opset/check/node_walk.h"
#include "opset/pages/graph_view.h"
#include "opset/recurrent/recurrent_rules.h"
#include "opset/schema/signature.h"

namespace grurun::opset {

namespace {

// Larger ones are weights, which no rule restricts.
constexpr std::int64_t most_elements = 4096;
// Of an output that a check may compute.
constexpr std::int64_t most_computed = 1 << 20;

using Constants = std::unordered_map<std::string_view, const Tensor*>;

// Of the main graph.
Constants constants_of(const onnx_io::Model& model, const ComputedValues& computed) {
  Constants constants;
  for (const auto& [name, value] : computed) constants[name] = &value;
  for (const onnx_io::Initializer& initializer : model.graph.initializers)
    constants[initializer.name] = &initializer.tensor;
  constexpr int initializers_are_no_inputs = 4;
  if (model.ir_version >= initializers_are_no_inputs)
    for (const onnx_io::ValueInfo& input : model.graph.inputs) constants.erase(input.name);
  for (const onnx_io::Node& node : model.graph.nodes)
    if (const Tensor* value = constant_value(node)) constants[node.outputs.at(0)] = value;
  std::erase_if(constants, [](const auto& entry) { return entry.second->size() > most_elements; });
  return constants;
}

bool are_small(const std::vector<std::string>& outputs, const std::map<std::string, ValueType>& inferred) {
  return std::ranges::all_of(outputs, [&](const std::string& name) {
    const auto type = inferred.find(name);
    if (type == inferred.end() || !type->second.shape) return true;
    std::int64_t count = 1;
    for (const Dim& dim : *type->second.shape)
      if (__builtin_mul_overflow(count, dim.value.value_or(1), &count)) return false;
    return count <= most_computed;
  });
}

// Of an input of which nothing but the type is looked at.
std::optional<Tensor> zero_of_type(const std::map<std::string, ValueType>& inferred,
                                   const std::string& name) {
  const auto type = inferred.find(name);
  if (type == inferred.end() || type->second.kind != ValueType::Kind::tensor ||
      type->second.elem == DType::undefined)
    return std::nullopt;
  return Tensor::zeros(type->second.elem, Shape{});
}

}  // namespace

void check_preparation(const onnx_io::Model& model, const FunctionIndex& functions, const KnownValues& known,
                       const NodeFaults& faults_of, CheckReport& report) {
  const Constants constants = constants_of(model, known.computed);
  for_each_node_at(model, [&](NodeAt at) {
    if (functions.find(at.node) != nullptr || report.is_faulty(at.key())) return;
    const auto import = at.scope.imports->find(at.node.domain);
    if (import == at.scope.imports->end()) return;
    const Signature* signature = find_signature(at.node.op_type, at.node.domain, import->second);
    const bool in_main_graph = at.scope.parent == nullptr && at.scope.function == nullptr;
    NodeInputs inputs;
    std::optional<Tensor> of_type;
    for (const std::string& name : at.node.inputs) {
      const auto found = in_main_graph ? constants.find(name) : constants.end();
      inputs.constants.push_back(found == constants.end() ? nullptr : found->second);
    }
    if (at.node.op_type == "CastLike" && at.node.inputs.size() == 2 && inputs.constants[0] != nullptr &&
        inputs.constants[1] == nullptr)
      of_type = zero_of_type(known.inferred, at.node.inputs[1]);
    if (of_type) inputs.constants[1] = &*of_type;
    inputs.may_run =
        std::ranges::any_of(inputs.constants, [](const Tensor* value) { return value != nullptr; });
    if (!inputs.may_run && (signature == nullptr || signature->attributes.empty())) return;
    inputs.may_run = inputs.may_run && are_small(at.node.outputs, known.inferred);
    std::optional<NodeFault> fault = faults_of(at.node, *at.scope.imports, inputs);
    const RuleInfo* rule = fault ? find_rule(fault->code) : nullptr;
    if (rule == nullptr) return;
    if (signature != nullptr) at.since_version = signature->since_version;
    report.add(*rule, at.label(), std::move(fault->message), "");
  });
}

}  // namespace grurun::opset
