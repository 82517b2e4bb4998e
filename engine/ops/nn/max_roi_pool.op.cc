// MaxRoiPool (ai.onnx 1, 22, which adds bfloat16).
//
//   Y[r, c, i, j] = max of X[batch_id, c] within bin (i, j) of RoI r; 0 for a bin without an element
//
// X [N, C, H, W], rois [num_rois, 5] of (batch_id, x1, y1, x2, y2), pooled_shape (P, Q) -> Y [num_rois, C, P,
// Q]. Corners, scaled by spatial_scale, are rounded (halves away from 0) and belong to the RoI, which is at
// least 1 high and wide; bin i of an axis of extent E covers floor(i * E / P) up to ceil((i + 1) * E / P).
// NaN in a bin is its maximum.
#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

struct Range {
  std::int64_t begin, end;
};

// A coordinate of a RoI as the index of an element.
template <typename C>
std::int64_t element_at(C coordinate, float spatial_scale) {
  const C at = std::round(coordinate * static_cast<C>(spatial_scale));
  if (!(std::abs(at) <= C(0x1p39))) refuse();
  return static_cast<std::int64_t>(at);
}

// The bins of an axis of this length for a RoI from first to last.
std::vector<Range> bins(std::int64_t first, std::int64_t last, std::int64_t count, std::int64_t length) {
  const __int128 extent = std::max<std::int64_t>(1, last - first + 1);
  std::vector<Range> ranges;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto begin = static_cast<std::int64_t>(i * extent / count);
    const auto end = static_cast<std::int64_t>(((i + 1) * extent + count - 1) / count);
    ranges.push_back({std::clamp<std::int64_t>(first + begin, 0, length),
                      std::clamp<std::int64_t>(first + end, 0, length)});
  }
  return ranges;
}

template <typename C>
C bin_max(const C* plane, std::int64_t width, Range rows, Range columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return C(0);
  C best = plane[rows.begin * width + columns.begin];
  for (std::int64_t y = rows.begin; y < rows.end; ++y) {
    for (std::int64_t x = columns.begin; x < columns.end; ++x) {
      const C value = plane[y * width + x];
      if (value > best || std::isnan(value)) best = value;
    }
    if (std::isnan(best)) return best;
  }
  return best;
}

// One RoI: x [N, C, H, W] -> y [C, P, Q].
template <typename C>
void pool(const C* x, const Shape& shape, const C* roi, float spatial_scale,
          const std::vector<std::int64_t>& pooled, C* y) {
  if (!(roi[0] >= 0 && roi[0] < static_cast<C>(shape[0]) && roi[0] == std::floor(roi[0]))) refuse();
  const auto columns =
      bins(element_at(roi[1], spatial_scale), element_at(roi[3], spatial_scale), pooled[1], shape[3]);
  const auto rows =
      bins(element_at(roi[2], spatial_scale), element_at(roi[4], spatial_scale), pooled[0], shape[2]);
  const std::int64_t size = shape[2] * shape[3];
  const C* batch = x + static_cast<std::int64_t>(roi[0]) * shape[1] * size;
  kernels::parallel_for(shape[1], 16384 / (pooled[0] * pooled[1]) + 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t c = begin; c < end; ++c) {
                            C* to = y + c * pooled[0] * pooled[1];
                            for (const Range& row : rows) {
                              for (const Range& column : columns)
                                *to++ = bin_max(batch + c * size, shape[3], row, column);
                            }
                          }
                        });
}

RunFunction prepare_max_roi_pool(PrepareContext& node) {
  const std::vector<std::int64_t> pooled = node.ints_attribute("pooled_shape");
  return [pooled, scale = node.float_attribute("spatial_scale", 1.0f)](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& rois = run.tensor(1);
    if (x.rank() != 4 || rois.rank() != 2 || rois.dim(1) != 5) refuse();
    run.set_output(0, compute_in_float(x.dtype(), [&]<typename C>() {
                     const Tensor wide_x = widened<C>(x), wide_rois = widened<C>(rois);
                     Tensor y(dtype_of<C>, Shape{rois.dim(0), x.dim(1), pooled[0], pooled[1]});
                     C* to = y.template mutable_data<C>();
                     const std::int64_t size = y.shape().count(1, 4);
                     for (std::int64_t r = 0; r < rois.dim(0); ++r) {
                       run.check_limits();
                       pool<C>(wide_x.data<C>(), x.shape(), wide_rois.data<C>() + r * 5, scale, pooled,
                               to + r * size);
                     }
                     return y;
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_max_roi_pool() {
  return {{"", "MaxRoiPool", {1, 22}, prepare_max_roi_pool}};
}

}  // namespace grurun::engine
