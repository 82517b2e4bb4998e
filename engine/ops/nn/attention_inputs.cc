#include "engine/ops/nn/attention_inputs.h"

#include <algorithm>

#include "engine/graph/refusal.h"
#include "engine/ops/shared/dtype_attribute.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

std::int64_t window_size(PrepareContext& node, const char* name) {
  return std::min(node.int_attribute(name, -1),
                  std::int64_t{1} << 62);  // so that adding a position cannot overflow
}

void require_shape(const Tensor& tensor, const Shape& shape) {
  if (!(tensor.shape() == shape)) refuse();
}

/// Heads of a packed tensor [batch, length, heads * size], and their size.
std::int64_t packed_size(const Tensor& tensor, std::int64_t heads) {
  if (tensor.dim(2) % heads != 0) refuse();
  return tensor.dim(2) / heads;
}

std::int64_t required_heads(const std::optional<std::int64_t>& heads) {
  if (!heads || *heads < 1) refuse();
  return *heads;
}

void check_heads(const std::optional<std::int64_t>& stated, std::int64_t heads, int version) {
  if (stated && (version >= 25 || *stated != heads)) refuse();
}

void check_caches(RunContext& run, int version) {
  if (run.has_input(4) != run.has_input(5)) refuse();
  if (run.has_input(6) && run.has_input(4)) refuse();
  if (version < 25) return;
  if (run.has_output(1) != run.has_output(2) || (run.has_input(6) && run.has_output(1))) refuse();
}

}  // namespace

AttentionAttributes AttentionAttributes::read(PrepareContext& node) {
  AttentionAttributes out;
  out.version = node.since_version();
  out.is_causal = node.flag_attribute("is_causal", false);
  out.scale = node.optional_float("scale");
  out.q_num_heads = node.optional_int("q_num_heads");
  out.kv_num_heads = node.optional_int("kv_num_heads");
  out.softmax_precision = dtype_attribute(node, "softmax_precision", Floats::set);
  out.softcap = node.float_attribute("softcap", 0.0f);
  out.score_output = static_cast<ScoreOutput>(node.int_attribute("qk_matmul_output_mode", 0));
  if (out.version >= 25) {
    out.left_window = window_size(node, "left_window_size");
    out.right_window = window_size(node, "right_window_size");
  }
  return out;
}

HeadLayout head_layout(std::size_t rank, std::int64_t heads, std::int64_t length, std::int64_t size) {
  if (rank == 4) return {heads * length * size, length * size, size};
  return {length * heads * size, size, heads * size};
}

AttentionSizes AttentionSizes::read(RunContext& run, const AttentionAttributes& attributes) {
  const Tensor &Q = run.tensor(0), &K = run.tensor(1), &V = run.tensor(2);
  check_caches(run, attributes.version);
  AttentionSizes out{};
  out.rank = Q.rank();
  if ((out.rank != 3 && out.rank != 4) || K.rank() != out.rank || V.rank() != out.rank) refuse();
  out.batch = Q.dim(0);
  if (out.rank == 4) {
    check_heads(attributes.q_num_heads, Q.dim(1), attributes.version);
    check_heads(attributes.kv_num_heads, K.dim(1), attributes.version);
    out.q_heads = Q.dim(1), out.q_length = Q.dim(2), out.head_size = Q.dim(3);
    out.kv_heads = K.dim(1), out.kv_length = K.dim(2), out.v_head_size = V.dim(3);
    require_shape(K, {out.batch, out.kv_heads, out.kv_length, out.head_size});
    require_shape(V, {out.batch, out.kv_heads, out.kv_length, out.v_head_size});
  } else {
    out.q_heads = required_heads(attributes.q_num_heads);
    out.kv_heads = required_heads(attributes.kv_num_heads);
    out.q_length = Q.dim(1), out.head_size = packed_size(Q, out.q_heads);
    out.kv_length = K.dim(1), out.v_head_size = packed_size(V, out.kv_heads);
    require_shape(K, {out.batch, out.kv_length, checked_mul(out.kv_heads, out.head_size)});
    require_shape(V, {out.batch, out.kv_length, V.dim(2)});
  }
  const bool divides = out.kv_heads == 0 ? out.q_heads == 0 : out.q_heads % out.kv_heads == 0;
  if (!divides) refuse();
  if (!run.has_input(4)) return out;
  const Tensor &past_key = run.tensor(4), &past_value = run.tensor(5);
  if (past_key.rank() != 4) refuse();
  out.past_length = past_key.dim(2);
  require_shape(past_key, {out.batch, out.kv_heads, out.past_length, out.head_size});
  require_shape(past_value, {out.batch, out.kv_heads, out.past_length, out.v_head_size});
  return out;
}

VisibleKeys::VisibleKeys(const AttentionAttributes& attributes, const AttentionSizes& sizes,
                         const Tensor* nonpad_kv_seqlen)
    : is_causal_(attributes.is_causal),
      left_(attributes.left_window),
      right_(attributes.right_window),
      keys_(sizes.keys()),
      past_length_(sizes.past_length),
      q_length_(sizes.q_length),
      lengths_(nullptr) {
  if (nonpad_kv_seqlen == nullptr) return;
  require_shape(*nonpad_kv_seqlen, {sizes.batch});
  lengths_ = nonpad_kv_seqlen->data<std::int64_t>();
  for (std::int64_t b = 0; b < sizes.batch; ++b)
    if (lengths_[b] < 0 || lengths_[b] > keys_) refuse();
}

std::pair<std::int64_t, std::int64_t> VisibleKeys::of(std::int64_t batch, std::int64_t query) const {
  // The keys before this block of queries: the past, or what a cache held outside holds besides the block.
  const std::int64_t before = lengths_ == nullptr ? past_length_ : lengths_[batch] - q_length_;
  const std::int64_t position = before + query;
  std::int64_t first = 0, last = keys_;
  if (left_ >= 0) first = std::max(first, position - left_);
  if (right_ >= 0) last = std::min(last, position + right_ + 1);
  if (is_causal_) last = std::min(last, position + 1);
  if (lengths_ != nullptr) last = std::min(last, lengths_[batch]);
  return first < last ? std::pair{first, last} : std::pair<std::int64_t, std::int64_t>{0, 0};
}

}  // namespace grurun::engine
