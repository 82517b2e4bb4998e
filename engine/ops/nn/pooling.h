// Walking the windows of a pooling: for each plane [D1...Dn] of [N, C, D1...Dn] and each output place, the
// runs of input inside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_pool.h"
#include "engine/ops/shared/float_pieces.h"
#include "engine/ops/shared/window.h"
#include "tensor/memory/scratch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// X [N, C, D1...Dn] under windows; Refuses fewer than three axes or a kernel_shape
/// that does not fit.
struct PoolShape {
  std::int64_t planes;                   // N * C
  std::int64_t input_size, output_size;  // elements of a plane
  WindowAxes axes;
  Shape output;  // [N, C, O1...On]
};

PoolShape pool_shape(const Shape& x, const WindowAttributes& attributes);

/// Steps to the next tap inside the window at place on all axes but the last; false when there is none.
inline bool next_tap(const WindowAxes& axes, std::span<const std::int64_t> place,
                     std::span<std::int64_t> tap) {
  for (std::size_t d = axes.size() - 1; d-- > 0;) {
    if (++tap[d] < axes[d].end_tap(place[d])) return true;
    tap[d] = axes[d].first_tap(place[d]);
  }
  return false;
}

/// Windows along one axis alone: y [outer, axis.output, inner] begins as `start` and takes in, tap by tap,
/// the places of x [outer, axis.input, inner] that lie inside: y = fold(y, x).
template <typename T, typename Fold>
void fold_axis(const WindowAxis& axis, std::int64_t outer, std::int64_t inner, const T* x, T start,
               const Fold& fold, T* y) {
  std::fill_n(y, outer * axis.output * inner, start);
  const auto take = [&](const T* from, std::int64_t step, std::int64_t n, T* to) {
    if (step == 1) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = fold(to[i], from[i]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = fold(to[i], from[i * step]);
    }
  };
  for (std::int64_t n = 0; n < outer; ++n, x += axis.input * inner, y += axis.output * inner) {
    if (inner > 1) {
      for (std::int64_t o = 0; o < axis.output; ++o) {
        for (std::int64_t k = axis.first_tap(o); k < axis.end_tap(o); ++k)
          take(x + (axis.start(o) + k * axis.dilation) * inner, 1, inner, y + o * inner);
      }
      continue;
    }
    const auto [first_k, end_k] = axis.taps_inside();
    for (std::int64_t k = first_k; k < end_k; ++k) {
      const auto [first, end] = axis.places_of(k);
      if (first < end) take(x + axis.start(first) + k * axis.dilation, axis.stride, end - first, y + first);
    }
  }
}

/// The windows of one plane x -> y, for a fold that may go axis by axis, each axis once: a window's maximum
/// is that along one axis of those along the others.
template <typename T, typename Fold>
void fold_windows(const PoolShape& shape, const T* x, T start, const Fold& fold, T* y) {
  ScratchVector<T> from, to;
  std::int64_t outer = shape.input_size, inner = 1;
  if (outer == 0) {
    std::fill_n(y, shape.output_size, start);
    return;
  }
  for (std::size_t d = shape.axes.size(); d-- > 0;) {
    const WindowAxis& axis = shape.axes[d];
    outer /= axis.input;
    to.resize(d == 0 ? 0 : static_cast<std::size_t>(outer * axis.output * inner));
    fold_axis(axis, outer, inner, d + 1 == shape.axes.size() ? x : from.data(), start, fold,
              d == 0 ? y : to.data());
    from.swap(to);
    inner *= axis.output;
  }
}

/// The windows of one plane x -> y, by vectors where the shape allows it; the same bits. buffer is kept for
/// the next plane.
void fold_plane(const PoolShape& shape, kernels::Fold fold, const float* x, float* y,
                ScratchVector<float>& buffer);
void fold_plane(const PoolShape& shape, kernels::Fold fold, const double* x, double* y,
                ScratchVector<float>& buffer);

/// Calls body(plane, buffer) for every plane, on several threads where there is enough to do, each with a
/// buffer.
template <typename Body>
void for_each_plane(const PoolShape& shape, Body&& body) {
  if (shape.output_size == 0) return;
  const std::int64_t grain = 1 + 16384 / shape.output_size;
  kernels::parallel_for(shape.planes, grain, [&](std::int64_t begin, std::int64_t end) {
    ScratchVector<float> buffer;
    for (std::int64_t plane = begin; plane < end; ++plane) body(plane, buffer);
  });
}

/// Calls body(plane of x, plane of y, buffer), in the type that elements of T are computed in, for every
/// plane.
template <typename T, typename Body>
void for_each_plane(const PoolShape& shape, const T* x, T* y, Body&& body) {
  if (shape.output_size == 0) return;
  const std::int64_t grain = 1 + 16384 / shape.output_size;
  kernels::parallel_for(shape.planes, grain, [&](std::int64_t begin, std::int64_t end) {
    ScratchVector<float> buffer;
    PieceReader<T> reader(x);
    PieceWriter<T> writer(y);
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const auto* from = reader.read(plane * shape.input_size, shape.input_size);
      body(from, writer.begin(plane * shape.output_size, shape.output_size), buffer);
      writer.end();
    }
  });
}

}  // namespace grurun::engine
