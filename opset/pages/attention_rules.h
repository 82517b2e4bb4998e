// Sizes of heads, caches and masks of Attention and RotaryEmbedding.
#pragma once

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// Versions 23 on. Throws Error(invalid_model) for what the page excludes: heads that are not stated in rank
/// 3, do not divide or cannot share K and V, caches and masks of other shapes or without each other.
void check_attention(const NodeFacts& facts);

/// Versions 23 on: how many elements of a head are turned, the caches for them, and position_ids. Throws
/// Error(invalid_model).
void check_rotary_embedding(const NodeFacts& facts);

}  // namespace grurun::opset
