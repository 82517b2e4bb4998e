// The eleven activation functions of RNN, GRU and LSTM (the same text in every version), with their
// parameters.
#pragma once

#include <string>
#include <vector>

#include "engine/kernels/gates/activation.h"
#include "opset/recurrent/recurrent_form.h"

namespace grurun::engine::rnn {

using kernels::Activation;
using kernels::ActivationKind;
using kernels::no_clip;

/// The functions that the attributes activations, activation_alpha and activation_beta describe, in the order
/// of `names`; letter case does not count. A function that uses alpha takes the next alpha, one that uses
/// beta the next beta; one that finds none left has the default of the operator of its name. Surplus values
/// are left over. Throws Error(invalid_model) for an unknown name, and for Affine or ScaledTanh without a
/// value, since they have no default.
std::vector<Activation> parse_activations(const std::vector<std::string>& names,
                                          const std::vector<float>& alphas, const std::vector<float>& betas);

/// What the text calls it, and which parameters it has.
const opset::RecurrentFunction& function_of(ActivationKind kind);

}  // namespace grurun::engine::rnn
