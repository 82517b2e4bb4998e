// LinearClassifier and LinearRegressor: one weighted sum of the features for each class or target.
#pragma once

#include <iterator>
#include <utility>
#include <vector>

#include "engine/ops/traditionalml/feature_rows.h"

namespace grurun::engine {

/// score[e] = sum_f coefficients[e, f] * x[f] + intercepts[e]; the coefficients of each e lie together.
struct LinearModel {
  std::vector<float> coefficients;
  std::vector<float> intercepts;  // empty: 0

  /// Whether there are coefficients, more perhaps, for so many scores of rows of this width, and intercepts.
  bool fits(std::int64_t width, std::int64_t score_count) const {
    const std::size_t added = intercepts.size();
    return width > 0 && score_count > 0 && std::ssize(coefficients) / width >= score_count &&
           (added == 0 || std::cmp_equal(added, score_count));
  }

  /// The scores of each row of X, [N, E], summed in double and rounded to float, which is what the operators
  /// give out.
  std::vector<double> scores(const Tensor& x, FeatureRows rows, std::int64_t score_count) const;
};

}  // namespace grurun::engine
