// LinearClassifier and LinearRegressor: one weighted sum of the features for each class or target.
#pragma once

#include <vector>

#include "engine/ops/traditionalml/feature_rows.h"

namespace grurun::engine {

/// score[e] = sum_f coefficients[e, f] * x[f] + intercepts[e]; the coefficients of each e lie together.
struct LinearModel {
  std::vector<float> coefficients;
  std::vector<float> intercepts;  // empty: 0

  /// E for rows of this width. Throws Error(invalid_model) when the coefficients do not divide into rows, or
  /// intercepts are given and not E.
  std::int64_t score_count(std::int64_t width) const;

  /// The scores of each row of X, [N, E], summed in double and rounded to float, which is what the operators
  /// give out.
  std::vector<double> scores(const Tensor& x, FeatureRows rows, std::int64_t score_count) const;
};

}  // namespace grurun::engine
