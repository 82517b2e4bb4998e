// A model with other recurrent nodes in the place of its own, as a hypothesis has them.
#pragma once

#include <optional>
#include <vector>

#include "conformance/diagnosis/body_layers.h"
#include "conformance/diagnosis/expected.h"
#include "onnx_io/model.h"

namespace grurun::conformance::diagnosis {

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

}  // namespace grurun::conformance::diagnosis
