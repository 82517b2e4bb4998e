// A block of queries of Attention: from Q, K and V to its rows of Y.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/ops/nn/attention_inputs.h"
#include "engine/ops/nn/attention_mask.h"

namespace grurun::engine {

/// A tensor whose rows are the heads of tokens.
struct Heads {
  const Tensor* tensor;
  std::int64_t size;  // of a head
  HeadLayout layout;

  const std::byte* row(std::int64_t batch, std::int64_t head, std::int64_t token) const {
    return static_cast<const std::byte*>(tensor->raw()) +
           layout.at(batch, head, token) * static_cast<std::int64_t>(dtype_size(tensor->dtype()));
  }
};

/// Everything that the blocks of one run share. C computes: double where Q or V is double, else float.
template <typename C>
struct Attention {
  const AttentionAttributes& attributes;
  const AttentionSizes& sizes;
  Heads Q, K, V, Y;
  std::byte* y;       // Y's elements, to be written
  std::byte* scores;  // qk_matmul_output's, or nullptr
  const VisibleKeys& visible;
  const AttentionMask& mask;

  DType type() const { return Q.tensor->dtype(); }
};

/// Computes the queries [begin, end) of a batch entry and a head of K and V, counted through the heads of the
/// group.
template <typename C>
void attend_block(const Attention<C>& run, std::int64_t batch, std::int64_t kv_head, std::int64_t begin,
                  std::int64_t end);

}  // namespace grurun::engine
