// Axes that attributes name, and lists of attributes with an entry for each axis or input, which ONNX's
// inference does not look at.
#pragma once

#include "onnx/defs/schema.h"

namespace grurun::opset {

/// Throws Error(invalid_model) for an axis that the input does not have, or a list of another length than the
/// operator's text states, as far as ranks are known. schema must be of the domain ai.onnx.
void check_axis_lists(const onnx::OpSchema& schema, const onnx::InferenceContext& context);

}  // namespace grurun::opset
