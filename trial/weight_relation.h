// What one weight is to another: the same, cast, transposed, scaled and the like.
#pragma once

#include <optional>
#include <string>

#include "tensor/tensor.h"
#include "tensor/value.h"
#include "trial/quantized.h"

namespace grurun::trial {

struct WeightRelation {
  bool is_equal = false;  // bit by bit, of one type and shape
  bool is_same = false;   // equal, or exactly what a conversion or another order makes of it
  std::string text;       // "equal", "cast from float to float16", "transposed", "scaled by 0.5", ...
};

/// What b is to a.
WeightRelation weight_relation(const Tensor& a, const Tensor& b,
                               const std::optional<Quantization>& quantization = std::nullopt);

}  // namespace grurun::trial
