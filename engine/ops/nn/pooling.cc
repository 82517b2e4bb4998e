#include "engine/ops/nn/pooling.h"

namespace grurun::engine {

PoolShape pool_shape(const Shape& x, const WindowAttributes& attributes) {
  if (x.rank() < 3) fail_invalid("X must be [N,C,D1...], but has shape {}", x.to_string());
  if (attributes.kernel_shape.empty()) fail_invalid("the attribute 'kernel_shape' is needed");
  PoolShape shape;
  shape.axes = window_axes(attributes, x.dims().subspan(2), attributes.kernel_shape);
  shape.planes = x.count(0, 2);
  shape.input_size = x.count(2, x.rank());
  shape.output = Shape{x[0], x[1]};
  for (const WindowAxis& axis : shape.axes) shape.output.push_back(axis.output);
  shape.output_size = shape.output.count(2, shape.output.rank());
  return shape;
}

}  // namespace grurun::engine
