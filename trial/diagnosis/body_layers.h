// Recurrent nodes in the bodies of Loop and Scan: what they compute in each turn is not seen, but their
// weights and attributes are.
#pragma once

#include <vector>

#include "onnx_io/models/model.h"
#include "trial/diagnosis/subject.h"
#include "trial/trial.h"

namespace grurun::trial::diagnosis {

/// A node whose W, R, B and P are constants or values of the main graph. The subject has one step and one row
/// of zeros for X, lengths and states.
struct BodyLayer {
  const onnx_io::Node* node;
  Subject subject;
};

/// Those of the main graph's nodes, however deep. Runs the model once more where weights are computed; throws
/// what a run throws.
std::vector<BodyLayer> find_body_layers(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                        const Rerun& rerun);

}  // namespace grurun::trial::diagnosis
