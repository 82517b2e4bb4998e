// The attribute post_transform of ai.onnx.ml: what becomes of the scores of one row.
#pragma once

#include <cstdint>
#include <span>

namespace grurun::engine {

class PrepareContext;

/// Numbered as TreeEnsemble-5 numbers them.
enum class PostTransform { none = 0, softmax = 1, logistic = 2, softmax_zero = 3, probit = 4 };

/// The string attribute, NONE where it is left out. Throws Error(invalid_model) for another name.
PostTransform post_transform_attribute(PrepareContext& node);

/// The number of TreeEnsemble-5. Throws Error(invalid_model) for one beyond the enum.
PostTransform post_transform_from(std::int64_t number);

/// With scores s:
///   SOFTMAX       exp(s_i) / sum_j exp(s_j)
///   SOFTMAX_ZERO  the same among the scores that are not 0 (closer to it than 1e-7); those stay 0
///   LOGISTIC      1 / (1 + exp(-s_i))
///   PROBIT        the x at which the normal distribution's cumulative probability is s_i; NaN outside [0, 1]
void apply_post_transform(PostTransform transform, std::span<double> scores);

/// The two scores that stand for one score s of the second of two classes: [1 - s, s] where s is a
/// probability, which PROBIT takes, else [-s, s], a margin.
struct ScorePair {
  double first, second;
};
inline ScorePair score_pair(double s, bool probability) {
  return {probability ? 1 - s : -s, s};
}

}  // namespace grurun::engine
