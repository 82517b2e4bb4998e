// Tensors joined along an axis they have.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace grurun::engine {

/// What tensors [a, n_1, b], [a, n_2, b], ... become: [a, n_1 + n_2 + ..., b], and the axis counted from the
/// front. axis may count from the end. Refuses ranks or other dimensions that differ, and no tensor at all.
struct Joined {
  Shape shape;
  std::size_t axis;
};
Joined joined(std::span<const Tensor> tensors, std::int64_t axis);

/// [a, n_1, b], [a, n_2, b], ... -> [a, n_1 + n_2 + ..., b]. axis may count from the end. Throws
/// Error(invalid_model) when ranks, types or the other dimensions differ, or there is no tensor.
Tensor concat(std::span<const Tensor> tensors, std::int64_t axis);

}  // namespace grurun::engine
