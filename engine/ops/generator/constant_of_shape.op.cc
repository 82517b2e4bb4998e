// ConstantOfShape (ai.onnx 9, 20, 21, 23, 24, 25).
//
// A tensor of the shape that the input lists (empty: a scalar), each element that of the one-element tensor
// value, by default float 0.
#include "engine/graph/op_context.h"
#include "engine/ops/integer_list.h"
#include "engine/ops/strided.h"

namespace grurun::engine {

namespace {

RunFunction prepare_constant_of_shape(PrepareContext& node) {
  const Tensor value = node.tensor_attribute("value").value_or(Tensor::scalar(0.0f));
  if (value.size() != 1)
    fail_invalid("value must hold one element, but has shape {}", value.shape().to_string());
  return [value](RunContext& run) {
    const Shape shape(integer_list(run.tensor(0), "input"));
    for (const std::int64_t dim : shape) {
      if (dim < 0) fail_invalid("the shape to fill holds {}", dim);
    }
    run.set_output(0, strided_copy(value, 0, shape, ScratchVector<std::int64_t>(shape.rank(), 0)));
  };
}

}  // namespace

std::vector<OpRow> op_rows_constant_of_shape() {
  return {{"", "ConstantOfShape", {9, 20, 21, 23, 24, 25}, prepare_constant_of_shape}};
}

}  // namespace grurun::engine
