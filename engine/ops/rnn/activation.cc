#include "engine/ops/rnn/activation.h"

#include <array>
#include <optional>

#include "tensor/ascii_case.h"
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

const Row& find(const std::string& name) {
  const std::string wanted = ascii_lower(name);
  std::string known;
  for (const Row& row : table) {
    if (ascii_lower(row.name) == wanted) return row;
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

}  // namespace grurun::engine::rnn
