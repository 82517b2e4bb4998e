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
#include "engine/ops/shared/float_pieces.h"
#include "tensor/dispatch.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

// The norms along the first axis of x [length, norms].
template <typename T>
void norms_of(std::int64_t p, const T* x, std::int64_t length, std::span<double> norms) {
  const auto after = static_cast<std::int64_t>(norms.size());
  const auto of = p == 1 ? kernels::SumOf::magnitudes : kernels::SumOf::squares;
  if (after == 1) {
    norms[0] = kernels::sum_in_double(of, x, length);
  } else {
    std::ranges::fill(norms, 0.0);
    kernels::add_in_double(of, x, length, after, norms.data(), after);
  }
  if (p == 2) std::ranges::transform(norms, norms.begin(), [](double sum) { return std::sqrt(sum); });
}

// y = x [length, norms] / norms, 0 where these are.
template <typename T, typename C>
void divide_by(const ScratchVector<C>& norms, const T* x, std::int64_t length, T* y) {
  const auto after = static_cast<std::int64_t>(norms.size());
  if (after == 1) {
    kernels::vec_div(x, norms[0], y, length);
  } else if constexpr (std::is_same_v<T, C>) {
    for (std::int64_t i = 0; i < length; ++i)
      kernels::vec_div(x + i * after, norms.data(), y + i * after, after);
  }
  for (std::int64_t a = 0; a < after; ++a) {
    if (norms[static_cast<std::size_t>(a)] != C(0)) continue;
    for (std::int64_t i = 0; i < length; ++i) y[i * after + a] = T(0.0f);
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
    Tensor& y = run.output(0, x.dtype(), x.shape());
    if (y.size() == 0) return;
    dispatch(Floats{}, x.dtype(), [&]<typename T>() {
      using C = ComputeType<T>;
      const std::int64_t piece = length * after;
      T* const to = y.mutable_data<T>();
      kernels::parallel_for(before, 32768 / piece + 1, [&](std::int64_t begin, std::int64_t end) {
        ScratchVector<double> sums(static_cast<std::size_t>(after));
        ScratchVector<C> norms(sums.size());
        PieceReader<T> reader(x.data<T>());
        PieceWriter<T> writer(to);
        const auto normalize = [&](const auto* from, auto* to) {
          norms_of(p, from, length, sums);
          std::ranges::transform(sums, norms.begin(), [](double norm) { return static_cast<C>(norm); });
          divide_by(norms, from, length, to);
        };
        for (std::int64_t at = begin * piece; at < end * piece; at += piece) {
          if (after == 1) {  // one norm, by which kernels divide 16-bit floats as well
            normalize(x.data<T>() + at, to + at);
          } else {
            normalize(reader.read(at, piece), writer.begin(at, piece));
            writer.end();
          }
        }
      });
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_lp_normalization() {
  return {{"", "LpNormalization", {1, 22}, prepare_lp_normalization}};
}

}  // namespace grurun::engine
