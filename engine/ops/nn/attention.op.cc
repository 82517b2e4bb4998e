// Attention (ai.onnx 23, 24, 25).
//
//   scores = (Q * sqrt(scale)) (K * sqrt(scale))^T      scale: 1 / sqrt(head_size) by default
//   capped = softcap * tanh(scores / softcap)           where softcap is not 0
//   biased = capped + bias
//   P = Softmax(biased), 0 for a query that no key is left to      Y = P V
//
// Q [batch_size, q_num_heads, q_sequence_length, head_size] or [batch_size, q_sequence_length, q_num_heads *
// head_size], K and V likewise with kv_num_heads, V with v_head_size; query heads in groups of q_num_heads /
// kv_num_heads share a head of K and V. K and V follow past_key and past_value, which gives present_key and
// present_value. The bias is attn_mask, and -infinity for keys that is_causal, the window (since 25) or
// nonpad_kv_seqlen (since 24) hide from a query; of those, not even NaN reaches Y. qk_matmul_output is one of
// the four matrices above, as qk_matmul_output_mode says.
//
// 16-bit floats are computed in float and rounded after each step, as in the function body; the Softmax in
// softmax_precision. Scores exist for a block of queries at a time, and for the keys that the block sees.
#include <algorithm>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/ops/nn/attention_block.h"

namespace grurun::engine {

namespace {

namespace tuning = kernels::tuning;

/// Queries that one block takes: as many as have scores enough, in blocks enough for several threads. How
/// many there are must not count: products of few rows add in another order, and the last block may have few.
/// Where queries see different keys, a block computes those that any of its queries sees: they are fewer if
/// it is small.
std::int64_t block_rows(const AttentionSizes& sizes, const VisibleKeys& visible) {
  const std::int64_t rows = sizes.group() * sizes.q_length;
  const std::int64_t most =
      visible.are_alike()
          ? tuning::attention_most_rows
          : std::clamp(sizes.keys() / 8, tuning::attention_most_unlike_rows, tuning::attention_most_rows);
  std::int64_t block =
      std::clamp(tuning::attention_block_scores / (sizes.keys() + 1), tuning::attention_least_rows, most);
  const auto of_head = [&] { return (rows + block - 1) / block; };
  while (block > tuning::attention_least_rows &&
         sizes.batch * sizes.kv_heads * of_head() < tuning::attention_blocks)
    block /= 2;
  return rows == 0 ? block : (rows - 1) / of_head() + 1;  // of one size, as far as can be
}

template <typename C>
void compute_blocks(const Attention<C>& run) {
  const AttentionSizes& sizes = run.sizes;
  const std::int64_t rows = sizes.group() * sizes.q_length, block = block_rows(sizes, run.visible);
  const std::int64_t blocks = (rows + block - 1) / block;
  const double operations = static_cast<double>(std::min(rows, block)) *
                            static_cast<double>(sizes.keys() + 1) *
                            static_cast<double>(sizes.head_size + sizes.v_head_size + 16);
  const auto grain =
      static_cast<std::int64_t>(tuning::attention_operations_of_thread / std::max(operations, 1.0)) + 1;
  kernels::parallel_for(sizes.batch * sizes.kv_heads * blocks, grain,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t i = begin; i < end; ++i) {
                            const std::int64_t head = i / blocks, first = i % blocks * block;
                            attend_block(run, head / sizes.kv_heads, head % sizes.kv_heads, first,
                                         std::min(rows, first + block));
                          }
                        });
}

