// RoiAlign (ai.onnx 10, 16, 22).
//
//   Y[r, c, i, j] = the mean or maximum of X[batch_indices[r], c] at the sampling points of bin (i, j)
//
// X [N, C, H, W], rois [num_rois, 4] of (x1, y1, x2, y2), batch_indices [num_rois] -> Y [num_rois, C,
// output_height, output_width]. A RoI, scaled by spatial_scale, is cut into output_height * output_width
// bins; a bin holds sampling_ratio^2 points, or for 0 ceil(bin height) * ceil(bin width). A point beyond (-1,
// H) or
// (-1, W) is 0, else bilinear. half_pixel (since 16) shifts the RoI by -0.5; output_half_pixel, and version
// 10, do not, and make a RoI at least 1 high and wide. mode max takes the greatest of the weighted elements
// of all points, not of their sums: docs/ambiguities.md. Version 22 adds bfloat16.
#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

constexpr std::int64_t most_points = std::int64_t{1} << 20;  // of one RoI along one axis

struct RoiForm {
  bool max, half_pixel;
  std::int64_t height, width, sampling_ratio;
  float spatial_scale;
};

// A sampling point along one axis: elements low and high with their weights. Outside it has none.
template <typename C>
struct AxisPoint {
  std::int64_t low, high;
  C low_weight, high_weight;
  bool inside;
};

// The sampling points of all bins along one axis.
template <typename C>
struct AxisPoints {
  std::int64_t per_bin;
  std::vector<AxisPoint<C>> points;  // [bins * per_bin]
};

template <typename C>
AxisPoint<C> axis_point(C at, std::int64_t length) {
  if (!(at >= C(-1) && at <= static_cast<C>(length))) return {0, 0, 0, 0, false};
  at = std::max(at, C(0));
  const auto low = static_cast<std::int64_t>(at);
  if (low >= length - 1) return {length - 1, length - 1, C(1), C(0), true};
  const C part = at - static_cast<C>(low);
  return {low, low + 1, C(1) - part, part, true};
}

template <typename C>
AxisPoints<C> axis_points(C start, C end, std::int64_t bins, std::int64_t length, const RoiForm& form) {
  C extent = end - start;
  if (!form.half_pixel) extent = std::max(extent, C(1));
  const C bin = extent / static_cast<C>(bins);
  const C wanted = form.sampling_ratio > 0 ? static_cast<C>(form.sampling_ratio) : std::ceil(bin);
  if (!(wanted * static_cast<C>(bins) <= static_cast<C>(most_points))) {
    fail_unsupported("a RoI takes {} sampling points along one axis, more than {}",
                     wanted * static_cast<C>(bins), most_points);
  }
  AxisPoints<C> axis{static_cast<std::int64_t>(std::max(C(0), wanted)), {}};
  for (std::int64_t b = 0; b < bins; ++b) {
    for (std::int64_t i = 0; i < axis.per_bin; ++i) {
      const C inside_bin = (static_cast<C>(i) + C(0.5)) * bin / static_cast<C>(axis.per_bin);
      axis.points.push_back(axis_point(start + static_cast<C>(b) * bin + inside_bin, length));
    }
  }
  return axis;
}

template <typename C>
C bin_mean(const C* x, std::int64_t width, std::span<const AxisPoint<C>> ys,
           std::span<const AxisPoint<C>> xs) {
  C sum = 0;
  for (const AxisPoint<C>& v : ys) {
    if (!v.inside) continue;
    const C *low = x + v.low * width, *high = x + v.high * width;
    for (const AxisPoint<C>& h : xs) {
      if (!h.inside) continue;
      sum += v.low_weight * (h.low_weight * low[h.low] + h.high_weight * low[h.high]) +
             v.high_weight * (h.low_weight * high[h.low] + h.high_weight * high[h.high]);
    }
  }
  return sum / static_cast<C>(std::max<std::size_t>(1, ys.size() * xs.size()));
}

