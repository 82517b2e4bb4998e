// LRN (ai.onnx 1, 13).
//
//   Y[n, c, d...] = X[n, c, d...] / (bias + alpha / size * sum of X[n, i, d...]^2)^beta
//
// over channels i from max(0, c - floor((size - 1) / 2)) to min(C - 1, c + ceil((size - 1) / 2)). 16-bit
// floats are computed in float.
#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/float_compute.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

struct Lrn {
  float alpha, beta, bias;
  std::int64_t size;
};

template <typename C>
void normalize(const Lrn& lrn, const Tensor& x, const C* from, C* to) {
  const std::int64_t channels = x.dim(1);
  const std::int64_t inner = x.shape().count(2, x.rank());
  ScratchVector<C> sums(static_cast<std::size_t>(inner));
  for (std::int64_t n = 0; n < x.dim(0); ++n) {
    const C* image = from + n * channels * inner;
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t first = std::max<std::int64_t>(0, c - (lrn.size - 1) / 2);
      const std::int64_t last = std::min(channels - 1, c + lrn.size / 2);
      std::ranges::fill(sums, C(0));
      for (std::int64_t i = first; i <= last; ++i) {
        const C* row = image + i * inner;
        for (std::int64_t d = 0; d < inner; ++d) sums[static_cast<std::size_t>(d)] += row[d] * row[d];
      }
      const C factor = static_cast<C>(lrn.alpha) / static_cast<C>(lrn.size);
      C* out = to + (n * channels + c) * inner;
      for (std::int64_t d = 0; d < inner; ++d) {
        const C base = static_cast<C>(lrn.bias) + factor * sums[static_cast<std::size_t>(d)];
        out[d] = image[c * inner + d] / std::pow(base, static_cast<C>(lrn.beta));
      }
    }
  }
}

RunFunction prepare_lrn(PrepareContext& node) {
  Lrn lrn;
  lrn.alpha = node.float_attribute("alpha", 0.0001f);
  lrn.beta = node.float_attribute("beta", 0.75f);
  lrn.bias = node.float_attribute("bias", 1.0f);
  lrn.size = node.int_attribute("size");
  constexpr std::int64_t most = std::int64_t{1} << 40;  // sums of these stay far from 2^63
  if (lrn.size > most) fail(ErrorKind::limit, "size is {}, more than {}", lrn.size, most);
  return [lrn](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.rank() < 2) refuse();
    run.set_output(0, compute_in_float(x.dtype(), [&]<typename C>() {
                     const Tensor wide = widened<C>(x);
                     Tensor y(dtype_of<C>, x.shape());
                     if (y.size() != 0) normalize<C>(lrn, x, wide.data<C>(), y.mutable_data<C>());
                     return y;
                   }));
  };
}

}  // namespace

std::vector<OpRow> op_rows_lrn() {
  return {{"", "LRN", {1, 13}, prepare_lrn}};
}

}  // namespace grurun::engine
