#include "trial/step_work.h"

#include <set>

#include "opset/inference/infer_types.h"
#include "opset/summary/flops.h"

namespace grurun::trial {
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
  const auto see_values = [&](const engine::Plan& observed, const auto& see) {
    options.observe = [&](const engine::Step& step, std::size_t output, const Value& value) {
      see(step, step.output_names[output], value);
    };
    engine::run_plan(observed, inputs, options);
  };
  see_values(plan, [&](const engine::Step& step, const std::string& name, const Value& value) {
    types[name] = value.type();
    maker[name] = step.op;
  });
  std::set<std::string> hidden;  // what no step makes, as it was fused with the one that reads it
  const engine::PlanOptions apart{.fed = engine::fed_names(model.graph, inputs), .fuse = false};
  see_values(*engine::make_plan(model, apart), [&](const auto&, const std::string& name, const Value& value) {
    types[name] = value.type();
    if (!maker.contains(name)) hidden.insert(name);
  });

  std::map<std::string, Work> all;
  for (auto at = model.graph.nodes.rbegin(); at != model.graph.nodes.rend(); ++at) {
    const onnx_io::Node& node = *at;
    std::set<std::string> names(node.inputs.begin(), node.inputs.end());
    names.insert(node.outputs.begin(), node.outputs.end());
    std::string op;
    for (const std::string& name : node.outputs) {
      if (const auto found = maker.find(name); found != maker.end()) op = found->second;
    }
    if (op.empty()) continue;  // computed when the plan was made
    Work& work = all[op];
    if (opset::has_flops(node)) work.flops += static_cast<double>(opset::node_flops(node, types).value_or(0));
    for (const std::string& name : names) {
      if (hidden.contains(name)) {
        maker[name] = op;  // the step that reads it makes it, too
      } else {
        work.bytes += bytes_of(name, types);
      }
    }
  }
  return all;
}

}  // namespace grurun::trial
