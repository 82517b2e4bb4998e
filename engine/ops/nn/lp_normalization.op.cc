// LpNormalization (ai.onnx 1, 22).
//
//   output = input / norm along axis (default -1), norm the sum of |x| (p = 1) or the root of the sum of x^2
//   (p = 2, the default)
//
// Where the norm is 0 the output is 0. 16-bit floats are computed in float, norms of floats in double.
#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/shared/copy_elements.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

// The norms along the first axis of x [length, norms].
template <typename C>
void norms_of(std::int64_t p, const C* x, std::int64_t length, std::span<double> norms) {
  const auto after = static_cast<std::int64_t>(norms.size());
  std::ranges::fill(norms, 0.0);
  if constexpr (std::is_same_v<C, float>) {
    const auto of = p == 1 ? kernels::SumOf::magnitudes : kernels::SumOf::squares;
    if (after == 1) {
      norms[0] = kernels::sum_in_double(of, x, length);
    } else {
      kernels::add_in_double(of, x, length, after, norms.data(), after);
    }
  } else {
    for (std::int64_t i = 0; i < length * after; ++i)
      norms[static_cast<std::size_t>(i % after)] += p == 1 ? std::abs(x[i]) : x[i] * x[i];
  }
  if (p == 2) std::ranges::transform(norms, norms.begin(), [](double sum) { return std::sqrt(sum); });
}

// y = x [length, norms] / norms, 0 where these are.
template <typename C>
void divide_by(const ScratchVector<C>& norms, const C* x, std::int64_t length, C* y) {
  const auto after = static_cast<std::int64_t>(norms.size());
  if (after == 1) {
    kernels::vec_div(x, norms[0], y, length);
  } else {
    for (std::int64_t i = 0; i < length; ++i)
      kernels::vec_div(x + i * after, norms.data(), y + i * after, after);
  }
  for (std::int64_t a = 0; a < after; ++a) {
    if (norms[static_cast<std::size_t>(a)] != C(0)) continue;
    for (std::int64_t i = 0; i < length; ++i) y[i * after + a] = C(0);
  }
}

RunFunction prepare_lp_normalization(PrepareContext& node) {
  const std::int64_t axis = node.int_attribute("axis", -1);
  const std::int64_t p = node.int_attribute("p", 2);
  return [axis, p](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const auto at = static_cast<std::size_t>(normalized_axis(axis, static_cast<std::int64_t>(x.rank())));
    const std::int64_t before = x.shape().count(0, at);
    const std::int64_t length = x.dim(at);
    const std::int64_t after = x.shape().count(at + 1, x.rank());
    run.set_output(
        0, compute_in_float(x.dtype(), [&]<typename C>() {
          const Tensor wide = widened<C>(x);
          Tensor y(dtype_of<C>, x.shape());
          if (y.size() == 0) return y;
          const std::int64_t grain = 32768 / (length * after) + 1;
          kernels::parallel_for(before, grain, [&](std::int64_t begin, std::int64_t end) {
            ScratchVector<double> sums(static_cast<std::size_t>(after));
            ScratchVector<C> norms(sums.size());
            for (std::int64_t at = begin * length * after; begin < end; ++begin, at += length * after) {
              const C* const from = wide.template data<C>() + at;
              norms_of(p, from, length, sums);
              std::ranges::transform(sums, norms.begin(), [](double norm) { return static_cast<C>(norm); });
              divide_by(norms, from, length, y.template mutable_data<C>() + at);
            }
          });
          return y;
        }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_lp_normalization() {
  return {{"", "LpNormalization", {1, 22}, prepare_lp_normalization}};
}

}  // namespace grurun::engine
