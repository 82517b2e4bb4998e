// ConstantOfShape (ai.onnx 9, 20, 21, 23, 24, 25).
//
// A tensor of the shape that the input lists (empty: a scalar), each element that of the one-element tensor
// value, by default float 0.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"
#include "tensor/memory/memory.h"

namespace grurun::engine {

namespace {

// From here on, mapping the same memory again and again is faster than filling as much, and takes none:
// models whose weights were left out have hundreds of megabytes of them.
constexpr std::int64_t large_bytes = std::int64_t{4} << 20;

Tensor filled(const Tensor& value, const Shape& shape) {
  const auto element_bytes = static_cast<std::int64_t>(dtype_size(value.dtype()));
  const std::int64_t bytes = checked_mul(shape.element_count(), element_bytes);
  if (bytes >= large_bytes && value.dtype() != DType::string) {
    const std::span element(static_cast<const std::byte*>(value.raw()), value.byte_size());
    if (const auto memory = memory::repeated(element, static_cast<std::size_t>(bytes)))
      return Tensor::borrow(value.dtype(), shape, memory.get(), memory);
  }
  return strided_copy(value, 0, shape, ScratchVector<std::int64_t>(shape.rank(), 0));
}

RunFunction prepare_constant_of_shape(PrepareContext& node) {
  const Tensor value = node.tensor_attribute("value").value_or(Tensor::scalar(0.0f));
  if (value.size() != 1) refuse();
  return [value](RunContext& run) {
    if (run.tensor(0).rank() != 1) refuse();
    const Shape shape(integer_list(run.tensor(0)));
    for (const std::int64_t dim : shape)
      if (dim < 0) refuse();
    run.set_output(0, filled(value, shape));
  };
}

}  // namespace

std::vector<OpRow> op_rows_constant_of_shape() {
  return {{"", "ConstantOfShape", {9, 20, 21, 23, 24, 25}, prepare_constant_of_shape}};
}

}  // namespace grurun::engine
