// Gradient (ai.onnx.preview.training 1).
//
//   Outputs[i] = d sum(y) / d xs[i], where y is computed from xs and zs by the nodes of the graph that the
//   node stands in, and xs and zs have the values of the inputs
//
// The path is run again with these values on a tape and differentiated in reverse mode. Tensors that y
// depends on, but that are neither in xs and zs nor computed from them, are constants with the values they
// have in the graph. A y of several elements counts as their sum. An operator on the path without a rule is
// unsupported.
#include <algorithm>

#include "engine/ops/training/gradient_tape.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Differentiable = TypeList<float, double, Float16>;

void run_gradient(const GradientPath& path, const Plan& outside, RunContext& run) {
  Tape tape(run);
  std::vector<Tape::Id> inputs;
  for (std::size_t i = 0; i < run.input_count(); ++i) {
    inputs.push_back(tape.add(run.tensor(i)));
    if (i < path.xs.size() && !Differentiable::set.contains(run.tensor(i).dtype())) {
      fail_invalid("'{}' of xs is {}, but must be float16, float or double", path.xs[i],
                   dtype_name(run.tensor(i).dtype()));
    }
  }
  const Values values = run.run_subgraph(outside, {});
  const auto find = [&](const std::string& name) {
    const auto at = std::ranges::find(path.outside, name) - path.outside.begin();
    return tape.add(values.at(static_cast<std::size_t>(at)));
  };
  const std::vector<Tape::Id> gradients = tape.differentiate(path, inputs, find);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (run.has_output(i)) run.set_output(i, tape.value(gradients[i]));
  }
}

RunFunction prepare_gradient(PrepareContext& node) {
  GradientNames names;
  names.xs = node.strings_attribute("xs");
  names.zs = node.strings_attribute("zs");
  names.y = node.string_attribute("y");
  auto& scope = dynamic_cast<GradientScope&>(node);
  auto path = std::make_shared<const GradientPath>(scope.gradient_path(names));
  auto outside = scope.values_of(path->outside);
  return [path, outside](RunContext& run) { run_gradient(*path, *outside, run); };
}

}  // namespace

std::vector<OpRow> op_rows_gradient() {
  return {{"ai.onnx.preview.training", "Gradient", {1}, prepare_gradient}};
}

}  // namespace grurun::engine
