// MaxUnpool (ai.onnx 9, 11, 22).
//
//   Y[I[i]] = X[i] for every element i, 0 elsewhere; of equal indices the last in row-major order counts
//
// X and I [N, C, D1...Dn]. An index counts row-major through [N, C, U1...Un] with U = (D - 1) * stride -
// pad_begin - pad_end + kernel, the shape that the attributes give. With output_shape, Y has that shape
// instead and holds [U1...Un] at its begin, zeros behind: docs/ambiguities.md. Version 22 adds bfloat16.
#include "engine/graph/op_context.h"
#include "engine/ops/shared/integer_list.h"
#include "engine/ops/shared/strided.h"
#include "engine/ops/shared/window.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

// The shape in which the indices count.
Shape unpooled_shape(const Shape& x, const WindowAttributes& window) {
  const std::size_t spatial = window.kernel_shape.size();
  if (spatial == 0 || x.rank() != spatial + 2) refuse();
  if (!window.strides.empty() && window.strides.size() != spatial) refuse();
  if (!window.pads.empty() && window.pads.size() != 2 * spatial) refuse();
  Shape shape{x[0], x[1]};
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t stride = window.strides.empty() ? 1 : window.strides[d];
    const std::int64_t pads = window.pads.empty() ? 0 : window.pads[d] + window.pads[spatial + d];
    const std::int64_t steps = checked_mul(x[d + 2] - 1, stride);
    const std::int64_t length = checked_add(steps, window.kernel_shape[d]) - pads;
    if (length < 0) refuse();
    shape.push_back(length);
  }
  return shape;
}

Shape resolve_output(const Tensor* output_shape, const Shape& unpooled) {
  if (!output_shape) return unpooled;
  const Shape shape(integer_list(*output_shape));
  bool fits = shape.rank() == unpooled.rank() && shape[0] == unpooled[0] && shape[1] == unpooled[1];
  for (std::size_t d = 2; fits && d < shape.rank(); ++d) fits = shape[d] >= unpooled[d];
  if (!fits) refuse();
  return shape;
}

Tensor scatter(const Tensor& x, const Tensor& indices, const Shape& unpooled) {
  Tensor y = Tensor::zeros(x.dtype(), unpooled);
  const std::int64_t* index = indices.data<std::int64_t>();
  dispatch_width(x.dtype(), [&]<typename T>() {
    const T* from = static_cast<const T*>(x.raw());
    T* to = static_cast<T*>(y.mutable_raw());
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if (index[i] < 0 || index[i] >= y.size()) refuse();
      to[index[i]] = from[i];
    }
  });
  return y;
}

RunFunction prepare_max_unpool(PrepareContext& node) {
  const WindowAttributes window = window_attributes(node, {.dilations = false, .auto_pad = false});
  return [window](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& indices = run.tensor(1);
    if (!(indices.shape() == x.shape())) refuse();
    const Shape unpooled = unpooled_shape(x.shape(), window);
    const Shape shape = resolve_output(run.optional_tensor(2), unpooled);
    const Tensor placed = scatter(x, indices, unpooled);
    if (shape == unpooled) {
      run.set_output(0, placed);
      return;
    }
    Tensor y = Tensor::zeros(x.dtype(), shape);
    strided_copy_into(y, 0, row_major_strides(shape), placed, 0, row_major_strides(unpooled), unpooled);
    run.set_output(0, y);
  };
}

}  // namespace

std::vector<OpRow> op_rows_max_unpool() {
  return {{"", "MaxUnpool", {9, 11, 22}, prepare_max_unpool}};
}

}  // namespace grurun::engine
