// DecoderMaskedMultiHeadAttention (com.microsoft 1): MultiHeadAttention of one query for each row.
//
// query [batch_size, 1, num_heads * size]. Self attention: key and value [batch_size, 1, num_heads * size],
// or all three in query, are put into the caches past_key and past_value [batch_size, num_heads, most, size]
// at past_sequence_length, and the query attends to all up to there; past_present_share_buffer must be 1.
// With a cache_indirection [batch_size / beam_width, beam_width, most], key t of row b * beam_width + j is
// that of row b * beam_width + cache_indirection[b, j, t]. Cross attention: key and value [batch_size,
// num_heads, keys, size] are all there is. A key with mask_index [batch_size, keys] 0 has mask_filter_value
// added to its score; attention_bias is added, too, and bias to query, key and value. qk: the scores before
// the Softmax.
#include "engine/graph/op_context.h"
#include "engine/ops/microsoft/cached_attention.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct DecoderAttention {
  std::int64_t heads = 1;
  float mask_value = -10000, scale = 0;
  bool shares_buffer = false, wants_scores = false;
};

struct OneQuery {
  std::int64_t batch, size, hidden, keys;
  const float* q;  // [batch, hidden], with the bias
};

std::vector<float> projected(const Tensor& from, std::int64_t batch, std::int64_t width, std::int64_t at,
                             std::int64_t hidden, const Tensor* bias, std::int64_t bias_at) {
  std::vector<float> made;
  for (std::int64_t b = 0; b < batch; ++b) {
    const float* row = from.data<float>() + b * width + at;
    for (std::int64_t i = 0; i < hidden; ++i)
      made.push_back(row[i] + (bias == nullptr ? 0.0f : bias->data<float>()[bias_at + i]));
  }
  return made;
}

// Rows of keys and values of a head by their number.
struct Caches {
  const float* keys;
  const float* values;
  std::int64_t most;
  const std::int32_t* indirection = nullptr;  // [batch / beams, beams, most]
  std::int64_t beams = 1;

  std::int64_t row_of(std::int64_t b, std::int64_t t, std::int64_t now) const {
    if (indirection == nullptr || t == now) return b;
    return b / beams * beams + indirection[b * most + t];
  }
};

void attend_all(const DecoderAttention& op, RunContext& run, const OneQuery& query, const Caches& caches,
                std::int64_t now) {
  const Tensor *mask = run.optional_tensor(3), *added = run.optional_tensor(4);
  if (mask != nullptr && !(mask->shape() == Shape{query.batch, query.keys})) {
    refuse();
  }
  if (added != nullptr && (added->rank() != 4 || added->dim(2) != 1 || added->dim(3) != query.keys ||
                           (added->dim(0) != 1 && added->dim(0) != query.batch) ||
                           (added->dim(1) != 1 && added->dim(1) != op.heads)))
    refuse();
  float* out = run.output(0, DType::float32, {query.batch, 1, query.hidden}).mutable_data<float>();
  float* seen = nullptr;
  if (op.wants_scores && run.has_output(3))
    seen = run.output(3, DType::float32, {query.batch, op.heads, 1, query.keys}).mutable_data<float>();
  const float scale = op.scale != 0 ? op.scale : 1 / std::sqrt(static_cast<float>(query.size));
  for (std::int64_t b = 0; b < query.batch; ++b) {
    run.check_limits();
    for (std::int64_t h = 0; h < op.heads; ++h) {
      const auto place = [&](std::int64_t t) {
        return ((caches.row_of(b, t, now) * op.heads + h) * caches.most + t) * query.size;
      };
      std::vector<float> scores;
      for (std::int64_t t = 0; t < query.keys; ++t) {
        float score =
            scale * dot(query.q + b * query.hidden + h * query.size, caches.keys + place(t), query.size);
        if (mask != nullptr && mask->data<std::int32_t>()[b * query.keys + t] == 0) score += op.mask_value;
        if (added != nullptr) {
          const std::int64_t row =
              (added->dim(0) == 1 ? 0 : b) * added->dim(1) + (added->dim(1) == 1 ? 0 : h);
          score += added->data<float>()[row * query.keys + t];
        }
        scores.push_back(score);
      }
      if (seen != nullptr) seen = std::ranges::copy(scores, seen).out;
      softmax(scores);
      weighted_sum(scores, query.size, out + b * query.hidden + h * query.size,
                   [&](std::int64_t t) { return caches.values + place(t); });
    }
  }
}

const Tensor* checked_bias(RunContext& run, std::int64_t hidden) {
  const Tensor* bias = run.optional_tensor(10);
  if (bias != nullptr && bias->size() != 3 * hidden) refuse();
  return bias;
}

