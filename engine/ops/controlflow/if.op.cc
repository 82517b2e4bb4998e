// If (ai.onnx 1, 11, 13, 16, 19, 21, 23, 24, 25).
//
//   outputs = cond ? then_branch() : else_branch()
//
// cond holds one bool, shape [] or [1]. Both branches have no inputs and as many outputs as the node; they
// see the names of the scope around the node.
#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "engine/ops/controlflow/body.h"

namespace grurun::engine {

namespace {

RunFunction prepare_if(PrepareContext& node) {
  const auto then_branch = node.subgraph("then_branch");
  const auto else_branch = node.subgraph("else_branch");
  for (const auto& branch : {then_branch, else_branch}) require_body(*branch, "If", 0, node.output_count());
  return [=](RunContext& run) {
    const bool cond = single_element<bool>(run.tensor(0));
    Values outputs = run.run_subgraph(cond ? *then_branch : *else_branch, {});
    for (std::size_t i = 0; i < outputs.size(); ++i) run.set_output(i, std::move(outputs[i]));
  };
}

}  // namespace

std::vector<OpRow> op_rows_if() {
  return {{"", "If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, prepare_if}};
}

}  // namespace grurun::engine
