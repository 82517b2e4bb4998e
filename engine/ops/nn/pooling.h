// Walking the windows of a pooling: for each plane [D1...Dn] of [N, C, D1...Dn] and each output place, the
// runs of input inside.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/parallel.h"
#include "engine/ops/window.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// X [N, C, D1...Dn] under windows; Throws Error(invalid_model) for fewer than three axes or a kernel_shape
/// that does not fit.
struct PoolShape {
  std::int64_t planes;                   // N * C
  std::int64_t input_size, output_size;  // elements of a plane
  std::vector<WindowAxis> axes;
  Shape output;  // [N, C, O1...On]
};

PoolShape pool_shape(const Shape& x, const WindowAttributes& attributes);

/// Steps to the next tap inside the window at place on all axes but the last; false when there is none.
inline bool next_tap(const std::vector<WindowAxis>& axes, const std::vector<std::int64_t>& place,
                     std::vector<std::int64_t>& tap) {
  for (std::size_t d = axes.size() - 1; d-- > 0;) {
    if (++tap[d] < axes[d].end_tap(place[d])) return true;
    tap[d] = axes[d].first_tap(place[d]);
  }
  return false;
}

/// For windows of one plane: run(first element of the plane that the run starts at, step between its
/// elements, their number). before(o) is called when output place o (row-major in the plane) begins, after(o)
/// when its runs are done.
template <typename Before, typename Run, typename After>
void for_each_window(const std::vector<WindowAxis>& axes, Before&& before, Run&& run, After&& after) {
  const std::size_t rank = axes.size();
  const WindowAxis& inner = axes.back();
  std::vector<std::int64_t> place(rank, 0), tap(rank, 0);
  std::int64_t places = 1;
  for (const WindowAxis& axis : axes) places *= axis.output;
  for (std::int64_t o = 0; o < places; ++o) {
    before(o, place);
    bool any = true;
    for (std::size_t d = 0; d < rank; ++d) {
      tap[d] = axes[d].first_tap(place[d]);
      any = any && tap[d] < axes[d].end_tap(place[d]);
    }
    const std::int64_t first = tap[rank - 1];
    const std::int64_t count = inner.end_tap(place[rank - 1]) - first;
    if (any) {
      do {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < rank; ++d) {
          at = at * axes[d].input + axes[d].start(place[d]) + tap[d] * axes[d].dilation;
        }
        run(at, inner.dilation, count);
      } while (next_tap(axes, place, tap));
    }
    after(o);
    for (std::size_t d = rank; d-- > 0;) {
      if (++place[d] < axes[d].output) break;
      place[d] = 0;
    }
  }
}

/// Calls body(plane) for every plane, on several threads where there is enough to do.
template <typename Body>
void for_each_plane(const PoolShape& shape, Body&& body) {
  const std::int64_t grain = 1 + 16384 / std::max<std::int64_t>(1, shape.output_size);
  kernels::parallel_for(shape.planes, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) body(plane);
  });
}

}  // namespace grurun::engine
