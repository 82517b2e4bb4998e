// MaxPool (ai.onnx 1, 8, 10, 11, 12, 22).
//
//   Y[n, c, o...] = max of the window; Indices (since 8): where it stands in X, counted through N and C too
//
// NaN in a window is its maximum. Of equal maxima the first counts. storage_order 1 counts the spatial axes
// column-major. ceil_mode and dilations since 10; int8 and uint8 since 12.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/ops/nn/pooling.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

// The place that follows from a row-major one in the plane when axes are counted the other way round.
std::int64_t column_major(std::int64_t at, const WindowAxes& axes) {
  std::int64_t size = 1;
  for (const WindowAxis& axis : axes) size *= axis.input;
  std::int64_t out = 0;
  for (std::size_t d = axes.size(); d-- > 0;) {
    size /= axes[d].input;
    out += at % axes[d].input * size;
    at /= axes[d].input;
  }
  return out;
}

template <typename T>
bool replaces(T value, T best) {
  if constexpr (is_compute_float<T>) {
    const auto v = static_cast<ComputeType<T>>(value), b = static_cast<ComputeType<T>>(best);
    return (v > b) | ((v != v) & (b == b));
  } else {
    return value > best;
  }
}

template <typename T>
T nothing() {
  if constexpr (is_compute_float<T>) return static_cast<T>(-std::numeric_limits<float>::infinity());
  return std::numeric_limits<T>::lowest();
}

// Windows along the last axis, side by side: places of their maxima, -1 where nothing was seen yet, after the
// rows before the one that begins at row.
template <typename T>
void take_row(const WindowAxis& axis, const T* x, std::int64_t row, T* best, std::int64_t* places) {
  const auto [first_k, end_k] = axis.taps_inside();
  for (std::int64_t k = first_k; k < end_k; ++k) {
    const auto [first, end] = axis.places_of(k);
    std::int64_t at = row + axis.start(first) + k * axis.dilation;
    for (std::int64_t o = first; o < end; ++o, at += axis.stride) {
      const bool taken = (places[o] < 0) | replaces(x[at], best[o]);
      best[o] = taken ? x[at] : best[o];
      places[o] = taken ? at : places[o];
    }
  }
}

template <typename T>
void pool(const PoolShape& shape, const T* x, T* y, std::int64_t* indices, std::int64_t base,
          bool columns_first) {
  const WindowAxes& axes = shape.axes;
  const std::size_t outer = axes.size() - 1;
  const std::int64_t width = axes.back().output;
  if (shape.output_size == 0) return;
  ScratchVector<std::int64_t> place(axes.size(), 0), tap(axes.size(), 0);
  ScratchVector<std::int64_t> places(static_cast<std::size_t>(width));
  for (std::int64_t o = 0; o < shape.output_size; o += width) {
    std::ranges::fill(places, -1);
    std::fill_n(y + o, width, nothing<T>());
    bool any = true;
    for (std::size_t d = 0; d < outer; ++d) {
      tap[d] = axes[d].first_tap(place[d]);
      any = any && tap[d] < axes[d].end_tap(place[d]);
    }
    while (any) {
      std::int64_t row = 0;
      for (std::size_t d = 0; d < outer; ++d)
        row = (row + axes[d].start(place[d]) + tap[d] * axes[d].dilation) * axes[d + 1].input;
      take_row(axes.back(), x, row, y + o, places.data());
      any = next_tap(axes, place, tap);
    }
    for (std::int64_t i = 0; indices != nullptr && i < width; ++i) {
      const std::int64_t at = places[static_cast<std::size_t>(i)];
      indices[o + i] = at < 0 ? -1 : base + (columns_first ? column_major(at, axes) : at);
    }
    for (std::size_t d = outer; d-- > 0;) {
      if (++place[d] < axes[d].output) break;
      place[d] = 0;
    }
  }
}

// An empty window is below all integers.
template <typename T>
void narrow(const float* x, T* y, std::int64_t n) {
  constexpr float least = std::numeric_limits<T>::lowest();
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(x[i] < least ? least : x[i]);
}

// Without indices: the maxima alone. float holds every 16-bit float and 8-bit integer.
template <typename T>
void max_planes(const PoolShape& shape, const T* x, T* y) {
  if constexpr (is_compute_float<T>) {
    for_each_plane(shape, x, y, [&](const auto* from, auto* to, ScratchVector<float>& buffer) {
      fold_plane(shape, kernels::Fold::max, from, to, buffer);
    });
  } else {
    for_each_plane(shape, [&](std::int64_t plane, ScratchVector<float>& buffer) {
      ScratchVector<float> wide(static_cast<std::size_t>(shape.input_size + shape.output_size));
      float* const wide_y = wide.data() + shape.input_size;
      std::copy_n(x + plane * shape.input_size, shape.input_size, wide.data());
      fold_plane(shape, kernels::Fold::max, wide.data(), wide_y, buffer);
      narrow(wide_y, y + plane * shape.output_size, shape.output_size);
    });
  }
}

RunFunction prepare_max_pool(PrepareContext& node) {
  const int version = node.since_version();
  const auto attributes = window_attributes(node, {.dilations = version >= 10, .ceil_mode = version >= 10});
  const bool column_major = version >= 8 && node.flag_attribute("storage_order", false);
  return [=](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const PoolShape shape = pool_shape(x.shape(), attributes);
    Tensor& y = run.output(0, x.dtype(), shape.output);
    std::int64_t* indices =
        run.has_output(1) ? run.output(1, DType::int64, shape.output).mutable_data<std::int64_t>() : nullptr;
    dispatch(Join<Floats, TypeList<std::int8_t, std::uint8_t>>{}, x.dtype(), [&]<typename T>() {
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      if (!indices) return max_planes(shape, from, to);
      for_each_plane(shape, [&](std::int64_t plane, ScratchVector<float>&) {
        pool(shape, from + plane * shape.input_size, to + plane * shape.output_size,
             indices + plane * shape.output_size, plane * shape.input_size, column_major);
      });
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_max_pool() {
  return {{"", "MaxPool", {1, 8, 10, 11, 12, 22}, prepare_max_pool}};
}

}  // namespace grurun::engine
