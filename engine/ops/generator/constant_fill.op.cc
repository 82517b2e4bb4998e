// ConstantFill (ai.onnx 1, experimental in onnx 1.2 to 1.4).
//
// A tensor of dtype whose elements are value. Its shape is, without an input, the attribute shape; with one,
// the input's shape or, where input_as_shape is 1, its values, then extra_shape.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using FillTypes = TypeList<float, std::int32_t, std::int64_t, bool>;

Tensor one_value(std::int64_t dtype, float value) {
  Tensor one(static_cast<DType>(dtype), {});
  dispatch(FillTypes{}, one.dtype(), [&]<typename T>() { *one.mutable_data<T>() = static_cast<T>(value); });
  return one;
}

Shape filled_shape(ScratchVector<std::int64_t> dims, std::span<const std::int64_t> extra) {
  dims.insert(dims.end(), extra.begin(), extra.end());
  for (const std::int64_t dim : dims)
    if (dim < 0) refuse();
  return Shape(dims);
}

RunFunction prepare_constant_fill(PrepareContext& node) {
  const Tensor value = one_value(node.int_attribute("dtype", 1), node.float_attribute("value", 0));
  const bool values_are_dims = node.int_attribute("input_as_shape", 0) != 0;
  const auto dims = node.ints_attribute("shape");
  const auto extra = node.ints_attribute("extra_shape");
  const bool has_input = node.has_input(0);
  return [=](RunContext& run) {
    ScratchVector<std::int64_t> of_input(dims.begin(), dims.end());
    if (has_input) {
      const Tensor& input = run.tensor(0);
      if (values_are_dims)
        of_input = integer_list(input);
      else
        of_input.assign(input.shape().begin(), input.shape().end());
    }
    const Shape shape = filled_shape(of_input, extra);
    run.set_output(0, strided_copy(value, 0, shape, ScratchVector<std::int64_t>(shape.rank(), 0)));
  };
}

}  // namespace

std::vector<OpRow> op_rows_constant_fill() {
  return {{"", "ConstantFill", {1}, prepare_constant_fill}};
}

}  // namespace grurun::engine
