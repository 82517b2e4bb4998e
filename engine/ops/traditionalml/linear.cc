#include "engine/ops/traditionalml/linear.h"

#include "engine/kernels/machine/parallel.h"
#include "tensor/error.h"

namespace grurun::engine {

std::vector<double> LinearModel::scores(const Tensor& x, FeatureRows rows, std::int64_t score_count) const {
  const Tensor wide = cast_tensor(x, DType::float64);
  const double* features = wide.data<double>();
  std::vector<double> out(static_cast<std::size_t>(checked_mul(rows.count, score_count)));
  const std::int64_t grain = 1 + 20'000 / (rows.width * score_count + 1);
  kernels::parallel_for(rows.count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const double* row = features + n * rows.width;
      const float* coefficient = coefficients.data();
      for (std::int64_t e = 0; e < score_count; ++e) {
        double sum = 0;
        for (std::int64_t f = 0; f < rows.width; ++f) sum += row[f] * static_cast<double>(*coefficient++);
        if (!intercepts.empty()) sum += static_cast<double>(intercepts[static_cast<std::size_t>(e)]);
        out[static_cast<std::size_t>(n * score_count + e)] = static_cast<double>(static_cast<float>(sum));
      }
    }
  });
  return out;
}

}  // namespace grurun::engine
