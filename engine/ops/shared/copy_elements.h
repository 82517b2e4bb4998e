// Moving elements of any type between tensors of the same type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace grurun::engine {

/// Copies count elements from source (from element source_at) to target (from element target_at); ranges must
/// lie inside. target must be unique() and of the same element type.
void copy_elements(Tensor& target, std::int64_t target_at, const Tensor& source, std::int64_t source_at,
                   std::int64_t count);

/// The slice at index along axis, with that axis gone: [a, n, b] -> [a, b].
Tensor slice_at(const Tensor& tensor, std::size_t axis, std::int64_t index);

/// Tensors of one shape [a, b] put along a new axis: [a, n, b]. Refuses types or shapes that differ. tensors
/// must not be empty.
Tensor stack(std::span<const Tensor> tensors, std::size_t axis);

/// An axis that may count from the end: the result lies in [0, rank). Refuses another.
std::int64_t normalized_axis(std::int64_t axis, std::int64_t rank);

}  // namespace grurun::engine
