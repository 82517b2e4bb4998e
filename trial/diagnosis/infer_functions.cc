// Parameters of activations that the model lost, and functions whose parameters have no default.
#include <fmt/format.h>

#include "trial/diagnosis/attempt.h"
#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

// ThresholdedRelu, which jumps at its alpha, has no derivative to fit it by.
bool takes_beta(ActivationKind kind) {
  return kind == ActivationKind::affine || kind == ActivationKind::scaled_tanh ||
         kind == ActivationKind::hard_sigmoid;
}
bool takes_alpha(ActivationKind kind) {
  return takes_beta(kind) || kind == ActivationKind::leaky_relu || kind == ActivationKind::elu;
}

std::vector<double> parameters_of(const Activation& f) {
  std::vector<double> out;
  if (takes_alpha(f.kind)) out.push_back(f.alpha);
  if (takes_beta(f.kind)) out.push_back(f.beta);
  return out;
}

/// Sets a function's parameters from a list and moves on in it.
void set_parameters(Activation& f, std::vector<double>::const_iterator& next) {
  if (takes_alpha(f.kind)) f.alpha = static_cast<float>(*next++);
  if (takes_beta(f.kind)) f.beta = static_cast<float>(*next++);
}

// Parameters are floats: they move in larger steps than derivatives are taken with. So they are fitted in
// thousands, where a step of one is a thousand in the other.
bool fit_in_thousands(const Attempt& attempt, Candidate& c, std::int64_t d, std::vector<double> parameters,
                      const Put& put) {
  constexpr double unit = 1e-3;
  for (double& value : parameters) value *= unit;
  return fit(attempt, c, d, parameters, {}, [&](Layer& layer, std::vector<double> at) {
    for (double& value : at) value /= unit;
    put(layer, at);
  });
}

}  // namespace

/// Every alpha and beta of the functions that the model has: the list of values was lost, or is another.
std::optional<Inference> infer_all_parameters(const Attempt& attempt) {
  const std::size_t each = attempt.start.layer.functions_each();
  Candidate c = attempt.start;
  std::int64_t count = 0;
  for (std::int64_t d = 0; d < c.layer.num_directions; ++d) {
    const std::size_t first = static_cast<std::size_t>(d) * each;
    std::vector<double> parameters;
    for (std::size_t i = first; i < first + each; ++i) {
      for (const double value : parameters_of(attempt.start.layer.functions[i])) parameters.push_back(value);
    }
    if (parameters.size() < 2) return std::nullopt;  // one alone is found with its function
    const auto put = [&](Layer& layer, const std::vector<double>& at) {
      auto next = at.begin();
      for (std::size_t i = first; i < first + each; ++i) set_parameters(layer.functions[i], next);
    };
    if (!fit_in_thousands(attempt, c, d, parameters, put)) return std::nullopt;
    count += static_cast<std::int64_t>(parameters.size());
  }
  if (!attempt.fits(c)) return std::nullopt;
  std::string text;
  for (const Activation& f : c.layer.functions) text += (text.empty() ? "" : ", ") + function_text(f);
  return Inference{"activation-parameters", "other parameters, found by fitting: " + text, std::move(c),
                   count};
}

/// Another function with parameters in one place of each direction.
std::optional<Inference> infer_function(const Attempt& attempt) {
  static const Activation starts[] = {{ActivationKind::leaky_relu, 0.01f},
                                      {ActivationKind::elu, 1.0f},
                                      {ActivationKind::scaled_tanh, 1.0f, 1.0f},
                                      {ActivationKind::affine, 1.0f, 0.0f},
                                      {ActivationKind::hard_sigmoid, 0.2f, 0.5f}};
  const std::size_t each = attempt.start.layer.functions_each();
  for (std::size_t place = 0; place < each; ++place) {
    for (const Activation& f : starts) {
      const auto put = [&](Layer& layer, const std::vector<double>& at) {
        for (std::size_t i = place; i < layer.functions.size(); i += each) {
          auto next = at.begin();
          layer.functions[i] = f;
          set_parameters(layer.functions[i], next);
        }
      };
      Candidate c = attempt.start;
      const std::vector<double> parameters = parameters_of(f);
      if (!fit_in_thousands(attempt, c, 0, parameters, put) || !attempt.fits(c)) continue;
      const std::string text = fmt::format(
          "{} = {} in the place of {}, its parameters fitted", std::string("fgh").substr(place, 1),
          function_text(c.layer.functions[place]), function_text(attempt.start.layer.functions[place]));
      return Inference{"activation-parameters", text, std::move(c),
                       static_cast<std::int64_t>(parameters.size())};
    }
  }
  return std::nullopt;
}

}  // namespace grurun::trial::diagnosis
