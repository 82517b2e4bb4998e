#include "trial/preparation_fault.h"

#include <algorithm>
#include <unordered_set>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "onnx_io/models/walk.h"
#include "opset/findings/rule_error.h"

namespace grurun::trial {

std::optional<opset::NodeFault> preparation_fault(const onnx_io::Node& node,
                                                  const onnx_io::OpsetImports& imports,
                                                  const opset::NodeInputs& inputs) {
  const bool refers = std::ranges::any_of(
      node.attributes, [](const onnx_io::Attribute& attribute) { return !attribute.ref_attr_name.empty(); });
  // Those of Gradient name values of the graph around it.
  if (refers || onnx_io::has_body(node) || node.op_type == "Gradient") return std::nullopt;
  onnx_io::Model model;
  model.opset_imports = imports;
  model.graph.nodes.push_back(node);
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string& input = node.inputs[i];
    if (input.empty() || !names.insert(input).second) continue;
    if (inputs.constants[i] != nullptr)
      model.graph.initializers.push_back({input, *inputs.constants[i]});
    else
      model.graph.inputs.push_back({input, {}});
  }
  engine::PlanOptions options;
  options.fuse = false;
  try {
    const auto plan = engine::make_plan(model, options);
    if (!inputs.may_run || !model.graph.inputs.empty()) return std::nullopt;
    engine::RunOptions limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    limits.max_iterations = 1'000'000;
    engine::run_plan(*plan, {}, limits);
  } catch (const opset::RuleError& error) {
    return opset::NodeFault{error.code(), error.sentence()};
  } catch (const Error&) {  // what is not done here, or takes too much
  }
  return std::nullopt;
}

}  // namespace grurun::trial
