// LpNormalization (ai.onnx 1, 22).
//
//   output = input / norm along axis (default -1), norm the sum of |x| (p = 1) or the root of the sum of x^2
//   (p = 2, the default)
//
// Where the norm is 0 the output is 0. 16-bit floats are computed in float.
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/copy_elements.h"
#include "engine/ops/float_compute.h"

namespace grurun::engine {

namespace {

RunFunction prepare_lp_normalization(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", -1);
  const std::int64_t p = node.int_attribute("p", 2);
  if (p != 1 && p != 2) fail_invalid("p is {}, but must be 1 or 2", p);
  return [axis, p](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(x.rank())));
    const std::int64_t before = x.shape().count(0, at);
    const std::int64_t length = x.dim(at);
    const std::int64_t after = x.shape().count(at + 1, x.rank());
    run.set_output(0, compute_in_float(x.dtype(), [&]<typename C>() {
                     const Tensor wide = widened<C>(x);
                     Tensor y(dtype_of<C>, x.shape());
                     if (y.size() == 0) return y;
                     for (std::int64_t b = 0; b < before; ++b) {
                       for (std::int64_t a = 0; a < after; ++a) {
                         const C* from = wide.data<C>() + b * length * after + a;
                         C* to = y.mutable_data<C>() + b * length * after + a;
                         C sum = 0;
                         for (std::int64_t i = 0; i < length; ++i) {
                           const C value = from[i * after];
                           sum += p == 1 ? std::abs(value) : value * value;
                         }
                         const C norm = p == 1 ? sum : std::sqrt(sum);
                         for (std::int64_t i = 0; i < length; ++i)
                           to[i * after] = norm == C(0) ? C(0) : from[i * after] / norm;
                       }
                     }
                     return y;
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_lp_normalization() {
  return {{"", "LpNormalization", {1, 22}, prepare_lp_normalization}};
}

}  // namespace grurun::engine
