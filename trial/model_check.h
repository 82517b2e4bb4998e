// A model against the rules of the standard, with all that the engine can add to what the file says.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "onnx_io/models/model.h"
#include "opset/check/check.h"

namespace grurun::trial {

enum class CheckDepth : std::uint8_t {
  none,
  recurrent_layers,  // every GRU, LSTM and RNN: quick, what a run begins with
  everything,        // all rules of grurun check
};

/// Findings of this depth, under paths like 'graph/gru'. Values that constants alone make count as constants;
/// initializers of the graph inputs in `fed` do not. `inferred` holds the types that were found on the way:
/// of everything, or of the outputs of layers. Never throws for what a model says.
/// on_finding: told of each finding of `everything` when it is made.
opset::CheckResult check_fully(const onnx_io::Model& model, CheckDepth depth,
                               const std::unordered_set<std::string>& fed = {},
                               const opset::OnFinding& on_finding = {});

}  // namespace grurun::trial
