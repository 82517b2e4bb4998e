// Shapes of element-wise operators before opset 7.
#pragma once

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// Versions 1 and 6: B stands against a contiguous part of A's axes where the attribute broadcast is set,
/// else it is of A's shape, as all inputs of Sum, Max, Min and Mean are; Gemm's C and PRelu's slope likewise.
/// Throws Error(invalid_model) where known sizes differ.
void check_limited_broadcast(const NodeFacts& facts);

}  // namespace grurun::opset
