// The input attn_mask of Attention: added to the scores of a query, or choosing among them.
#pragma once

#include <cstdint>

#include "engine/ops/nn/attention_inputs.h"
#include "tensor/tensor.h"

namespace grurun::engine {

class AttentionMask {
 public:
  /// No mask.
  AttentionMask() = default;

  /// mask broadcasts to [batch, q_heads, q_length, keys]. Where `may_be_short`, a last dimension below the
  /// number of keys leaves out the keys beyond it; else it must be that number or 1. Element types other than
  /// bool become `type`. Refuses what does not fit.
  AttentionMask(const Tensor& mask, const AttentionSizes& sizes, DType type, bool may_be_short);

  bool present() const { return values_.defined(); }
  /// Keys that it speaks of, counted from the first.
  std::int64_t length() const { return length_; }

  /// Adds the bias of keys [first, first + n) to x [n]: the mask's elements, or 0 for true and -infinity for
  /// false. False if all of them are -infinity. scratch holds n.
  template <typename C>
  bool add(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t first, std::int64_t n,
           C* x, C* scratch) const;

 private:
  Tensor values_;  // bool or the type of the scores
  std::int64_t length_ = 0;
  std::int64_t steps_[4] = {};  // by batch, head, query, key; 0 where it repeats
};

}  // namespace grurun::engine