void cross_attention(const DecoderAttention& op, RunContext& run) {
  const Tensor &q = run.tensor(0), &key = run.tensor(1), &value = run.tensor(2);
  if (q.rank() != 3 || key.rank() != 4 || !(key.shape() == value.shape()) || key.dim(0) != q.dim(0) ||
      key.dim(1) != op.heads || q.dim(2) != op.heads * key.dim(3))
    refuse();
  const std::int64_t hidden = q.dim(2);
  const std::vector<float> query = projected(q, q.dim(0), hidden, 0, hidden, checked_bias(run, hidden), 0);
  for (const std::size_t input : {7, 8, 9})
    if (run.has_input(input)) run.accept_input(input);  // of self attention
  attend_all(op, run, {q.dim(0), key.dim(3), hidden, key.dim(2), query.data()},
             {key.data<float>(), value.data<float>(), key.dim(2)}, -1);
}

std::int64_t one_number(RunContext& run, std::size_t input, std::int64_t otherwise) {
  const Tensor* given = run.optional_tensor(input);
  if (given == nullptr) return otherwise;
  if (given->size() != 1) refuse();
  return *given->data<std::int32_t>();
}

void self_attention(const DecoderAttention& op, RunContext& run) {
  const Tensor& q = run.tensor(0);
  Tensor present_key = run.take_tensor(5), present_value = run.take_tensor(6);
  if (q.rank() != 3 || present_key.rank() != 4 || !(present_key.shape() == present_value.shape()) ||
      present_key.dim(0) != q.dim(0) || present_key.dim(1) != op.heads)
    refuse();
  const std::int64_t batch = q.dim(0), most = present_key.dim(2), size = present_key.dim(3);
  const std::int64_t hidden = op.heads * size;
  const bool packed = !run.has_input(1);
  if (q.dim(2) != (packed ? 3 : 1) * hidden) refuse();
  const auto part = [&](std::size_t input, std::int64_t number, const Tensor* bias) {
    const Tensor& from = packed ? q : run.tensor(input);
    if (!packed && !(from.shape() == q.shape())) refuse();
    return projected(from, batch, q.dim(2), packed ? number * hidden : 0, hidden, bias, number * hidden);
  };
  const Tensor* bias = checked_bias(run, hidden);
  const std::vector<float> query = part(0, 0, bias), key = part(1, 1, bias), value = part(2, 2, bias);
  const std::int64_t now = one_number(run, 7, 0);
  if (now < 0 || now >= most) refuse();
  float *keys = present_key.mutable_data<float>(), *values = present_value.mutable_data<float>();
  for (std::int64_t row = 0; row < batch * op.heads; ++row) {
    std::copy_n(key.data() + row * size, size, keys + (row * most + now) * size);
    std::copy_n(value.data() + row * size, size, values + (row * most + now) * size);
  }
  Caches caches{keys, values, most};
  caches.beams = one_number(run, 8, 1);
  if (const Tensor* indirection = run.optional_tensor(9); indirection != nullptr) {
    if (caches.beams < 1 || batch % caches.beams != 0 ||
        !(indirection->shape() == Shape{batch / caches.beams, caches.beams, most}))
      refuse();
    caches.indirection = indirection->data<std::int32_t>();
    for (std::int64_t i = 0; i < indirection->size(); ++i)
      if (i % most < now && (caches.indirection[i] < 0 || caches.indirection[i] >= caches.beams)) refuse();
  } else if (caches.beams != 1) {
    refuse();
  }
  attend_all(op, run, {batch, size, hidden, now + 1, query.data()}, caches, now);
  run.set_output(1, present_key), run.set_output(2, present_value);
}

RunFunction prepare_decoder_masked_attention(PrepareContext& node) {
  DecoderAttention op;
  op.heads = node.int_attribute("num_heads");
  if (op.heads < 1) refuse();
  op.mask_value = node.float_attribute("mask_filter_value", -10000),
  op.scale = node.float_attribute("scale", 0);
  op.shares_buffer = node.int_attribute("past_present_share_buffer", 0) != 0;
  op.wants_scores = node.int_attribute("output_qk", 0) != 0;
  if (node.has_input(5) && (!op.shares_buffer || !node.has_input(7)))
    fail_unsupported(
        "DecoderMaskedMultiHeadAttention to itself without past_present_share_buffer 1 and "
        "past_sequence_length");
  return [op](RunContext& run) {
    if (run.tensor(0).rank() == 3 && run.tensor(0).dim(1) != 1) refuse();
    if (run.has_input(5)) return self_attention(op, run);
    cross_attention(op, run);
  };
}

}  // namespace

std::vector<OpRow> op_rows_decoder_masked_attention() {
  return {{"com.microsoft",
           "DecoderMaskedMultiHeadAttention",
           {1},
           prepare_decoder_masked_attention,
           {{"T", TypeList<float>::set}}}};
}

}  // namespace grurun::engine
