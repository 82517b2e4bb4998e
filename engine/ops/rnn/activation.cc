#include "engine/ops/rnn/activation.h"

#include "engine/graph/refusal.h"

namespace grurun::engine::rnn {
namespace {

const opset::RecurrentFunction& find(const std::string& name) {
  if (const opset::RecurrentFunction* found = opset::find_recurrent_function(name)) return *found;
  refuse();
}

// ActivationKind has the order of the text, too.
ActivationKind kind_of(const opset::RecurrentFunction& function) {
  return static_cast<ActivationKind>(&function - opset::recurrent_functions().data());
}

// Hands out the values of one attribute in order.
class Values {
 public:
  explicit Values(const std::vector<float>& values) : values_(values) {}

  float take(const opset::RecurrentParameter& parameter) {
    if (!parameter.used) return 0;
    if (next_ < values_.size()) return values_[next_++];
    if (parameter.fallback) return *parameter.fallback;
    refuse();
  }

 private:
  const std::vector<float>& values_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<Activation> parse_activations(const std::vector<std::string>& names,
                                          const std::vector<float>& alphas, const std::vector<float>& betas) {
  Values alpha(alphas);
  Values beta(betas);
  std::vector<Activation> functions;
  for (const std::string& name : names) {
    const opset::RecurrentFunction& function = find(name);
    functions.push_back({kind_of(function), alpha.take(function.alpha), beta.take(function.beta)});
  }
  return functions;
}

const opset::RecurrentFunction& function_of(ActivationKind kind) {
  return opset::recurrent_functions()[static_cast<std::size_t>(kind)];
}

}  // namespace grurun::engine::rnn
