#include "engine/ops/nn/pooling.h"

#include <algorithm>

namespace grurun::engine {

PoolShape pool_shape(const Shape& x, const WindowAttributes& attributes) {
  if (x.rank() < 3) fail_invalid("X must be [N,C,D1...], but has shape {}", x.to_string());
  if (attributes.kernel_shape.empty()) fail_invalid("the attribute 'kernel_shape' is needed");
  PoolShape shape;
  shape.axes = window_axes(attributes, x.dims().subspan(2), attributes.kernel_shape, true);
  shape.planes = x.count(0, 2);
  shape.input_size = x.count(2, x.rank());
  shape.output = Shape{x[0], x[1]};
  for (const WindowAxis& axis : shape.axes) shape.output.push_back(axis.output);
  shape.output_size = shape.output.count(2, shape.output.rank());
  return shape;
}

namespace {

// Windows of [H, W] by vectors along W: where these are wide enough, and no taps that are all outside take
// time.
bool serves(const PoolShape& shape) {
  constexpr std::int64_t least = kernels::RowWindows::kLanes / 4;
  const WindowAxis& wide = shape.axes.back();
  return shape.axes.size() <= 2 && wide.stride <= 2 && shape.input_size != 0 && shape.output_size != 0 &&
         wide.output >= least && (wide.kernel - 1) * wide.dilation <= wide.input &&
         wide.pad_begin <= wide.input && wide.pad_end <= wide.input;
}

}  // namespace

void fold_plane(const PoolShape& shape, kernels::Fold fold, const float* x, float* y,
                ScratchVector<float>& buffer) {
  if (!serves(shape)) return fold_plane<float>(shape, fold, x, y, buffer);
  const WindowAxis& wide = shape.axes.back();
  const WindowAxis high = shape.axes.size() == 2 ? shape.axes.front() : WindowAxis{1, 1};
  const kernels::RowWindows along{wide.input,    wide.pad_begin, wide.kernel,
                                  wide.dilation, wide.stride,    wide.output};
  const std::int64_t pitch = along.pitch();
  buffer.resize(static_cast<std::size_t>(high.input * pitch));
  float* const folded = buffer.data();
  kernels::vec_fold_rows(fold, x, high.input, along, folded);
  for (std::int64_t o = 0; o < high.output; ++o, y += wide.output) {
    const std::int64_t first = high.first_tap(o), taps = std::max<std::int64_t>(0, high.end_tap(o) - first);
    const float* from = taps == 0 ? folded : folded + (high.start(o) + first * high.dilation) * pitch;
    kernels::vec_fold(fold, from, high.dilation * pitch, taps, y, wide.output);
  }
}

}  // namespace grurun::engine
