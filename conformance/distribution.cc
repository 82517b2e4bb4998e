#include "conformance/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/ops/type_dispatch.h"

namespace grurun::conformance {

namespace {

constexpr double standard_errors = 6;
// Of fewer values the variance is too uncertain to tell by how much a mean may differ from a sample's: six
// standard errors happen once in 260 pairs of three values, once in 30,000 of eight, and always with one.
constexpr std::size_t least_for_mean = 8;

using Doubles = std::vector<double>;

/// nullopt for types that no random operator makes (strings, complex, 4-bit).
std::optional<Doubles> as_doubles(const Tensor& tensor) {
  using List = engine::Join<engine::Numbers, engine::TypeList<bool>>;
  if (!tensor.defined() || !List::set.contains(tensor.dtype())) return std::nullopt;
  return engine::dispatch(List{}, tensor.dtype(), [&]<typename T>() {
    const auto span = tensor.span<T>();
    Doubles out(span.size());
    std::transform(span.begin(), span.end(), out.begin(), [](T value) { return static_cast<double>(value); });
    return out;
  });
}

double attribute(const onnx_io::Node& node, const char* name, double fallback) {
  const onnx_io::Attribute* found = node.find_attribute(name);
  return found != nullptr ? static_cast<double>(found->f) : fallback;
}

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

/// How far rounding to the element type may move a value of magnitude 1.
double rounding(DType dtype) {
  switch (dtype) {
    case DType::bfloat16:
      return 0x1p-8;
    case DType::float16:
      return 0x1p-11;
    case DType::float32:
      return 0x1p-24;
    default:
      return 0x1p-53;
  }
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
  const double low = attribute(node, "low", 0);
  const double high = attribute(node, "high", 1);
  const double rounded = rounding(dtype) * std::max(std::abs(low), std::abs(high));
  for (const double value : values)
    if (!(value >= low - rounded && value <= high + rounded))
      return fmt::format("{} lies outside [{}, {}]", value, low, high);
  return check_moments(values, (low + high) / 2, (high - low) / std::sqrt(12.0), 1.8, rounded);
}

std::string check_normal(const onnx_io::Node& node, const Doubles& values, DType dtype) {
  for (const double value : values)
    if (!std::isfinite(value)) return fmt::format("{} is no normal deviate", value);
  const double mean = attribute(node, "mean", 0);
  const double scale = std::abs(attribute(node, "scale", 1));
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
  for (const double value : values)
    if (value != 0 && value != 1) return fmt::format("{} is neither 0 nor 1", value);
  if (!probabilities || probabilities->size() != values.size()) return check_like_sample(values, sample);
  double sum = 0;
  double expected = 0;
  double variance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = (*probabilities)[i];
    if ((p == 0 || p == 1) && values[i] != p)
      return fmt::format("{} where the probability of 1 is {}", values[i], p);
    sum += values[i];
    expected += p;
    variance += p * (1 - p);
  }
  const double slack = standard_errors * std::sqrt(variance) + 1;
  if (!(std::abs(sum - expected) <= slack))
    return fmt::format("{} ones, expected {:.4g} +- {:.2g}", sum, expected, slack);
  return {};
}

/// Probabilities of the classes of one row of unnormalized log-probabilities.
Doubles softmax(const double* logits, std::size_t classes) {
  const double highest = *std::max_element(logits, logits + classes);
  Doubles out(classes);
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += out[c] = std::exp(logits[c] - highest);
  for (double& p : out) p /= sum;
  return out;
}

/// One row of samples: classes that can be drawn, each as often as its probability makes likely.
std::string check_classes(const double* samples, std::size_t count, const Doubles& probabilities) {
  Doubles drawn(probabilities.size());
  for (std::size_t i = 0; i < count; ++i) {
    const double value = samples[i];
    if (!(value >= 0 && value < static_cast<double>(probabilities.size())))
      return fmt::format("{} is no class number below {}", value, probabilities.size());
    drawn[static_cast<std::size_t>(value)] += 1;
  }
  const auto n = static_cast<double>(count);
  for (std::size_t c = 0; c < probabilities.size(); ++c) {
    const double p = probabilities[c];
    if (p == 0 && drawn[c] > 0) return fmt::format("class {} is drawn, whose probability is 0", c);
    const double slack = standard_errors * std::sqrt(n * p * (1 - p)) + 2;
    if (std::abs(drawn[c] - n * p) > slack)
      return fmt::format("class {} drawn {} times in {}, expected {:.4g} +- {:.2g}", c, drawn[c], count,
                         n * p, slack);
  }
  return {};
}

std::string check_multinomial(const Doubles& values, const Tensor& weights) {
  const std::optional<Doubles> logits = as_doubles(weights);
  if (!logits || weights.rank() != 2 || logits->empty() ||
      values.size() % static_cast<std::size_t>(weights.dim(0)) != 0) {
    for (const double value : values)
      if (!(value >= 0)) return fmt::format("{} is no class number", value);
    return {};
  }
  const auto classes = static_cast<std::size_t>(weights.dim(1));
  const std::size_t samples = values.size() / static_cast<std::size_t>(weights.dim(0));
  for (std::size_t row = 0; row * samples < values.size(); ++row) {
    std::string broken = check_classes(values.data() + row * samples, samples,
                                       softmax(logits->data() + row * classes, classes));
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

std::optional<double> dropout_ratio(const RandomOrigin& origin) {
  const onnx_io::Node& node = *origin.node;
  if (node.find_attribute("ratio") != nullptr) return attribute(node, "ratio", 0.5);
  if (node.inputs.size() < 2 || node.inputs[1].empty()) return 0.5;
  const auto ratio = as_doubles(origin.inputs[1]);
  if (!ratio || ratio->size() != 1) return std::nullopt;
  return ratio->front();
}

std::string check_dropout(const RandomOrigin& origin, const Doubles& values, const Doubles& sample) {
  const std::optional<double> ratio = dropout_ratio(origin);
  if (!ratio || !(*ratio >= 0 && *ratio < 1)) return check_like_sample(values, sample);
  if (origin.output == 1) {
    for (const double value : values)
      if (value != 0 && value != 1) return fmt::format("mask value {} is neither 0 nor 1", value);
    return check_kept(static_cast<double>(std::count(values.begin(), values.end(), 1.0)),
                      static_cast<double>(values.size()), *ratio);
  }
  const auto data = as_doubles(origin.inputs.empty() ? Tensor() : origin.inputs[0]);
  if (!data || data->size() != values.size()) return check_like_sample(values, sample);
  const double scale = 1 / (1 - *ratio);
  double kept = 0;
  double count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double full = (*data)[i] * scale;
    const bool zero = values[i] == 0;
    const bool scaled = std::abs(values[i] - full) <= 1e-2 * std::abs(full) ||
                        (std::isnan(values[i]) && std::isnan(full)) || values[i] == full;
    if (!zero && !scaled)
      return fmt::format("{} is neither 0 nor {} times the input's {}", values[i], scale, (*data)[i]);
    if (full == 0) continue;
    count += 1;
    kept += zero ? 0 : 1;
  }
  return check_kept(kept, count, *ratio);
}

}  // namespace

std::string check_distribution(const RandomOrigin& origin, const Tensor& actual, const Tensor& expected) {
  const std::optional<Doubles> values = as_doubles(actual);
  const std::optional<Doubles> sample = as_doubles(expected);
  if (!values || !sample || values->empty()) return {};
  if (origin.node == nullptr) return check_like_sample(*values, *sample);
  const auto input = [&](std::size_t i) { return i < origin.inputs.size() ? origin.inputs[i] : Tensor(); };
  const std::string& op = origin.op_type;
  if (op.starts_with("RandomUniform")) return check_uniform(*origin.node, *values, actual.dtype());
  if (op.starts_with("RandomNormal")) return check_normal(*origin.node, *values, actual.dtype());
  if (op == "Bernoulli") return check_bernoulli(*values, *sample, as_doubles(input(0)));
  if (op == "Multinomial") return check_multinomial(*values, input(0));
  return check_dropout(origin, *values, *sample);
}

}  // namespace grurun::conformance
