// ConcatFromSequence (ai.onnx 11).
//
// The tensors of a sequence joined along axis, or along a new axis when new_axis is 1.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/concat.h"
#include "engine/ops/shared/copy_elements.h"

namespace grurun::engine {

namespace {

RunFunction prepare_concat_from_sequence(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis");
  const bool new_axis = node.flag_attribute("new_axis", false);
  return [axis, new_axis](RunContext& run) {
    std::vector<Tensor> tensors;
    for (const Value& item : run.input(0).sequence().items) tensors.push_back(item.tensor());
    if (tensors.empty()) refuse();
    if (!new_axis) return run.set_output(0, concat(tensors, axis));
    const auto rank = static_cast<std::int64_t>(tensors.front().rank()) + 1;
    run.set_output(0, stack(tensors, static_cast<std::size_t>(normalized_axis(axis, rank))));
  };
}

}  // namespace

std::vector<OpRow> op_rows_concat_from_sequence() {
  return {{"", "ConcatFromSequence", {11}, prepare_concat_from_sequence}};
}

}  // namespace grurun::engine
