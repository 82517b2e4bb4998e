#include "trial/random_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tensor/dispatch.h"

namespace grurun::trial {

std::optional<Doubles> as_doubles(const Tensor& tensor) {
  using List = Join<Numbers, TypeList<bool>>;
  if (!tensor.defined() || !List::set.contains(tensor.dtype())) return std::nullopt;
  return dispatch(List{}, tensor.dtype(), [&]<typename T>() {
    const auto span = tensor.span<T>();
    Doubles out(span.size());
    std::transform(span.begin(), span.end(), out.begin(), [](T value) { return static_cast<double>(value); });
    return out;
  });
}

double float_attribute(const onnx_io::Node& node, const char* name, double fallback) {
  const onnx_io::Attribute* found = node.find_attribute(name);
  return found != nullptr ? static_cast<double>(found->f) : fallback;
}

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

namespace {

/// Probabilities of the classes of one row of unnormalized log-probabilities.
Doubles softmax(const double* logits, std::size_t classes) {
  const double highest = *std::max_element(logits, logits + classes);
  Doubles out(classes);
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += out[c] = std::exp(logits[c] - highest);
  for (double& p : out) p /= sum;
  return out;
}

std::string check_range(const onnx_io::Node& node, const Doubles& values, DType dtype) {
  const double low = float_attribute(node, "low", 0);
  const double high = float_attribute(node, "high", 1);
  const double rounded = rounding(dtype) * std::max(std::abs(low), std::abs(high));
  for (const double value : values)
    if (!(value >= low - rounded && value <= high + rounded))
      return fmt::format("{} lies outside [{}, {}]", value, low, high);
  return {};
}

std::string check_finite(const Doubles& values) {
  for (const double value : values)
    if (!std::isfinite(value)) return fmt::format("{} is no normal deviate", value);
  return {};
}

std::string check_bits(const Doubles& values, const char* what) {
  for (const double value : values)
    if (value != 0 && value != 1) return fmt::format("{}{} is neither 0 nor 1", what, value);
  return {};
}

std::string check_bernoulli(const RandomOrigin& origin, const Doubles& values) {
  std::string broken = check_bits(values, "");
  const std::optional<Doubles> probabilities = as_doubles(origin.input(0));
  if (!broken.empty() || !probabilities || probabilities->size() != values.size()) return broken;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = (*probabilities)[i];
    if ((p == 0 || p == 1) && values[i] != p)
      return fmt::format("{} where the probability of 1 is {}", values[i], p);
  }
  return {};
}

std::string check_classes(const double* samples, std::size_t count, const Doubles& probabilities) {
  for (std::size_t i = 0; i < count; ++i) {
    const double value = samples[i];
    if (!(value >= 0 && value < static_cast<double>(probabilities.size())))
      return fmt::format("{} is no class number below {}", value, probabilities.size());
    if (probabilities[static_cast<std::size_t>(value)] == 0)
      return fmt::format("class {} is drawn, whose probability is 0", value);
  }
  return {};
}

std::string check_multinomial(const RandomOrigin& origin, const Doubles& values) {
  const std::vector<Doubles> rows = class_probabilities(origin, values.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t samples = values.size() / rows.size();
    const std::string broken = check_classes(values.data() + row * samples, samples, rows[row]);
    if (!broken.empty()) return fmt::format("row {}: {}", row, broken);
  }
  for (const double value : values)
    if (!(value >= 0)) return fmt::format("{} is no class number", value);
  return {};
}

std::string check_dropout(const RandomOrigin& origin, const Doubles& values) {
  if (origin.output == 1) return check_bits(values, "mask value ");
  const std::optional<double> ratio = dropout_ratio(origin);
  const std::optional<Doubles> data = as_doubles(origin.input(0));
  if (!ratio || !data || data->size() != values.size()) return {};
  const double scale = 1 / (1 - *ratio);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double full = (*data)[i] * scale;
    const bool scaled = std::abs(values[i] - full) <= 1e-2 * std::abs(full) ||
                        (std::isnan(values[i]) && std::isnan(full)) || values[i] == full;
    if (values[i] != 0 && !scaled)
      return fmt::format("{} is neither 0 nor {} times the input's {}", values[i], scale, (*data)[i]);
  }
  return {};
}

}  // namespace

std::vector<Doubles> class_probabilities(const RandomOrigin& origin, std::size_t samples) {
  const Tensor weights = origin.input(0);
  const std::optional<Doubles> logits = as_doubles(weights);
  if (!logits || weights.rank() != 2 || logits->empty() ||
      samples % static_cast<std::size_t>(weights.dim(0)) != 0)
    return {};
  const auto classes = static_cast<std::size_t>(weights.dim(1));
  std::vector<Doubles> rows;
  for (std::size_t at = 0; at < logits->size(); at += classes)
    rows.push_back(softmax(logits->data() + at, classes));
  return rows;
}

std::optional<double> dropout_ratio(const RandomOrigin& origin) {
  const onnx_io::Node& node = *origin.node;
  double ratio = 0.5;
  if (node.find_attribute("ratio") != nullptr) {
    ratio = float_attribute(node, "ratio", 0.5);
  } else if (node.inputs.size() > 1 && !node.inputs[1].empty()) {
    const std::optional<Doubles> given = as_doubles(origin.input(1));
    if (!given || given->size() != 1) return std::nullopt;
    ratio = given->front();
  }
  return ratio >= 0 && ratio < 1 ? std::optional(ratio) : std::nullopt;
}

std::string check_support(const RandomOrigin& origin, const Doubles& values, DType dtype) {
  const std::string& op = origin.op_type;
  if (op.starts_with("RandomUniform")) return check_range(*origin.node, values, dtype);
  if (op.starts_with("RandomNormal")) return check_finite(values);
  if (op == "Bernoulli") return check_bernoulli(origin, values);
  if (op == "Multinomial") return check_multinomial(origin, values);
  return check_dropout(origin, values);
}

}  // namespace grurun::trial
