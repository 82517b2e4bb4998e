#include "engine/graph/deferred_body.h"

#include <algorithm>
#include <mutex>

#include "engine/graph/body_judge.h"
#include "onnx_io/models/walk.h"
#include "opset/schema/registry.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

/// The body as it was last planned, which runs of several threads share: one that runs a body keeps it while
/// another replaces it.
class PlannedBody {
 public:
  /// The plan for inputs of these types; made by `make` when the last was for others.
  template <typename Make>
  std::shared_ptr<const Plan> of(const std::string& types, const Make& make) {
    const std::lock_guard lock(mutex_);
    if (plan_ == nullptr || types_ != types) {
      plan_ = make();
      types_ = types;
    }
    return plan_;
  }

 private:
  std::mutex mutex_;
  std::string types_;  // of the inputs it was planned for
  std::shared_ptr<const Plan> plan_;
};

}  // namespace

RunFunction deferred_body(const onnx_io::Node& node, std::int64_t opset_version, const PlanOptions& options,
                          bool judged) {
  if (onnx_io::has_body(node)) fail_unsupported("{} has a body graph and no kernel", node.op_type);
  const int since = opset::since_version(node.op_type, node.domain, opset_version).value_or(1);
  // The step says which node it is, and what its inputs are.
  const auto judge =
      judged ? std::make_shared<const BodyJudge>(node, since, "", std::vector<int>(node.inputs.size()))
             : nullptr;
  return [node, opset_version, options, judge, body = std::make_shared<PlannedBody>()](RunContext& run) {
    Values inputs;
    std::vector<ValueType> types;
    std::vector<bool> present;
    std::string key;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      present.push_back(run.has_input(i));
      inputs.push_back(present.back() ? run.input(i) : Value());
      types.push_back(inputs.back().type());
      key += inputs.back().describe() + ";";
    }
    if (judge != nullptr)
      judge->judge([&](std::size_t i) { return inputs[i].empty() ? nullptr : &inputs[i]; });
    const std::shared_ptr<const Plan> plan = body->of(key, [&] {
      const auto function = opset::function_body(node, opset_version, types);
      if (!function)
        fail_unsupported("the schema gives no function body for inputs of these types ({})", key);
      return of_body([&] { return make_function_plan(*function, node.attributes, present, options); });
    });
    inputs.resize(plan->inputs.size());
    Values outputs = of_body([&] { return run.run_subgraph(*plan, std::move(inputs)); });
    for (std::size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
      if (!run.has_output(i)) continue;
      if (outputs[i].empty())
        fail_invalid("the function body does not make output '{}'", plan->output_names[i]);
      run.set_output(i, std::move(outputs[i]));
    }
  };
}

}  // namespace grurun::engine
