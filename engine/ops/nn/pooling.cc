#include "engine/ops/nn/pooling.h"

#include <algorithm>
#include <limits>

#include "engine/graph/refusal.h"
#include "engine/kernels/vec/vec_transpose.h"

namespace grurun::engine {

PoolShape pool_shape(const Shape& x, const WindowAttributes& attributes) {
  if (x.rank() < 3 || attributes.kernel_shape.empty()) refuse();
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

template <typename T>
constexpr T start_of(kernels::Fold fold) {
  return fold == kernels::Fold::sum ? 0 : -std::numeric_limits<T>::infinity();
}

template <typename T>
void fold_any_plane(const PoolShape& shape, kernels::Fold fold, const T* x, T* y) {
  if (fold == kernels::Fold::sum) {
    fold_windows(
        shape, x, start_of<T>(fold), [](T sum, T next) { return sum + next; }, y);
  } else {
    // The first of equals; NaN, the only value unequal to itself, where either is.
    fold_windows(
        shape, x, start_of<T>(fold),
        [](T so_far, T next) { return so_far >= next || so_far != so_far ? so_far : next; }, y);
  }
}

// Whether windows have no element in common, and all lie inside.
bool are_apart(const WindowAxis& axis) {
  return axis.kernel <= axis.stride && axis.dilation == 1 && axis.pad_begin == 0 &&
         (axis.output - 1) * axis.stride + axis.kernel <= axis.input;
}

// True where vectors serve: windows along one or two axes, and pads that are no more than some times the
// plane, for which there is memory.
bool serves(const PoolShape& shape) {
  const WindowAxis& wide = shape.axes.back();
  if (shape.axes.size() > 2 || (wide.stride > 2 && !are_apart(wide)) || shape.input_size == 0 ||
      shape.output_size == 0)
    return false;
  return (wide.kernel - 1) * wide.dilation <= wide.input && wide.pad_begin <= wide.input &&
         wide.pad_end <= wide.input;
}

// Rows that few vectors would be made of, copied side by side with their pads: windows along W are then those
// of one long row. folded: what is between the rows of folds.
template <typename T>
const T* fold_padded(const WindowAxis& wide, std::int64_t rows, kernels::Fold fold, const T* x,
                     ScratchVector<T>& buffer, std::int64_t& folded_pitch) {
  const std::int64_t needed = (wide.output - 1) * wide.stride + (wide.kernel - 1) * wide.dilation + 1;
  const std::int64_t pitch = (needed + wide.stride - 1) / wide.stride * wide.stride;
  const std::int64_t padded = rows * pitch + (wide.kernel - 1) * wide.dilation + 2;  // beyond the last row
  folded_pitch = pitch / wide.stride;
  const std::int64_t folds = rows * folded_pitch;
  buffer.resize(static_cast<std::size_t>(padded + folds));
  const T start = start_of<T>(fold);
  const std::int64_t before = std::min(wide.pad_begin, pitch), count = std::min(wide.input, pitch - before);
  T* to = buffer.data();
  for (std::int64_t row = 0; row < rows; ++row, to += pitch) {
    std::fill_n(to, before, start);
    std::copy_n(x + row * wide.input, count, to + before);
    std::fill(to + before + count, to + pitch, start);
  }
  T* const folded = buffer.data() + padded;
  std::fill(to, folded, start);
  kernels::vec_fold_rows(fold, buffer.data(), 1, {padded, 0, wide.kernel, wide.dilation, wide.stride, folds},
                         folded);
  return folded;
}

// Windows that are apart: cut up by the stride a row is a matrix, whose columns are their taps.
template <typename T>
const T* fold_columns(const WindowAxis& wide, std::int64_t rows, kernels::Fold fold, const T* x,
                      ScratchVector<T>& buffer) {
  constexpr std::int64_t cached_windows = 512;
  const bool is_one_row = wide.input == wide.output * wide.stride;
  const std::int64_t all = rows * wide.output, of_row = is_one_row ? all : wide.output;
  const std::int64_t at_once = std::min(of_row, cached_windows);
  buffer.resize(static_cast<std::size_t>(wide.kernel * at_once + all));
  T* const taps = buffer.data();
  T* const folded = taps + wide.kernel * at_once;
  for (std::int64_t row = 0; row * of_row < all; ++row) {
    for (std::int64_t i = 0; i < of_row; i += at_once) {
      const std::int64_t count = std::min(at_once, of_row - i);
      kernels::vec_transpose(x + row * wide.input + i * wide.stride, wide.stride, count, wide.kernel, taps,
                             count);
      kernels::vec_fold(fold, taps, count, wide.kernel, folded + row * of_row + i, count);
    }
  }
  return folded;
}

template <typename T>
void fold_by_vectors(const PoolShape& shape, kernels::Fold fold, const T* x, T* y, ScratchVector<T>& buffer) {
  constexpr std::int64_t long_row = 16;
  const WindowAxis& wide = shape.axes.back();
  const WindowAxis high = shape.axes.size() == 2 ? shape.axes.front() : WindowAxis{1, 1};
  const kernels::RowWindows along{wide.input,    wide.pad_begin, wide.kernel,
                                  wide.dilation, wide.stride,    wide.output};
  const T* folded = nullptr;
  std::int64_t pitch = wide.output;
  if (wide.stride > 2) {
    folded = fold_columns(wide, high.input, fold, x, buffer);
  } else if (along.end_inside() - along.first_inside() >= long_row) {
    buffer.resize(static_cast<std::size_t>(high.input * pitch));
    kernels::vec_fold_rows(fold, x, high.input, along, buffer.data());
    folded = buffer.data();
  } else {
    folded = fold_padded(wide, high.input, fold, x, buffer, pitch);
  }
  for (std::int64_t o = 0; o < high.output; ++o, y += wide.output) {
    const std::int64_t first = high.first_tap(o), taps = std::max<std::int64_t>(0, high.end_tap(o) - first);
    const T* from = taps == 0 ? folded : folded + (high.start(o) + first * high.dilation) * pitch;
    kernels::vec_fold(fold, from, high.dilation * pitch, taps, y, wide.output);
  }
}

}  // namespace

void fold_plane(const PoolShape& shape, kernels::Fold fold, const float* x, float* y,
                ScratchVector<float>& buffer) {
  if (!serves(shape)) return fold_any_plane(shape, fold, x, y);
  fold_by_vectors(shape, fold, x, y, buffer);
}

void fold_plane(const PoolShape& shape, kernels::Fold fold, const double* x, double* y,
                ScratchVector<float>&) {
  if (!serves(shape)) return fold_any_plane(shape, fold, x, y);
  ScratchVector<double> buffer;
  fold_by_vectors(shape, fold, x, y, buffer);
}

}  // namespace grurun::engine
