// Sizes that attributes and inputs of an operator settle together, where ONNX's inference does not compare
// them.
#pragma once

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// Of operators of the domain ai.onnx. Throws Error(invalid_model) for sizes that are known and do not fit:
/// channels and groups of convolutions, blocks of DepthToSpace, the axes of Transpose, what is broadcast one
/// way, and the like.
void check_sizes(const NodeFacts& facts);

}  // namespace grurun::opset
