// Inputs of recurrent layers that come of constants alone, for the rules about values: opset checks a model,
// but cannot compute.
#pragma once

#include <string>
#include <unordered_set>

#include "onnx_io/models/model.h"
#include "opset/check/check.h"

namespace grurun::engine {

/// By name: values of the main graph that GRU, RNN and LSTM take as B, sequence_lens, initial states or P,
/// and that constant folding makes of initializers and Constants. Initializers of these graph inputs are
/// overridden, and no constants. Never throws for what a model says: what cannot be computed is left out.
opset::ComputedValues computed_values(const onnx_io::Model& model,
                                      const std::unordered_set<std::string>& fed = {});

}  // namespace grurun::engine
