#include "trial/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "trial/random_support.h"

namespace grurun::trial {

namespace {

constexpr double standard_errors = 6;
// Of fewer values the variance is too uncertain to tell by how much a mean may differ from a sample's: six
// standard errors happen once in 260 pairs of three values, once in 30,000 of eight, and always with one.
constexpr std::size_t least_for_mean = 8;

struct Moments {
  double mean = 0;
  double variance = 0;  // unbiased; 0 for a single value
};

Moments moments(const Doubles& values) {
  Moments out;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / count;
  if (values.size() < 2) return out;
  for (const double value : values) out.variance += (value - out.mean) * (value - out.mean) / (count - 1);
  return out;
}

/// kurtosis: fourth central moment over the squared variance, 3 for a normal distribution. Every value may be
/// `rounded` off.
std::string check_moments(const Doubles& values, double mean, double deviation, double kurtosis,
                          double rounded) {
  const Moments found = moments(values);
  const auto count = static_cast<double>(values.size());
  const double slack =
      standard_errors * deviation / std::sqrt(count) + 1e-2 * std::abs(mean) / count + rounded;
  if (!(std::abs(found.mean - mean) <= slack))
    return fmt::format("mean {:.4g} of {} values, expected {:.4g} +- {:.2g}", found.mean, values.size(), mean,
                       slack);
  if (values.size() < 30) return {};
  const double variance = deviation * deviation;
  const double variance_slack =
      standard_errors * variance * std::sqrt((kurtosis - 1) / count) + 1e-2 * variance + rounded * rounded;
  if (!(std::abs(found.variance - variance) <= variance_slack))
    return fmt::format("variance {:.4g} of {} values, expected {:.4g} +- {:.2g}", found.variance,
                       values.size(), variance, variance_slack);
  return {};
}

std::string check_uniform(const onnx_io::Node& node, const Doubles& values, DType dtype) {
  const double low = float_attribute(node, "low", 0);
  const double high = float_attribute(node, "high", 1);
  const double rounded = rounding(dtype) * std::max(std::abs(low), std::abs(high));
  return check_moments(values, (low + high) / 2, (high - low) / std::sqrt(12.0), 1.8, rounded);
}

std::string check_normal(const onnx_io::Node& node, const Doubles& values, DType dtype) {
  const double mean = float_attribute(node, "mean", 0);
  const double scale = std::abs(float_attribute(node, "scale", 1));
  return check_moments(values, mean, scale, 3, rounding(dtype) * (std::abs(mean) + scale));
}

std::string check_like_sample(const Doubles& values, const Doubles& sample) {
  const auto zero_or_one = [](double value) { return value == 0 || value == 1; };
  if (std::all_of(sample.begin(), sample.end(), zero_or_one) &&
      !std::all_of(values.begin(), values.end(), zero_or_one))
    return "values other than 0 and 1, where the expected sample has only those";
  const auto finite = [](double value) { return std::isfinite(value); };
  if (std::all_of(sample.begin(), sample.end(), finite) && !std::all_of(values.begin(), values.end(), finite))
    return "NaN or infinity, where the expected sample has none";
  if (sample.size() < least_for_mean) return {};
  const Moments a = moments(values);
  const Moments b = moments(sample);
  const auto count = static_cast<double>(values.size());
  // A sample of n may miss what has a chance of less than 1/n: one value's share of the range is allowed.
  const auto [low, high] = std::minmax_element(sample.begin(), sample.end());
  const double slack =
      standard_errors * std::sqrt((a.variance + b.variance) / count) + (*high - *low) / count;
  if (!(std::abs(a.mean - b.mean) <= slack))
    return fmt::format("mean {:.4g} of {} values, the expected sample's is {:.4g} +- {:.2g}", a.mean,
                       values.size(), b.mean, slack);
  return {};
}

std::string check_bernoulli(const Doubles& values, const Doubles& sample,
                            const std::optional<Doubles>& probabilities) {
  if (!probabilities || probabilities->size() != values.size()) return check_like_sample(values, sample);
  double sum = 0;
  double expected = 0;
  double variance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = (*probabilities)[i];
    sum += values[i];
    expected += p;
    variance += p * (1 - p);
  }
  const double slack = standard_errors * std::sqrt(variance) + 1;
  if (!(std::abs(sum - expected) <= slack))
    return fmt::format("{} ones, expected {:.4g} +- {:.2g}", sum, expected, slack);
  return {};
}

/// One row of samples: each class as often as its probability makes likely.
std::string check_classes(const double* samples, std::size_t count, const Doubles& probabilities) {
  Doubles drawn(probabilities.size());
  for (std::size_t i = 0; i < count; ++i) drawn[static_cast<std::size_t>(samples[i])] += 1;
  const auto n = static_cast<double>(count);
  for (std::size_t c = 0; c < probabilities.size(); ++c) {
    const double p = probabilities[c];
    const double slack = standard_errors * std::sqrt(n * p * (1 - p)) + 2;
    if (std::abs(drawn[c] - n * p) > slack)
      return fmt::format("class {} drawn {} times in {}, expected {:.4g} +- {:.2g}", c, drawn[c], count,
                         n * p, slack);
  }
  return {};
}

std::string check_multinomial(const RandomOrigin& origin, const Doubles& values) {
  const std::vector<Doubles> rows = class_probabilities(origin, values.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t samples = values.size() / rows.size();
    std::string broken = check_classes(values.data() + row * samples, samples, rows[row]);
    if (!broken.empty()) return fmt::format("row {}: {}", row, broken);
  }
  return {};
}

std::string check_kept(double kept, double count, double ratio) {
  const double slack = standard_errors * std::sqrt(count * ratio * (1 - ratio)) + 1;
  if (std::abs(kept - count * (1 - ratio)) <= slack) return {};
  return fmt::format("{} of {} elements kept, expected {:.4g} +- {:.2g}", kept, count, count * (1 - ratio),
                     slack);
}

std::string check_dropout(const RandomOrigin& origin, const Doubles& values, const Doubles& sample) {
  const std::optional<double> ratio = dropout_ratio(origin);
  if (!ratio) return check_like_sample(values, sample);
  if (origin.output == 1)
    return check_kept(static_cast<double>(std::count(values.begin(), values.end(), 1.0)),
                      static_cast<double>(values.size()), *ratio);
  const std::optional<Doubles> data = as_doubles(origin.input(0));
  if (!data || data->size() != values.size()) return check_like_sample(values, sample);
  const auto check_share = [&](const Doubles& drawn) {
    double kept = 0;
    double count = 0;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if ((*data)[i] == 0) continue;
      count += 1;
      kept += drawn[i] == 0 ? 0 : 1;
    }
    return check_kept(kept, count, *ratio);
  };
  if (std::string broken = check_share(values); !broken.empty()) return broken;
  const std::string broken = check_share(sample);
  return broken.empty() ? broken : "the expected sample: " + broken;
}

}  // namespace

std::string check_distribution(const RandomOrigin& origin, const Tensor& actual, const Tensor& expected) {
  const std::optional<Doubles> values = as_doubles(actual);
  const std::optional<Doubles> sample = as_doubles(expected);
  if (!values || !sample || values->empty()) return {};
  if (origin.node == nullptr) return check_like_sample(*values, *sample);
  if (std::string broken = check_support(origin, *values, actual.dtype()); !broken.empty()) return broken;
  if (const std::string broken = check_support(origin, *sample, expected.dtype()); !broken.empty())
    return "the expected sample: " + broken;
  const std::string& op = origin.op_type;
  if (op.starts_with("RandomUniform")) return check_uniform(*origin.node, *values, actual.dtype());
  if (op.starts_with("RandomNormal")) return check_normal(*origin.node, *values, actual.dtype());
  if (op == "Bernoulli") return check_bernoulli(*values, *sample, as_doubles(origin.input(0)));
  if (op == "Multinomial") return check_multinomial(origin, *values);
  return check_dropout(origin, *values, *sample);
}

}  // namespace grurun::trial
