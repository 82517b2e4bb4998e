#include "engine/ops/rnn/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tensor/error.h"

namespace grurun::engine::rnn {
namespace {

struct Parameter {
  bool used = false;
  std::optional<float> fallback = std::nullopt;
};
constexpr Parameter unused{};
constexpr Parameter required{.used = true};
constexpr Parameter defaults_to(float value) {
  return {.used = true, .fallback = value};
}

struct Row {
  ActivationKind kind;
  const char* name;
  Parameter alpha = unused;
  Parameter beta = unused;
};

// Defaults are those of the operators LeakyRelu, ThresholdedRelu, HardSigmoid and Elu, as the attributes'
// text says; there is no operator Affine or ScaledTanh to take one from.
constexpr std::array<Row, 11> table{{
    {ActivationKind::relu, "Relu"},
    {ActivationKind::tanh, "Tanh"},
    {ActivationKind::sigmoid, "Sigmoid"},
    {ActivationKind::affine, "Affine", required, required},
    {ActivationKind::leaky_relu, "LeakyRelu", defaults_to(0.01f)},
    {ActivationKind::thresholded_relu, "ThresholdedRelu", defaults_to(1.0f)},
    {ActivationKind::scaled_tanh, "ScaledTanh", required, required},
    {ActivationKind::hard_sigmoid, "HardSigmoid", defaults_to(0.2f), defaults_to(0.5f)},
    {ActivationKind::elu, "Elu", defaults_to(1.0f)},
    {ActivationKind::softsign, "Softsign"},
    {ActivationKind::softplus, "Softplus"},
}};

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

const Row& find(const std::string& name) {
  const std::string wanted = lower(name);
  std::string known;
  for (const Row& row : table) {
    if (lower(row.name) == wanted) return row;
    known += known.empty() ? row.name : std::string(", ") + row.name;
  }
  fail_invalid("attribute activations names '{}', which is not one of {}", name, known);
}

// Hands out the values of one attribute in order.
class Values {
 public:
  Values(const char* attribute, const std::vector<float>& values) : attribute_(attribute), values_(values) {}

  float take(const Row& row, const Parameter& parameter) {
    if (!parameter.used) return 0;
    if (next_ < values_.size()) return values_[next_++];
    if (parameter.fallback) return *parameter.fallback;
    fail_invalid("activation {} needs a value in attribute {}: it has no default", row.name, attribute_);
  }

 private:
  const char* attribute_;
  const std::vector<float>& values_;
  std::size_t next_ = 0;
};

template <typename Real, typename Function>
void map(Real* x, std::int64_t count, Function function) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = function(x[i]);
}

// Comparisons are written so that NaN passes through, as it does through max and min of the standard.
template <typename Real>
void bound(Real* x, std::int64_t count, Real low, Real high) {
  map(x, count, [=](Real v) { return v < low ? low : v > high ? high : v; });
}

}  // namespace

std::vector<Activation> parse_activations(const std::vector<std::string>& names,
                                          const std::vector<float>& alphas, const std::vector<float>& betas) {
  Values alpha("activation_alpha", alphas);
  Values beta("activation_beta", betas);
  std::vector<Activation> functions;
  for (const std::string& name : names) {
    const Row& row = find(name);
    functions.push_back({row.kind, alpha.take(row, row.alpha), beta.take(row, row.beta)});
  }
  return functions;
}

template <typename Real>
void activate(const Activation& f, float clip, Real* x, std::int64_t count) {
  if (clip != no_clip) bound(x, count, -static_cast<Real>(clip), static_cast<Real>(clip));
  const auto alpha = static_cast<Real>(f.alpha);
  const auto beta = static_cast<Real>(f.beta);
  switch (f.kind) {
    case ActivationKind::relu:
      // max(0, x)
      return map(x, count, [](Real v) { return v < 0 ? Real{0} : v; });
    case ActivationKind::tanh:
      // (1 - e^{-2x})/(1 + e^{-2x}), which overflows when taken literally
      return map(x, count, [](Real v) { return std::tanh(v); });
    case ActivationKind::sigmoid:
      // 1/(1 + e^{-x})
      return map(x, count, [](Real v) { return 1 / (1 + std::exp(-v)); });
    case ActivationKind::affine:
      // alpha*x + beta
      return map(x, count, [=](Real v) { return alpha * v + beta; });
    case ActivationKind::leaky_relu:
      // x if x >= 0 else alpha * x
      return map(x, count, [=](Real v) { return v >= 0 ? v : alpha * v; });
    case ActivationKind::thresholded_relu:
      // x if x >= alpha else 0
      return map(x, count, [=](Real v) { return v >= alpha ? v : Real{0}; });
    case ActivationKind::scaled_tanh:
      // alpha*Tanh(beta*x)
      return map(x, count, [=](Real v) { return alpha * std::tanh(beta * v); });
    case ActivationKind::hard_sigmoid:
      // min(max(alpha*x + beta, 0), 1)
      map(x, count, [=](Real v) { return alpha * v + beta; });
      return bound(x, count, Real{0}, Real{1});
    case ActivationKind::elu:
      // x if x >= 0 else alpha*(e^x - 1)
      return map(x, count, [=](Real v) { return v >= 0 ? v : alpha * std::expm1(v); });
    case ActivationKind::softsign:
      // x/(1 + |x|)
      return map(x, count, [](Real v) { return v / (1 + std::fabs(v)); });
    case ActivationKind::softplus:
      // log(1 + e^x), which overflows when taken literally
      return map(x, count, [](Real v) { return std::max(v, Real{0}) + std::log1p(std::exp(-std::fabs(v))); });
  }
}

template void activate(const Activation&, float, float*, std::int64_t);
template void activate(const Activation&, float, double*, std::int64_t);

}  // namespace grurun::engine::rnn
