// Flatten (ai.onnx 1, 9, 11, 13, 21, 23, 24, 25).
//
// [d_0 ... d_n] -> [d_0 * ... * d_(axis-1), d_axis * ... * d_n]; axis (default 1) lies in [0, rank], since 11
// in [-rank, rank].
#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

RunFunction prepare_flatten(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", 1);
  const bool from_end = node.since_version() >= 11;
  return [axis, from_end](RunContext& run) {
    Tensor input = run.take_tensor(0);
    const auto rank = static_cast<std::int64_t>(input.rank());
    const std::int64_t least = from_end ? -rank : 0;
    if (axis < least || axis > rank) refuse();
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    run.set_output(0,
                   input.reshaped(Shape{input.shape().count(0, at), input.shape().count(at, input.rank())}));
  };
}

}  // namespace

std::vector<OpRow> op_rows_flatten() {
  return {{"", "Flatten", {1, 9, 11, 13, 21, 23, 24, 25}, prepare_flatten}};
}

}  // namespace grurun::engine
