// InstanceNormalization (ai.onnx 1, 6, 22).
//
//   y = scale[c] * (x - mean) / sqrt(variance + epsilon) + B[c], mean and variance of each plane [D1...Dn] of
//   [N, C, D1...Dn]
//
// 16-bit floats are computed in float.
#include "engine/graph/op_context.h"
#include "engine/ops/nn/normalization.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

template <typename C>
Tensor normalize(Standardization one, const Tensor& x, const Tensor& scale, const Tensor& bias) {
  one.stash = dtype_of<C>;
  one.rounded = false;
  const std::int64_t channels = x.dim(1), size = x.shape().count(2, x.rank());
  const Tensor factors = widened<C>(scale), summands = widened<C>(bias);
  const C *s = factors.data<C>(), *b = summands.data<C>();
  Tensor y(x.dtype(), x.shape());
  if (y.size() == 0) return y;
  normalize_rows<C, C>(
      one, x, size, y,
      [&](std::int64_t plane, const C* from, C factor, kernels::Rounding rounding, C* line) {
        const std::int64_t c = plane % channels;
        kernels::vec_scale<C>(from, {factor, s + c, false, b + c, false, rounding}, line, size);
      },
      [](std::int64_t, const RowMoments<C>&) {});
  return y;
}

RunFunction prepare_instance_normalization(PrepareContext& node) {
  Standardization one;
  one.epsilon = static_cast<double>(node.float_attribute("epsilon", 1e-5f));
  return [one](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& scale = run.tensor(1);
    const Tensor& bias = run.tensor(2);
    if (x.rank() < 3) refuse();
    for (const Tensor* list : {&scale, &bias}) {
      if (!(list->shape() == Shape{x.dim(1)})) refuse();
    }
    run.set_output(0, x.dtype() == DType::float64 ? normalize<double>(one, x, scale, bias)
                                                  : normalize<float>(one, x, scale, bias));
  };
}

}  // namespace

std::vector<OpRow> op_rows_instance_normalization() {
  return {{"", "InstanceNormalization", {1, 6, 22}, prepare_instance_normalization}};
}

}  // namespace grurun::engine
