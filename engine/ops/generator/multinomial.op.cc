// Multinomial (ai.onnx 7, 22).
//
//   input [batch_size, class_size]: unnormalized log-probabilities of the classes
//   output [batch_size, sample_size]: numbers of classes, class c drawn with probability
//     exp(input[b, c]) / sum_k exp(input[b, k])
//
// output is int32, or what dtype states: int32 or int64. A class at -infinity is never drawn; NaN, +infinity
// and a row without a possible class are refused. Sums are taken in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/dtype_attribute.h"
#include "engine/ops/shared/random.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Outputs = TypeList<std::int32_t, std::int64_t>;

/// Running sums of exp(logits - max): class c takes [sums[c - 1], sums[c]).
template <typename T>
void add_up(const T* logits, std::vector<double>& sums) {
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const auto logit = static_cast<double>(logits[c]);
    if (std::isnan(logit) || logit == std::numeric_limits<double>::infinity()) refuse();
    highest = std::max(highest, logit);
  }
  if (std::isinf(highest)) refuse();
  double sum = 0;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    sum += std::exp(static_cast<double>(logits[c]) - highest);
    sums[c] = sum;
  }
}

template <typename T, typename Class>
void draw(const Tensor& input, Random random, Tensor& out) {
  const std::int64_t classes = input.dim(1);
  std::vector<double> sums(static_cast<std::size_t>(classes));
  Class* to = out.mutable_data<Class>();
  for (std::int64_t row = 0; row < input.dim(0); ++row) {
    add_up(input.data<T>() + row * classes, sums);
    for (std::int64_t i = 0; i < out.dim(1); ++i) {
      // uniform() < 1, so that the product stays below the last sum and some sum lies above it.
      const double place = random.uniform() * sums.back();
      *to++ = static_cast<Class>(std::upper_bound(sums.begin(), sums.end(), place) - sums.begin());
    }
  }
}

RunFunction prepare_multinomial(PrepareContext& node) {
  const std::int64_t sample_size = node.int_attribute("sample_size", 1);
  const auto seed = node.optional_float("seed");
  const DType dtype = dtype_attribute(node, "dtype", Outputs::set).value_or(DType::int32);
  return [=](RunContext& run) {
    const Tensor& input = run.tensor(0);
    if (input.rank() != 2) refuse();
    if (dtype == DType::int32 && input.dim(1) > std::numeric_limits<std::int32_t>::max()) refuse();
    Tensor& out = run.output(0, dtype, {input.dim(0), sample_size});
    if (out.size() == 0) return;
    const Random random = node_random(seed, run);
    dispatch(Floats{}, input.dtype(), [&]<typename T>() {
      dispatch(Outputs{}, dtype, [&]<typename Class>() { draw<T, Class>(input, random, out); });
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_multinomial() {
  return {{"", "Multinomial", {7, 22}, prepare_multinomial}};
}

}  // namespace grurun::engine
