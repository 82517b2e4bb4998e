// The element loops of compare.h, one instantiation for each element type.
#pragma once

#include "tensor/tensor.h"
#include "trial/compare.h"

namespace grurun::trial {

/// Adds the elements of two tensors of one type and shape to into.errors, into.first and into.worst, and
/// clears into.ok when one is beyond the tolerance. where is the way to the tensor, as in ElementPair.
/// worst_score carries between calls how far beyond the tolerance into.worst is; 0 at first.
void compare_elements(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance,
                      const std::string& where, Comparison& into, double& worst_score);

}  // namespace grurun::trial
