// One node, judged for a run by what a check judges it by.
#pragma once

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// Throws RuleError with the first error that a check finds in the node's operator, its attributes and the
/// numbers of its inputs and outputs. Attributes must be resolved, and the node must not call a function of
/// the model.
void require_node(const onnx_io::Node& node, const onnx_io::OpsetImports& imports);

}  // namespace grurun::opset
