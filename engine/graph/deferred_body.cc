#include "engine/graph/deferred_body.h"

#include <algorithm>
#include <mutex>

#include "engine/graph/node_rules.h"
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

/// What a check says of an operator that is not ONNX's: there is no kernel to judge the inputs.
void require_page(const onnx_io::Node& node, std::int64_t opset_version, const Values& inputs) {
  if (opset::newest_opset(node.domain)) return;
  std::vector<opset::InputFacts> facts(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    facts[i].given = !inputs[i].empty();
    if (!inputs[i].is_tensor()) continue;
    facts[i] = {true, inputs[i].tensor().dtype(), symbolic_shape(inputs[i].tensor().shape())};
  }
  const auto value_of = [&](std::size_t i) { return inputs[i].is_tensor() ? &inputs[i].tensor() : nullptr; };
  const int since = opset::since_version(node.op_type, node.domain, opset_version).value_or(1);
  require_facts(opset::NodeFacts(node, since, std::move(facts), value_of));
}

}  // namespace

RunFunction deferred_body(const onnx_io::Node& node, std::int64_t opset_version, const PlanOptions& options) {
  if (onnx_io::has_body(node)) fail_unsupported("{} has a body graph and no kernel", node.op_type);
  return [node, opset_version, options, body = std::make_shared<PlannedBody>()](RunContext& run) {
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
    const std::shared_ptr<const Plan> plan = body->of(key, [&] {
      require_page(node, opset_version, inputs);
      const auto function = opset::function_body(node, opset_version, types);
      if (!function)
        fail_unsupported("the schema gives no function body for inputs of these types ({})", key);
      return make_function_plan(*function, node.attributes, present, options);
    });
    inputs.resize(plan->inputs.size());
    Values outputs = run.run_subgraph(*plan, std::move(inputs));
    for (std::size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
      if (!run.has_output(i)) continue;
      if (outputs[i].empty())
        fail_invalid("the function body does not make output '{}'", plan->output_names[i]);
      run.set_output(i, std::move(outputs[i]));
    }
  };
}

}  // namespace grurun::engine
