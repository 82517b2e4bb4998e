// Normalizer (ai.onnx.ml 1).
//
// Each row x of X [N, C], or X [C] itself, is divided by
//   MAX  max(x), the largest value, whose sign may be negative
//   L1   sum |x|
//   L2   sqrt(sum x^2)
// and left as it is where that is 0. The output is float; sums are taken in double.
#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/traditionalml/feature_rows.h"

namespace grurun::engine {

namespace {

double largest(std::span<const double> row) {
  return row.empty() ? 0 : std::ranges::max(row);
}

double absolute_sum(std::span<const double> row) {
  double sum = 0;
  for (const double value : row) sum += std::fabs(value);
  return sum;
}

// Squares of numbers of a double's whole range neither overflow nor vanish: each is taken of a share of the
// largest.
double length(std::span<const double> row) {
  double top = 0;
  for (const double value : row) top = std::max(top, std::fabs(value));
  if (top == 0 || !std::isfinite(top)) return absolute_sum(row);
  double sum = 0;
  for (const double value : row) sum += (value / top) * (value / top);
  return top * std::sqrt(sum);
}

using Divisor = double (*)(std::span<const double>);

Divisor divisor_attribute(PrepareContext& node) {
  const std::string norm = node.string_attribute("norm", "MAX");
  if (norm == "MAX") return largest;
  if (norm == "L1") return absolute_sum;
  return length;
}

RunFunction prepare_normalizer(PrepareContext& node) {
  const Divisor divisor = divisor_attribute(node);
  return [divisor](RunContext& run) {
    const Tensor& x = run.tensor(0);
    const FeatureRows rows = feature_rows(x);
    const Tensor wide = cast_tensor(x, DType::float64);
    float* y = run.output(0, DType::float32, x.shape()).mutable_data<float>();
    if (x.size() == 0) return;
    const auto width = static_cast<std::size_t>(rows.width);
    for (std::int64_t n = 0; n < rows.count; ++n) {
      const auto row = wide.span<double>().subspan(static_cast<std::size_t>(n) * width, width);
      const double by = divisor(row);
      for (const double value : row) *y++ = static_cast<float>(by == 0 ? value : value / by);
    }
  };
}

}  // namespace

std::vector<OpRow> op_rows_normalizer() {
  return {{"ai.onnx.ml", "Normalizer", {1}, prepare_normalizer}};
}

}  // namespace grurun::engine
