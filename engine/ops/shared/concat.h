// Tensors joined along an axis they have.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace grurun::engine {

/// [a, n_1, b], [a, n_2, b], ... -> [a, n_1 + n_2 + ..., b]. axis may count from the end. Throws
/// Error(invalid_model) when ranks, types or the other dimensions differ, or there is no tensor.
Tensor concat(std::span<const Tensor> tensors, std::int64_t axis);

}  // namespace grurun::engine
