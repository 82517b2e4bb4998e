// InstanceNormalization (ai.onnx 1, 6, 22).
//
//   y = scale[c] * (x - mean) / sqrt(variance + epsilon) + B[c], mean and variance of each plane [D1...Dn] of
//   [N, C, D1...Dn]
//
// 16-bit floats are computed in float.
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/kernels/parallel.h"
#include "engine/ops/float_compute.h"

namespace grurun::engine {

namespace {

template <typename C>
void normalize_plane(const C* x, std::int64_t size, C scale, C bias, float epsilon, C* y) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(x[i]);
  const double mean = sum / static_cast<double>(size);
  for (std::int64_t i = 0; i < size; ++i) {
    const double difference = static_cast<double>(x[i]) - mean;
    squares += difference * difference;
  }
  const auto factor =
      static_cast<C>(1 / std::sqrt(squares / static_cast<double>(size) + static_cast<double>(epsilon))) *
      scale;
  for (std::int64_t i = 0; i < size; ++i) y[i] = (x[i] - static_cast<C>(mean)) * factor + bias;
}

RunFunction prepare(PrepareContext& node) {
  const float epsilon = node.float_attribute("epsilon", 1e-5f);
  if (node.since_version() == 1)
    node.accept_attribute("consumed_inputs");  // a hint about buffers, without effect on values
  return [epsilon](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const Tensor& scale = run.tensor(1);
    const Tensor& bias = run.tensor(2);
    if (x.rank() < 3) fail_invalid("the input must be [N,C,D1...], but has shape {}", x.shape().to_string());
    const std::int64_t channels = x.dim(1);
    for (const Tensor* list : {&scale, &bias}) {
      if (!(list->shape() == Shape{channels})) {
        fail_invalid("scale and B must have shape [{}], but one has {}", channels, list->shape().to_string());
      }
    }
    const std::int64_t size = x.shape().count(2, x.rank());
    run.set_output(0, compute_in_float(x.dtype(), [&]<typename C>() {
                     const Tensor wide = widened<C>(x), s = widened<C>(scale), b = widened<C>(bias);
                     Tensor y(dtype_of<C>, x.shape());
                     const C* from = wide.data<C>();
                     C* to = y.mutable_data<C>();
                     const std::int64_t planes = x.dim(0) * channels;
                     kernels::parallel_for(planes, 1 + 16384 / std::max<std::int64_t>(1, size),
                                           [&](std::int64_t begin, std::int64_t end) {
                                             for (std::int64_t p = begin; p < end; ++p) {
                                               const std::int64_t c = p % channels;
                                               normalize_plane(from + p * size, size, s.data<C>()[c],
                                                               b.data<C>()[c], epsilon, to + p * size);
                                             }
                                           });
                     return y;
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_instance_normalization() {
  return {{"", "InstanceNormalization", {1, 6, 22}, prepare}};
}

}  // namespace grurun::engine
