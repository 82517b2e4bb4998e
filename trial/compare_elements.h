// The element loops of compare.h, one instantiation for each element type.
#pragma once

#include "tensor/tensor.h"
#include "trial/compare.h"

namespace grurun::trial {

/// By what the elements of a tensor are judged.
struct Criteria {
  Tolerance tolerance;
  const AccuracyRule* rule = nullptr;
  std::size_t keep_differing = 0;
};

/// Adds the elements of two tensors of one type and shape to what into holds of elements; into.ok stays as
/// it is. where is the way to the tensor, as in ElementPair. worst_score carries between calls how far beyond
/// the tolerance into.worst is; 0 at first.
void compare_elements(const Tensor& actual, const Tensor& expected, const Criteria& criteria,
                      const std::string& where, Comparison& into, double& worst_score);

}  // namespace grurun::trial
