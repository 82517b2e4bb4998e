// How ScatterElements and ScatterND combine an update with what is there.
#pragma once

#include <span>
#include <string>

#include "engine/graph/op_context.h"
#include "tensor/tensor.h"

namespace grurun::engine {

enum class ScatterReduction { none, add, mul, max, min };

/// The attribute "reduction": add and mul since 16, max and min since 18; "none" before. Throws
/// Error(invalid_model) for others.
ScatterReduction scatter_reduction(PrepareContext& node);

/// target[target_at + i] = reduce(target[target_at + i], updates[updates_at + i]) for i < count. target must
/// be unique(). bool: add and max are or, mul and min are and. Throws Error(unsupported) for a type without
/// that operation.
void scatter_into(Tensor& target, std::int64_t target_at, const Tensor& updates, std::int64_t updates_at,
                  std::int64_t count, ScatterReduction reduction);

/// The same for elements that lie anywhere: target[places[i]] and updates[updates_at + i], in this order.
void scatter_at(Tensor& target, std::span<const std::int64_t> places, const Tensor& updates,
                std::int64_t updates_at, ScatterReduction reduction);

}  // namespace grurun::engine
