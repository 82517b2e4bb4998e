// AveragePool (ai.onnx 1, 7, 10, 11, 19, 22) and LpPool (ai.onnx 1, 2, 11, 18, 22).
//
//   AveragePool: Y = sum of the window / number of its places     LpPool: Y = (sum of |x|^p over the
//   window)^(1/p)
//
// Places outside X and its pads never count; those in the pads count for AveragePool when count_include_pad
// is 1 (since 7). ceil_mode: AveragePool since 10, LpPool since 18; dilations: since 19 and 18. p: float in
// LpPool-1, int since. LpPool-1 has no default for kernel_shape either. 16-bit floats are computed in float.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/ops/float_compute.h"
#include "engine/ops/nn/pooling.h"

namespace grurun::engine {

namespace {

// Places that count of the windows of one axis: those inside the input, or in its pads too.
ScratchVector<std::int64_t> counts(const WindowAxis& axis, bool include_pad) {
  ScratchVector<std::int64_t> made;
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const std::int64_t left = axis.input + axis.pad_end - axis.start(o);
    made.push_back(include_pad ? std::min(axis.kernel, (left + axis.dilation - 1) / axis.dilation)
                               : std::max<std::int64_t>(0, axis.end_tap(o) - axis.first_tap(o)));
  }
  return made;
}

// y [O1...On] over the number of places of each window, which is a product over the axes.
template <typename C>
void divide_by_counts(const WindowAxes& axes, bool include_pad, std::size_t axis, std::int64_t outer,
                      std::int64_t size, C* y) {
  const ScratchVector<std::int64_t> count = counts(axes[axis], include_pad);
  size /= std::max<std::int64_t>(1, axes[axis].output);
  for (std::size_t o = 0; o < count.size(); ++o) {
    const std::int64_t places = outer * count[o];
    if (axis + 1 < axes.size())
      divide_by_counts(axes, include_pad, axis + 1, places, size, y + static_cast<std::int64_t>(o) * size);
    else
      y[o] /= static_cast<C>(places);
  }
}

template <typename C>
void average(const PoolShape& shape, const C* x, bool include_pad, C* y) {
  fold_windows(
      shape, x, C(0), [](C sum, C next) { return sum + next; }, y);
  divide_by_counts(shape.axes, include_pad, 0, 1, shape.output_size, y);
}

template <typename C>
void lp(const PoolShape& shape, const C* x, C p, C* y) {
  ScratchVector<C> powers(static_cast<std::size_t>(shape.input_size));
  std::transform(x, x + shape.input_size, powers.begin(), [p](C value) {
    return p == C(2) ? value * value : p == C(1) ? std::abs(value) : std::pow(std::abs(value), p);
  });
  fold_windows(
      shape, powers.data(), C(0), [](C sum, C next) { return sum + next; }, y);
  std::transform(y, y + shape.output_size, y,
                 [p](C sum) { return p == C(2) ? std::sqrt(sum) : std::pow(sum, C(1) / p); });
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
