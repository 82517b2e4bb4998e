// What Attention reads before it computes: attributes, sizes, where the heads lie, and which keys a query
// sees.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "engine/graph/op_context.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// What the fourth output holds (qk_matmul_output_mode).
enum class ScoreOutput { scores, capped, biased, probabilities };

struct AttentionAttributes {
  bool is_causal = false;
  std::optional<float> scale;
  std::optional<std::int64_t> q_num_heads, kv_num_heads;
  std::optional<DType> softmax_precision;
  float softcap = 0;  // 0: none
  ScoreOutput score_output = ScoreOutput::scores;
  std::int64_t left_window = -1, right_window = -1;  // -1: unbounded
  int version = 0;                                   // since_version

  static AttentionAttributes read(PrepareContext& node);
};

/// Row `row` of head `head` of batch entry `batch` begins at element batch * batch_step + head * head_step +
/// row
/// * row_step.
struct HeadLayout {
  std::int64_t batch_step, head_step, row_step;

  std::int64_t at(std::int64_t batch, std::int64_t head, std::int64_t row) const {
    return batch * batch_step + head * head_step + row * row_step;
  }
};

/// [batch, heads, length, size], or [batch, length, heads * size].
HeadLayout head_layout(std::size_t rank, std::int64_t heads, std::int64_t length, std::int64_t size);

struct AttentionSizes {
  std::size_t rank;  // of Q, K, V and Y
  std::int64_t batch, q_heads, kv_heads, q_length, kv_length, past_length, head_size, v_head_size;

  std::int64_t keys() const { return past_length + kv_length; }
  /// Query heads that share a head of K and V.
  std::int64_t group() const { return kv_heads == 0 ? 0 : q_heads / kv_heads; }

  /// Reads and checks Q, K, V, past_key, past_value and which caches are named. Refuses what does not fit.
  static AttentionSizes read(RunContext& run, const AttentionAttributes& attributes);
};

/// The keys [first, last) that masks of position leave to a query: is_causal, the window, nonpad_kv_seqlen.
class VisibleKeys {
 public:
  VisibleKeys(const AttentionAttributes& attributes, const AttentionSizes& sizes,
              const Tensor* nonpad_kv_seqlen);

  /// No key at or beyond `count` is seen by anyone.
  void limit(std::int64_t count) { keys_ = std::min(keys_, count); }

  /// first == last where there is none.
  std::pair<std::int64_t, std::int64_t> of(std::int64_t batch, std::int64_t query) const;

  /// Whether all queries of a batch entry see the same keys.
  bool are_alike() const { return !is_causal_ && left_ < 0 && right_ < 0; }

 private:
  bool is_causal_;
  std::int64_t left_, right_;  // -1: unbounded
  std::int64_t keys_, past_length_, q_length_;
  const std::int64_t* lengths_;  // by batch entry, or nullptr
};

}  // namespace grurun::engine
