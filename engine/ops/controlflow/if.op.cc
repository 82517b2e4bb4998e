// If (ai.onnx 1, 11, 13, 16, 19, 21, 23, 24, 25).
//
//   outputs = cond ? then_branch() : else_branch()
//
// cond holds one bool, shape [] or [1]. Both branches have no inputs and as many outputs as the node; they
// see the names of the scope around the node. What one returns is compared with what the other declares of
// its outputs, in the first run also with what inference finds of those that it leaves open.
#include <algorithm>
#include <atomic>
#include <memory>

#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "engine/ops/controlflow/body.h"
#include "opset/pages/body_rules.h"

namespace grurun::engine {

namespace {

struct If {
  Body then_branch, else_branch;
  int since_version;
  std::shared_ptr<std::atomic<bool>> inferred = std::make_shared<std::atomic<bool>>(false);
};

bool leaves_element_open(const Plan& branch) {
  return std::ranges::any_of(branch.output_types, [](const ValueType& type) {
    return type.kind == ValueType::Kind::unknown ||
           (type.kind == ValueType::Kind::tensor && type.elem == DType::undefined);
  });
}

bool is_tensor_of(const Value& value, const ValueType& type) {
  return value.is_tensor() && type.kind == ValueType::Kind::tensor && value.tensor().dtype() == type.elem;
}

void require_alike(const If& node, bool cond, const Values& outputs, RunContext& run) {
  const Body& other = cond ? node.else_branch : node.then_branch;
  const bool infers = leaves_element_open(*other) && !node.inferred->exchange(true);
  const std::vector<ValueType> types = infers ? other.output_types({}, run) : std::vector<ValueType>();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ValueType& type = infers ? types[i] : other->output_types[i];
    const bool settled = node.since_version >= 11 && is_tensor_of(outputs[i], type);
    if (settled || type.kind == ValueType::Kind::unknown) continue;
    const ValueType made = outputs[i].type();
    opset::require_alike_branches(i, node.since_version,
                                  {node.then_branch->output_names[i], cond ? made : type},
                                  {node.else_branch->output_names[i], cond ? type : made});
  }
}

RunFunction prepare_if(PrepareContext& context) {
  const If node{prepare_body(context, "then_branch"), prepare_body(context, "else_branch"),
                context.since_version()};
  for (const auto& branch : {node.then_branch, node.else_branch})
    require_body(*branch, "If", 0, context.output_count());
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    judge_declared([&] {
      opset::require_alike_branches(i, node.since_version,
                                    {node.then_branch->output_names[i], node.then_branch->output_types[i]},
                                    {node.else_branch->output_names[i], node.else_branch->output_types[i]});
    });
  }
  return [node](RunContext& run) {
    const bool cond = single_element<bool>(run.tensor(0));
    Values outputs = run.run_subgraph(cond ? *node.then_branch : *node.else_branch, {});
    require_alike(node, cond, outputs, run);
    for (std::size_t i = 0; i < outputs.size(); ++i) run.set_output(i, std::move(outputs[i]));
  };
}

}  // namespace

std::vector<OpRow> op_rows_if() {
  return {{"", "If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, prepare_if}};
}

}  // namespace grurun::engine
