// Concat (ai.onnx 1, 4, 11, 13).
//
// The inputs joined along axis; all other dimensions must agree. axis is 1 by default in version 1, required
// later; it may count from the end since 11.
#include "engine/ops/shared/concat.h"

#include "engine/graph/op_context.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

RunFunction prepare_concat(PrepareContext& node) {
  const std::int64_t axis =
      node.since_version() == 1 ? node.int_attribute("axis", 1) : node.int_attribute("axis");
  return [axis](RunContext& run) {
    ScratchVector<Tensor> inputs;
    inputs.reserve(run.input_count());
    for (std::size_t i = 0; i < run.input_count(); ++i) inputs.push_back(run.tensor(i));
    run.set_output(0, concat(inputs, axis));
  };
}

}  // namespace

std::vector<OpRow> op_rows_concat() {
  return {{"", "Concat", {1, 4, 11, 13}, prepare_concat}};
}

}  // namespace grurun::engine