template <typename C>
C bin_max(const C* x, std::int64_t width, std::span<const AxisPoint<C>> ys,
          std::span<const AxisPoint<C>> xs) {
  bool any = false;
  C best = 0;
  const auto take = [&](C value) {
    if (!any || value > best || std::isnan(value)) best = value;
    any = true;
  };
  for (const AxisPoint<C>& v : ys) {
    const C *low = x + v.low * width, *high = x + v.high * width;
    for (const AxisPoint<C>& h : xs) {
      if (std::isnan(best)) return best;
      if (!v.inside || !h.inside) {
        take(C(0));
        continue;
      }
      take(v.low_weight * h.low_weight * low[h.low]);
      take(v.low_weight * h.high_weight * low[h.high]);
      take(v.high_weight * h.low_weight * high[h.low]);
      take(v.high_weight * h.high_weight * high[h.high]);
    }
  }
  return best;
}

// One RoI: x [C, H, W] of its batch -> y [C, height, width].
template <typename C>
void align(const C* x, const Shape& shape, const C* roi, const RoiForm& form, C* y) {
  const C shift = form.half_pixel ? C(0.5) : C(0);
  C corner[4];
  for (int i = 0; i < 4; ++i) {
    corner[i] = roi[i] * static_cast<C>(form.spatial_scale) - shift;
    if (!std::isfinite(corner[i])) refuse();
  }
  const AxisPoints<C> across = axis_points(corner[0], corner[2], form.width, shape[3], form);
  const AxisPoints<C> down = axis_points(corner[1], corner[3], form.height, shape[2], form);
  const std::int64_t operations = static_cast<std::int64_t>(across.points.size() * down.points.size()) + 1;
  kernels::parallel_for(shape[1], 4096 / operations + 1, [&](std::int64_t begin, std::int64_t end) {
    const auto of_bin = [](const AxisPoints<C>& axis, std::int64_t bin) {
      return std::span<const AxisPoint<C>>(axis.points.data() + bin * axis.per_bin,
                                           static_cast<std::size_t>(axis.per_bin));
    };
    for (std::int64_t c = begin; c < end; ++c) {
      const C* plane = x + c * shape[2] * shape[3];
      C* to = y + c * form.height * form.width;
      for (std::int64_t i = 0; i < form.height; ++i) {
        for (std::int64_t j = 0; j < form.width; ++j) {
          const auto ys = of_bin(down, i), xs = of_bin(across, j);
          *to++ = form.max ? bin_max<C>(plane, shape[3], ys, xs) : bin_mean<C>(plane, shape[3], ys, xs);
        }
      }
    }
  });
}

void check_shapes(const Shape& x, const Shape& rois, const Shape& batch_indices) {
  if (x.rank() != 4 || rois.rank() != 2 || rois[1] != 4 || !(batch_indices == Shape{rois[0]})) refuse();
  if (rois[0] != 0 && x.count(2, 4) == 0) refuse();
}

RoiForm read_form(PrepareContext& node) {
  RoiForm form{};
  form.max = node.string_attribute("mode", "avg") == "max";
  if (node.since_version() >= 16) {
    form.half_pixel = node.string_attribute("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  }
  form.height = node.int_attribute("output_height", 1);
  form.width = node.int_attribute("output_width", 1);
  form.sampling_ratio = node.int_attribute("sampling_ratio", 0);
  form.spatial_scale = node.float_attribute("spatial_scale", 1.0f);
  return form;
}

RunFunction prepare_roi_align(PrepareContext& node) {
  return [form = read_form(node)](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& rois = run.tensor(1);
    const Tensor& batch_indices = run.tensor(2);
    check_shapes(x.shape(), rois.shape(), batch_indices.shape());
    run.set_output(0, compute_in_float(x.dtype(), [&]<typename C>() {
                     const Tensor wide_x = widened<C>(x), wide_rois = widened<C>(rois);
                     const Shape& shape = x.shape();
                     Tensor y(dtype_of<C>, Shape{rois.dim(0), shape[1], form.height, form.width});
                     C* to = y.template mutable_data<C>();
                     const std::int64_t size = y.shape().count(1, 4);
                     for (std::int64_t r = 0; r < rois.dim(0); ++r) {
                       run.check_limits();
                       const std::int64_t n = batch_indices.data<std::int64_t>()[r];
                       if (n < 0 || n >= shape[0]) refuse();
                       align<C>(wide_x.data<C>() + n * shape.count(1, 4), shape, wide_rois.data<C>() + r * 4,
                                form, to + r * size);
                     }
                     return y;
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_roi_align() {
  return {{"", "RoiAlign", {10, 16, 22}, prepare_roi_align}};
}

}  // namespace grurun::engine