/// K or V behind its past, as present_key or present_value has it: [batch, heads, keys, size].
Tensor with_past(const Tensor& past, const Tensor& now, const AttentionSizes& sizes, std::int64_t size) {
  const HeadLayout layout = head_layout(now.rank(), sizes.kv_heads, sizes.kv_length, size);
  const std::int64_t keys = sizes.keys(), before = sizes.past_length;
  Tensor out(now.dtype(), Shape{sizes.batch, sizes.kv_heads, keys, size});
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  const auto bytes = static_cast<std::int64_t>(dtype_size(now.dtype()));
  const auto* old = static_cast<const std::byte*>(past.raw());
  const auto* fresh = static_cast<const std::byte*>(now.raw());
  kernels::parallel_for(
      sizes.batch * sizes.kv_heads, 65536 / (keys * size + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          std::byte* head = to + i * keys * size * bytes;
          if (before > 0) std::copy_n(old + i * before * size * bytes, before * size * bytes, head);
          for (std::int64_t t = 0; t < sizes.kv_length; ++t) {
            const std::int64_t at = layout.at(i / sizes.kv_heads, i % sizes.kv_heads, t);
            std::copy_n(fresh + at * bytes, size * bytes, head + (before + t) * size * bytes);
          }
        }
      });
  return out;
}

/// The cache that Attention works on, and the output that shows it, where that is asked for.
Heads cached(RunContext& run, std::size_t index, const AttentionSizes& sizes, std::int64_t size,
             Tensor& present) {
  const Tensor& now = run.tensor(index);
  const bool has_past = run.has_input(4), wanted = run.has_output(index);
  if (has_past || (wanted && sizes.rank == 3)) {
    present = with_past(has_past ? run.tensor(index + 3) : Tensor(), now, sizes, size);
  } else if (wanted) {
    present = now;
  }
  if (wanted) run.set_output(index, present);
  if (!has_past) return {&now, size, head_layout(sizes.rank, sizes.kv_heads, sizes.kv_length, size)};
  return {&present, size, head_layout(4, sizes.kv_heads, sizes.keys(), size)};
}

void attend(RunContext& run, const AttentionAttributes& attributes) {
  const AttentionSizes sizes = AttentionSizes::read(run, attributes);
  const Tensor& Q = run.tensor(0);
  Tensor present_key, present_value;
  const Heads K = cached(run, 1, sizes, sizes.head_size, present_key);
  const Heads V = cached(run, 2, sizes, sizes.v_head_size, present_value);
  AttentionMask mask;
  if (run.has_input(3)) mask = AttentionMask(run.tensor(3), sizes, Q.dtype(), attributes.version >= 24);
  VisibleKeys visible(attributes, sizes, run.optional_tensor(6));
  if (mask.present()) visible.limit(mask.length());
  const Shape y_shape =
      sizes.rank == 4 ? Shape{sizes.batch, sizes.q_heads, sizes.q_length, sizes.v_head_size}
                      : Shape{sizes.batch, sizes.q_length, checked_mul(sizes.q_heads, sizes.v_head_size)};
  Tensor& Y = run.output(0, Q.dtype(), y_shape);
  std::byte* scores = nullptr;
  if (run.has_output(3)) {
    const Shape shape{sizes.batch, sizes.q_heads, sizes.q_length, sizes.keys()};
    scores = static_cast<std::byte*>(run.output(3, Q.dtype(), shape).mutable_raw());
  }
  const auto compute = [&]<typename C>() {
    compute_blocks(Attention<C>{
        attributes,
        sizes,
        {&Q, sizes.head_size, head_layout(sizes.rank, sizes.q_heads, sizes.q_length, sizes.head_size)},
        K,
        V,
        {&Y, sizes.v_head_size, head_layout(sizes.rank, sizes.q_heads, sizes.q_length, sizes.v_head_size)},
        static_cast<std::byte*>(Y.mutable_raw()),
        scores,
        visible,
        mask});
  };
  const bool wide = Q.dtype() == DType::float64 || V.tensor->dtype() == DType::float64;
  wide ? compute.template operator()<double>() : compute.template operator()<float>();
}

RunFunction prepare_attention(PrepareContext& node) {
  return [attributes = AttentionAttributes::read(node)](RunContext& run) { attend(run, attributes); };
}

}  // namespace

std::vector<OpRow> op_rows_attention() {
  return {{"", "Attention", {23, 24, 25}, prepare_attention}};
}

}  // namespace grurun::engine
