// A model with other recurrent nodes in the place of its own, as a hypothesis has them.
#pragma once

#include <optional>
#include <vector>

#include "onnx_io/models/model.h"
#include "trial/diagnosis/body_layers.h"
#include "trial/diagnosis/expected.h"

namespace grurun::trial::diagnosis {

/// A node in the place of another one, and the values that it takes from the main graph.
struct Replacement {
  const onnx_io::Node* before;
  onnx_io::Node node;
  std::vector<onnx_io::Initializer> initializers;
};

/// The node that computes what the candidate does, from other weights and attributes; nullopt where that says
/// more than a node can, or nothing.
std::optional<Replacement> replacement(const BodyLayer& layer, const Candidate& candidate);

onnx_io::Model with_replacements(const onnx_io::Model& model, const std::vector<Replacement>& replacements);

}  // namespace grurun::trial::diagnosis
