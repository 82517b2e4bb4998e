#include "cli/step_work.h"

#include <functional>
#include <set>

#include "opset/flops.h"
#include "opset/infer_types.h"

namespace grurun::cli {
namespace {

using Types = std::map<std::string, ValueType>;

// 0 for what is no tensor or has an unknown dimension.
double bytes_of(const std::string& name, const Types& types) {
  const auto found = types.find(name);
  if (found == types.end() || found->second.kind != ValueType::Kind::tensor || !found->second.shape) return 0;
  double elements = 1;
  for (const Dim& dim : *found->second.shape) elements *= static_cast<double>(dim.value.value_or(0));
  return elements * static_cast<double>(dtype_size(found->second.elem));
}

}  // namespace

std::map<std::string, Work> work_by_operator(const onnx_io::Model& model, const engine::Plan& plan,
                                             const std::vector<Value>& inputs, engine::RunOptions options) {
  Types types = opset::infer_types(model, {});
  for (const auto& initializer : model.graph.initializers) {
    types[initializer.name] = Value(initializer.tensor).type();
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].empty()) types[plan.input_names[i]] = inputs[i].type();
  }
  std::map<std::string, std::string> maker;  // of a value: the operator
  const engine::Step* const steps = plan.steps.data();
  options.observe = [&](const engine::Step& step, std::size_t output, const Value& value) {
    const std::less<> before;
    if (before(&step, steps) || !before(&step, steps + plan.steps.size())) return;  // inside of a body
    types[step.output_names[output]] = value.type();
    maker[step.output_names[output]] = step.op;
  };
  engine::run_plan(plan, inputs, options);

  std::map<std::string, Work> all;
  for (const onnx_io::Node& node : model.graph.nodes) {
    std::set<std::string> names(node.inputs.begin(), node.inputs.end());
    names.insert(node.outputs.begin(), node.outputs.end());
    const std::string* op = nullptr;
    for (const std::string& name : node.outputs) {
      if (const auto found = maker.find(name); found != maker.end()) op = &found->second;
    }
    if (op == nullptr) continue;  // computed when the plan was made
    Work& work = all[*op];
    if (opset::has_flops(node)) work.flops += static_cast<double>(opset::node_flops(node, types).value_or(0));
    for (const std::string& name : names) work.bytes += bytes_of(name, types);
  }
  return all;
}

}  // namespace grurun::cli
