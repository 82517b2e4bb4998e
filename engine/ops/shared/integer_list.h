// Integers that operators take as a tensor: axes, shapes, starts, repeats, lengths.
#pragma once

#include <cstdint>
#include <span>

#include "engine/graph/op_context.h"
#include "tensor/memory/scratch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// The elements of a 1-D (or scalar) tensor of int32 or int64. Refuses another type or rank.
ScratchVector<std::int64_t> integer_list(const Tensor& tensor);

/// The one element of such a tensor.
std::int64_t integer_scalar(const Tensor& tensor);

/// Axes that may count from the end as a sorted list of those in [0, rank) that are named, one that is named
/// twice once. Refuses one out of range.
ScratchVector<std::int64_t> distinct_axes(std::span<const std::int64_t> axes, std::int64_t rank);

/// Axes that may count from the end as a sorted list of distinct axes in [0, rank).
/// Refuses one out of range or named twice.
ScratchVector<std::int64_t> normalized_axes(std::span<const std::int64_t> axes, std::int64_t rank);

}  // namespace grurun::engine
