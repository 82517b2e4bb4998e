// The eleven activation functions of RNN, GRU and LSTM (the same text in every version), with their
// parameters.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace grurun::engine::rnn {

enum class ActivationKind {
  relu,
  tanh,
  sigmoid,
  affine,
  leaky_relu,
  thresholded_relu,
  scaled_tanh,
  hard_sigmoid,
  elu,
  softsign,
  softplus,
};

/// A function with its parameters, float32 as the attributes are; widened when computing in double.
struct Activation {
  ActivationKind kind;
  float alpha = 0;
  float beta = 0;
};

/// No bound on what an activation sees.
inline constexpr float no_clip = std::numeric_limits<float>::infinity();

/// The functions that the attributes activations, activation_alpha and activation_beta describe, in the order
/// of `names`; letter case does not count. A function that uses alpha takes the next alpha, one that uses
/// beta the next beta; one that finds none left has the default of the operator of its name. Surplus values
/// are left over. Throws Error(invalid_model) for an unknown name, and for Affine or ScaledTanh without a
/// value, since they have no default.
std::vector<Activation> parse_activations(const std::vector<std::string>& names,
                                          const std::vector<float>& alphas, const std::vector<float>& betas);

/// x[i] = f(min(max(x[i], -clip), clip)) for i in [0, count); NaN stays NaN under the bounds. For float and
/// double.
template <typename Real>
void activate(const Activation& f, float clip, Real* x, std::int64_t count);

}  // namespace grurun::engine::rnn
