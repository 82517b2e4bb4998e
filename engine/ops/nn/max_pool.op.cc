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
#include "engine/ops/type_dispatch.h"

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
void pool(const PoolShape& shape, const T* x, T* y, std::int64_t* indices, std::int64_t base,
          bool columns_first) {
  std::int64_t best = -1;
  for_each_window(
      shape.axes, [&](std::int64_t, const auto&) { best = -1; },
      [&](std::int64_t at, std::int64_t step, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i, at += step) {
          if (best < 0 || x[at] > x[best]) {
            best = at;
          } else if constexpr (is_compute_float<T>) {
            if (std::isnan(static_cast<ComputeType<T>>(x[at])) &&
                !std::isnan(static_cast<ComputeType<T>>(x[best]))) {
              best = at;
            }
          }
        }
      },
      [&](std::int64_t o) {
        if constexpr (is_compute_float<T>) {
          y[o] = best >= 0 ? x[best] : static_cast<T>(-std::numeric_limits<float>::infinity());
        } else {
          y[o] = best >= 0 ? x[best] : std::numeric_limits<T>::lowest();
        }
        if (indices)
          indices[o] = best < 0 ? -1 : base + (columns_first ? column_major(best, shape.axes) : best);
      });
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
      for_each_plane(shape, [&](std::int64_t plane, ScratchVector<float>& buffer) {
        if constexpr (std::is_arithmetic_v<T>) {
          if (!indices) {
            return fold_plane(shape, kernels::Fold::max, from + plane * shape.input_size,
                              to + plane * shape.output_size, buffer);
          }
        }
        pool(shape, from + plane * shape.input_size, to + plane * shape.output_size,
             indices ? indices + plane * shape.output_size : nullptr, plane * shape.input_size, column_major);
      });
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_max_pool() {
  return {{"", "MaxPool", {1, 8, 10, 11, 12, 22}, prepare_max_pool}};
}

}  // namespace grurun::engine
