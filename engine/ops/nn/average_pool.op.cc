// AveragePool (ai.onnx 1, 7, 10, 11, 19, 22) and LpPool (ai.onnx 1, 2, 11, 18, 22).
//
//   AveragePool: Y = sum of the window / number of its places     LpPool: Y = (sum of |x|^p over the
//   window)^(1/p)
//
// Places outside X and its pads never count; those in the pads count for AveragePool when count_include_pad
// is 1 (since 7). ceil_mode: AveragePool since 10, LpPool since 18; dilations: since 19 and 18. p: float in
// LpPool-1, int since. LpPool-1 has no default for kernel_shape either. 16-bit floats are computed in float.
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/float_compute.h"
#include "engine/ops/nn/pooling.h"

namespace grurun::engine {

namespace {

// Places of the window at o that lie in the input or its pads.
std::int64_t padded_count(const std::vector<WindowAxis>& axes, const std::vector<std::int64_t>& place) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const std::int64_t left = axes[d].input + axes[d].pad_end - axes[d].start(place[d]);
    count *= std::min(axes[d].kernel, (left + axes[d].dilation - 1) / axes[d].dilation);
  }
  return count;
}

template <typename C>
void average(const PoolShape& shape, const C* x, bool include_pad, C* y) {
  std::int64_t count = 0;
  C sum = 0;
  for_each_window(
      shape.axes,
      [&](std::int64_t, const std::vector<std::int64_t>& place) {
        sum = 0;
        count = include_pad ? padded_count(shape.axes, place) : 0;
      },
      [&](std::int64_t at, std::int64_t step, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i) sum += x[at + i * step];
        if (!include_pad) count += length;
      },
      [&](std::int64_t o) { y[o] = sum / static_cast<C>(count); });
}

template <typename C>
void lp(const PoolShape& shape, const C* x, C p, C* y) {
  C sum = 0;
  for_each_window(
      shape.axes, [&](std::int64_t, const std::vector<std::int64_t>&) { sum = 0; },
      [&](std::int64_t at, std::int64_t step, std::int64_t length) {
        for (std::int64_t i = 0; i < length; ++i) {
          const C value = std::abs(x[at + i * step]);
          sum += p == C(2) ? value * value : p == C(1) ? value : std::pow(value, p);
        }
      },
      [&](std::int64_t o) { y[o] = p == C(2) ? std::sqrt(sum) : std::pow(sum, C(1) / p); });
}

// plane_body(shape, plane of x, plane of y) for every plane, in float or double.
template <typename PlaneBody>
Tensor pool(const Tensor& x, const WindowAttributes& attributes, PlaneBody&& plane_body) {
  const PoolShape shape = pool_shape(x.shape(), attributes);
  return compute_in_float(x.dtype(), [&]<typename C>() {
    const Tensor wide = widened<C>(x);
    Tensor y(dtype_of<C>, shape.output);
    const C* from = wide.data<C>();
    C* to = y.mutable_data<C>();
    for_each_plane(shape, [&](std::int64_t plane) {
      plane_body(shape, from + plane * shape.input_size, to + plane * shape.output_size);
    });
    return y;
  });
}

RunFunction prepare_average(PrepareContext& node) {
  const int version = node.since_version();
  const auto attributes = window_attributes(node, {.dilations = version >= 19, .ceil_mode = version >= 10});
  const bool include_pad = version >= 7 && node.int_attribute("count_include_pad", 0) != 0;
  return [=](RunContext& run) {
    run.set_output(0,
                   pool(run.tensor(0), attributes, [&]<typename C>(const PoolShape& shape, const C* x, C* y) {
                     average(shape, x, include_pad, y);
                   }));
  };
}

RunFunction prepare_lp(PrepareContext& node) {
  const int version = node.since_version();
  const auto attributes = window_attributes(node, {.dilations = version >= 18, .ceil_mode = version >= 18});
  const double p =
      version == 1 ? node.float_attribute("p", 2.0f) : static_cast<double>(node.int_attribute("p", 2));
  if (!(p > 0)) fail_invalid("p is {}, but must be positive", p);
  return [=](RunContext& run) {
    run.set_output(0,
                   pool(run.tensor(0), attributes, [&]<typename C>(const PoolShape& shape, const C* x, C* y) {
                     lp(shape, x, static_cast<C>(p), y);
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_average_pool() {
  return {{"", "AveragePool", {1, 7, 10, 11, 19, 22}, prepare_average},
          {"", "LpPool", {1, 2, 11, 18, 22}, prepare_lp}};
}

}  // namespace grurun::engine
