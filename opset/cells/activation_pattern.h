// Activations as one operator or as a few that come to the same.
#pragma once

#include <optional>
#include <string>

#include "onnx_io/models/model.h"
#include "opset/pages/graph_view.h"

namespace grurun::opset {

/// A function of the standard's text, with the parameters that it has.
struct CellFunction {
  std::string name;  // "Sigmoid"
  std::optional<float> alpha = std::nullopt;
  std::optional<float> beta = std::nullopt;

  bool operator==(const CellFunction&) const = default;
  /// "HardSigmoid (alpha 0.2, beta 0.5)"
  std::string text() const;
};

struct Activation {
  CellFunction function;
  std::string argument;
};

/// What makes this value, itself and no part of it: an operator of that name, or HardSigmoid as
/// clip(alpha * x + beta, 0, 1), also with its factor behind it as in clip(x + 3, 0, 6) / 6, by Clip or by
/// Min and Max.
std::optional<Activation> match_activation(const GraphView& graph, const std::string& name);

}  // namespace grurun::opset
