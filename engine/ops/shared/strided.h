// A tensor read through strides: the one loop behind Transpose, Slice, Expand, Tile and their kin.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/memory/scratch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// Strides, in elements, of a row-major tensor of this shape; all 0 where it has no elements.
ScratchVector<std::int64_t> row_major_strides(const Shape& shape);

/// A new tensor of this shape whose element at index i is source[offset + sum(i[d] * strides[d])]. Strides
/// may be negative (a reversed axis) or zero (a repeated one). Every index reached must lie inside source.
Tensor strided_copy(const Tensor& source, std::int64_t offset, const Shape& shape,
                    std::span<const std::int64_t> strides);

/// The same into a tensor that is there: target[target_offset + sum(i[d] * target_strides[d])] = source[...].
void strided_copy_into(Tensor& target, std::int64_t target_offset,
                       std::span<const std::int64_t> target_strides, const Tensor& source,
                       std::int64_t source_offset, std::span<const std::int64_t> source_strides,
                       const Shape& shape);

}  // namespace grurun::engine
