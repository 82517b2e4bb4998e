// Conv (ai.onnx 1, 11, 22).
//
//   Y[n, m, o...] = B[m] + sum over c, k... of W[m, c, k...] * X[n, g * C/group + c, o * stride - pad + k *
//   dilation]
//
// X [N, C, D1...Dn], W [M, C/group, k1...kn], B [M] (optional), Y [N, M, O1...On]; g is the group of m. What
// lies outside X is 0. 16-bit floats are computed in float.
#include <type_traits>
#include <utility>

#include "engine/graph/op_context.h"
#include "engine/ops/nn/convolution.h"
#include "engine/ops/shared/chain_step.h"
#include "engine/ops/shared/float_compute.h"
#include "engine/ops/shared/window.h"

namespace grurun::engine {
namespace {

// tail: float32 only.
void run_conv(RunContext& run, const WindowAttributes& attributes, std::int64_t group,
              const ChainTail& tail) {
  const Tensor& x = run.tensor(0);
  const Tensor& w = run.tensor(1);
  const Tensor* b = run.optional_tensor(2);
  const ConvShape shape = conv_shape(x.shape(), w.shape(), group, attributes);
  if (b && !(b->shape() == Shape{shape.filters})) refuse();
  if (tail && x.dtype() != DType::float32) fail_internal("a tail of float32 on {}", dtype_name(x.dtype()));
  run.set_output(0, compute_in_float(x.dtype(), [&]<typename C>() {
                   const Tensor wide_x = widened<C>(x), wide_w = widened<C>(w);
                   const Tensor wide_b = b ? widened<C>(*b) : Tensor();
                   Tensor y(dtype_of<C>, shape.output_shape());
                   const auto convolve_with = [&](const RowTail<C>& end) {
                     convolve<C>(shape, wide_x.data<C>(), wide_w.data<C>(), b ? wide_b.data<C>() : nullptr,
                                 y.mutable_data<C>(), end);
                   };
                   if constexpr (std::is_same_v<C, float>) {
                     convolve_with(tail);
                   } else {
                     convolve_with({});
                   }
                   return y;
                 }));
}

RunFunction prepare_conv(PrepareContext& node) {
  const WindowAttributes attributes = window_attributes(node, {});
  const std::int64_t group = node.int_attribute("group", 1);
  const auto with_tail = [attributes, group](ChainTail tail) -> RunFunction {
    return [attributes, group, tail = std::move(tail)](RunContext& run) {
      run_conv(run, attributes, group, tail);
    };
  };
  // The result is known to be float32 only where the weights are constants that are.
  const Tensor* w = node.constant_input(1);
  if (w == nullptr || w->dtype() != DType::float32 || w->rank() < 3) return with_tail({});
  return chain_head(
      {.least_rank = w->rank(), .channels = w->dim(0), .behind = w->rank() - 2, .with_tail = with_tail});
}

}  // namespace

std::vector<OpRow> op_rows_conv() {
  return {{"", "Conv", {1, 11, 22}, prepare_conv}};
}

}  // namespace grurun::engine
