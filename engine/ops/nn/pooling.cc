#include "engine/ops/nn/pooling.h"

#include <algorithm>
#include <limits>

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

constexpr float start_of(kernels::Fold fold) {
  return fold == kernels::Fold::sum ? 0 : -std::numeric_limits<float>::infinity();
}

// Rows of a plane [H, W], side by side with their pads: windows along W are then those of one long row.
struct PaddedRows {
  WindowAxis high{1, 1}, wide;
  std::int64_t pitch, folded_pitch, padded,
      folded;  // elements of a row, and of all, before and after the fold along W

  explicit PaddedRows(const WindowAxes& axes) : wide(axes.back()) {
    if (axes.size() == 2) high = axes.front();
    const std::int64_t needed = (wide.output - 1) * wide.stride + (wide.kernel - 1) * wide.dilation + 1;
    pitch = (needed + wide.stride - 1) / wide.stride * wide.stride;
    folded_pitch = pitch / wide.stride;
    padded = high.input * pitch + (wide.kernel - 1) * wide.dilation + 2;  // windows reach beyond the last row
    folded = high.input * folded_pitch;
  }

  // True where that is no more than some times the plane, for which there is memory.
  static bool serves(const PoolShape& shape) {
    const WindowAxis& wide = shape.axes.back();
    if (shape.axes.size() > 2 || wide.stride > 2 || shape.input_size == 0 || shape.output_size == 0)
      return false;
    return (wide.kernel - 1) * wide.dilation <= wide.input && wide.pad_begin <= wide.input &&
           wide.pad_end <= wide.input;
  }
};

}  // namespace

void fold_plane(const PoolShape& shape, kernels::Fold fold, const float* x, float* y,
                ScratchVector<float>& buffer) {
  if (!PaddedRows::serves(shape)) return fold_plane<float>(shape, fold, x, y, buffer);
  const PaddedRows rows(shape.axes);
  const WindowAxis &high = rows.high, &wide = rows.wide;
  buffer.resize(static_cast<std::size_t>(rows.padded + rows.folded));
  float* const padded = buffer.data();
  float* const folded = padded + rows.padded;
  const float start = start_of(fold);
  const std::int64_t before = std::min(wide.pad_begin, rows.pitch);
  const std::int64_t count = std::min(wide.input, rows.pitch - before);
  float* to = padded;
  for (std::int64_t row = 0; row < high.input; ++row, to += rows.pitch) {
    std::fill_n(to, before, start);
    std::copy_n(x + row * wide.input, count, to + before);
    std::fill(to + before + count, to + rows.pitch, start);
  }
  std::fill(to, padded + rows.padded, start);
  kernels::vec_fold(fold, padded, wide.dilation, wide.kernel, wide.stride, folded, rows.folded);
  for (std::int64_t o = 0; o < high.output; ++o, y += wide.output) {
    const std::int64_t first = high.first_tap(o), taps = std::max<std::int64_t>(0, high.end_tap(o) - first);
    const float* from =
        taps == 0 ? folded : folded + (high.start(o) + first * high.dilation) * rows.folded_pitch;
    kernels::vec_fold(fold, from, high.dilation * rows.folded_pitch, taps, 1, y, wide.output);
  }
}

}  // namespace grurun::engine
