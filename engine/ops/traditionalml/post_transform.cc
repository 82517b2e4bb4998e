#include "engine/ops/traditionalml/post_transform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

double logistic(double x) {
  const double small = std::exp(-std::fabs(x));  // does not overflow
  return x < 0 ? small / (1 + small) : 1 / (1 + small);
}

void softmax(std::span<double> scores) {
  if (scores.empty()) return;
  const double top = std::ranges::max(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - top);
  for (double& score : scores) score /= sum;
}

void softmax_zero(std::span<double> scores) {
  const auto is_zero = [](double score) { return std::fabs(score) <= 1e-7; };
  double top = -std::numeric_limits<double>::infinity();
  for (const double score : scores) top = is_zero(score) ? top : std::max(top, score);
  double sum = 0;
  for (double& score : scores) sum += score = is_zero(score) ? 0 : std::exp(score - top);
  for (double& score : scores) score = score == 0 ? 0 : score / sum;
}

// The quantile of the lower half, p in (0, 0.5], as a number <= 0: from a start that is right to a few parts
// in a thousand (Abramowitz and Stegun 26.2.23) by Halley's method on the distribution, which erfc has to
// full precision however small p is.
double lower_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(p));
  double x =
      (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int step = 0; step < 3; ++step) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    if (density == 0) break;
    const double distance = (0.5 * std::erfc(-x / std::numbers::sqrt2) - p) / density;
    x -= distance / (1 + x * distance / 2);
  }
  return x;
}

double probit(double p) {
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0 || p == 1) return (p == 0 ? -1 : 1) * std::numeric_limits<double>::infinity();
  if (p == 0.5) return 0;
  return p < 0.5 ? lower_quantile(p) : -lower_quantile(1 - p);
}

}  // namespace

PostTransform post_transform_attribute(PrepareContext& node) {
  const std::string name = node.string_attribute("post_transform", "NONE");
  if (name == "NONE") return PostTransform::none;
  if (name == "SOFTMAX") return PostTransform::softmax;
  if (name == "LOGISTIC") return PostTransform::logistic;
  if (name == "SOFTMAX_ZERO") return PostTransform::softmax_zero;
  return PostTransform::probit;
}

PostTransform post_transform_from(std::int64_t number) {
  return static_cast<PostTransform>(number);
}

void apply_post_transform(PostTransform transform, std::span<double> scores) {
  switch (transform) {
    case PostTransform::none:
      return;
    case PostTransform::softmax:
      return softmax(scores);
    case PostTransform::softmax_zero:
      return softmax_zero(scores);
    case PostTransform::logistic:
      std::ranges::transform(scores, scores.begin(), logistic);
      return;
    case PostTransform::probit:
      std::ranges::transform(scores, scores.begin(), probit);
      return;
  }
}

}  // namespace grurun::engine
