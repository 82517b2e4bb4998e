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
#include <utility>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/ops/nn/pooling.h"
#include "tensor/dispatch.h"

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

// The number of places of each window [O1...On], which is a product over the axes.
template <typename C>
ScratchVector<C> count_places(const PoolShape& shape, bool include_pad) {
  ScratchVector<std::int64_t> made{1};
  for (const WindowAxis& axis : shape.axes) {
    const ScratchVector<std::int64_t> along = counts(axis, include_pad);
    ScratchVector<std::int64_t> next;
    next.reserve(made.size() * along.size());
    for (const std::int64_t so_far : made) {
      for (const std::int64_t count : along) next.push_back(so_far * count);
    }
    made = std::move(next);
  }
  return ScratchVector<C>(made.begin(), made.end());
}

template <typename C>
void average(const PoolShape& shape, const C* x, const ScratchVector<C>& places, C* y,
             ScratchVector<float>& buffer) {
  fold_plane(shape, kernels::Fold::sum, x, y, buffer);
  kernels::vec_div(y, places.data(), y, shape.output_size);
}

template <typename C>
void lp(const PoolShape& shape, const C* x, C p, C* y, ScratchVector<float>& buffer) {
  ScratchVector<C> powers(static_cast<std::size_t>(shape.input_size));
  std::transform(x, x + shape.input_size, powers.begin(), [p](C value) {
    return p == C(2) ? value * value : p == C(1) ? std::abs(value) : std::pow(std::abs(value), p);
  });
  fold_plane(shape, kernels::Fold::sum, static_cast<const C*>(powers.data()), y, buffer);
  std::transform(y, y + shape.output_size, y,
                 [p](C sum) { return p == C(2) ? std::sqrt(sum) : std::pow(sum, C(1) / p); });
}

// A plane_body made by body_for<float or double>(shape), called as (plane of x, plane of y, buffer) for every
// plane.
template <typename BodyFor>
Tensor pool(const Tensor& x, const WindowAttributes& attributes, BodyFor&& body_for) {
  const PoolShape shape = pool_shape(x.shape(), attributes);
  Tensor y(x.dtype(), shape.output);
  if (y.size() == 0) return y;
  dispatch(Floats{}, x.dtype(), [&]<typename T>() {
    const auto plane_body = body_for.template operator()<ComputeType<T>>(shape);
    for_each_plane(shape, x.data<T>(), y.mutable_data<T>(), plane_body);
  });
  return y;
}

RunFunction prepare_average(PrepareContext& node) {
  const int version = node.since_version();
  const auto attributes = window_attributes(node, {.dilations = version >= 19, .ceil_mode = version >= 10});
  const bool include_pad = version >= 7 && node.int_attribute("count_include_pad", 0) != 0;
  return [=](RunContext& run) {
    run.set_output(0, pool(run.tensor(0), attributes, [&]<typename C>(const PoolShape& shape) {
                     return [&shape, places = count_places<C>(shape, include_pad)](
                                const C* x, C* y, ScratchVector<float>& buffer) {
                       average(shape, x, places, y, buffer);
                     };
                   }));
  };
}

RunFunction prepare_lp(PrepareContext& node) {
  const int version = node.since_version();
  const auto attributes = window_attributes(node, {.dilations = version >= 18, .ceil_mode = version >= 18});
  const double p =
      version == 1 ? node.float_attribute("p", 2.0f) : static_cast<double>(node.int_attribute("p", 2));
  return [=](RunContext& run) {
    run.set_output(0, pool(run.tensor(0), attributes, [&]<typename C>(const PoolShape& shape) {
                     return [&](const C* x, C* y, ScratchVector<float>& buffer) {
                       lp(shape, x, static_cast<C>(p), y, buffer);
                     };
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_average_pool() {
  return {{"", "AveragePool", {1, 7, 10, 11, 19, 22}, prepare_average},
          {"", "LpPool", {1, 2, 11, 18, 22}, prepare_lp}};
}

}  // namespace grurun::engine
