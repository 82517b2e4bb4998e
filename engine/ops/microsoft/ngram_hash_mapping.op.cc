// NGramHashMapping and VarlenNGramHashMapping (com.microsoft 1): numbers of n-grams.
//
//   mix(n, t) = id(t) * multipliers[0] ^ id(t-1) * multipliers[1] ^ ... ^ id(t-n+1) * multipliers[n-1]
//   hash_ids[..., t, (n-2)*n_head_per_ngram + h] = mix(n, t) mod vocab_sizes[that] + head_offsets[that]
//
// for n in [2, max_ngram_size], in the wrapping arithmetic of the type; the remainder is not negative.
// input_ids [batch_size, length], or [tokens] of sequences that cumulative_sequence_length [batch_size + 1]
// parts. Before a sequence stand past_ids [batch_size, max_ngram_size - 1], else eos_token_id, else pad_id.
// What lies before another segment, or, with reset_on_eos, at or before the last eos_token_id before t,
// counts as eos_token_id, else as pad_id. present_ids: the last max_ngram_size - 1 ids of each sequence.
// state_update [batch_size, state_update_capacity, max_ngram_size - 1]: the same after each of the first
// capture_count tokens, and pad_id behind them.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/wrapping.h"
#include "opset/pages/microsoft_rules.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct NGramHash {
  std::int64_t largest, heads, pad, capacity;
  bool resets_at_eos;

  std::int64_t window() const { return largest - 1; }
  std::int64_t columns() const { return window() * heads; }
};

// Where a node has the inputs that both operators know.
struct NGramInputs {
  std::size_t past, offsets, eos, segments;
};

// One sequence: ids and segments with those of the past before them, window of each.
template <typename M>
struct Sequence {
  std::vector<M> ids;
  std::vector<std::int32_t> segments;
};

template <typename M>
class Hasher {
 public:
  Hasher(const NGramHash& op, const NGramInputs& at, RunContext& run) : op_(op) {
    const Tensor &multipliers = run.tensor(1), &sizes = run.tensor(2);
    if (multipliers.rank() != 1 || multipliers.size() < op.largest) {
      refuse();
    }
    multipliers_ = multipliers.data<M>();
    sizes_ = one_for_each_head(sizes);
    if (std::any_of(sizes_, sizes_ + op.columns(), [](M size) { return size <= 0; })) refuse();
    if (run.has_input(at.offsets)) offsets_ = one_for_each_head(run.tensor(at.offsets));
    missing_ = static_cast<M>(op.pad);
    if (!run.has_input(at.eos)) return;
    const Tensor& eos = run.tensor(at.eos);
    if (eos.size() != 1) refuse();
    missing_ = *eos.data<M>();
    has_eos_ = true;
  }

  M missing() const { return missing_; }

  /// Hashes of all tokens, behind each other.
  void hash(const Sequence<M>& of, M* out) const {
    const auto end = static_cast<std::int64_t>(of.ids.size());
    std::int64_t first = 0;  // what counts of the past begins here
    for (std::int64_t t = 1; t < end; ++t) {
      if (op_.resets_at_eos && has_eos_ && at(of.ids, t - 1) == missing_) first = t;
      if (at(of.segments, t) != at(of.segments, t - 1)) first = t;
      if (t >= op_.window()) out = hash_token(of, t, first, out);
    }
  }

 private:
  template <typename T>
  static T at(const std::vector<T>& list, std::int64_t i) {
    return list[static_cast<std::size_t>(i)];
  }

  const M* one_for_each_head(const Tensor& tensor) const {
    if (tensor.rank() != 1 || tensor.size() != op_.columns()) {
      refuse();
    }
    return tensor.data<M>();
  }

  M* hash_token(const Sequence<M>& of, std::int64_t t, std::int64_t first, M* out) const {
    const M* size = sizes_;
    const M* offset = offsets_;
    M mix = wrapping_mul(at(of.ids, t), multipliers_[0]);
    for (std::int64_t k = 1; k < op_.largest; ++k) {
      const M id = t - k < first ? missing_ : at(of.ids, t - k);
      mix = static_cast<M>(mix ^ wrapping_mul(id, multipliers_[k]));
      for (std::int64_t h = 0; h < op_.heads; ++h, ++size) {
        M rest = static_cast<M>(mix % *size);
        if (rest < 0) rest = static_cast<M>(rest + *size);
        *out++ = offset == nullptr ? rest : wrapping_add(rest, *offset++);
      }
    }
    return out;
  }

  const NGramHash& op_;
  const M* multipliers_;
  const M* sizes_;
  const M* offsets_ = nullptr;
  M missing_;
  bool has_eos_ = false;
};

// The input, of the shape, or nullptr.
template <typename T>
const T* shaped_input(RunContext& run, std::size_t index, const Shape& shape) {
  if (!run.has_input(index)) return nullptr;
  const Tensor& tensor = run.tensor(index);
  if (!(tensor.shape() == shape)) refuse();
  return tensor.data<T>();
}

template <typename M>
Sequence<M> with_past(const NGramHash& op, const Hasher<M>& hasher, const M* past, const M* ids,
                      std::int64_t length, const std::int32_t* segments, const std::int32_t* past_segments) {
  const auto window = static_cast<std::size_t>(op.window());
  Sequence<M> made;
  made.ids.assign(window, hasher.missing());
  if (past != nullptr) std::copy_n(past, window, made.ids.begin());
  made.ids.insert(made.ids.end(), ids, ids + length);
  const std::int32_t first = segments == nullptr || length == 0 ? 0 : segments[0];
  made.segments.assign(window, first);
  if (past_segments != nullptr) std::copy_n(past_segments, window, made.segments.begin());
  if (segments == nullptr) {
    made.segments.resize(made.ids.size(), past_segments == nullptr ? first : made.segments.back());
  } else {
    made.segments.insert(made.segments.end(), segments, segments + length);
  }
  return made;
}

template <typename M>
void hash_batch(const NGramHash& op, RunContext& run) {
  const Tensor& input = run.tensor(0);
  const Hasher<M> hasher(op, {3, 4, 5, 6}, run);
  const std::int64_t batch = input.dim(0), length = input.dim(1), window = op.window();
  const M* past = shaped_input<M>(run, 3, {batch, window});
  const auto* segments = shaped_input<std::int32_t>(run, 6, input.shape());
  M* hashes = run.output(0, input.dtype(), {batch, length, op.columns()}).mutable_data<M>();
  M* present = run.has_output(1) ? run.output(1, input.dtype(), {batch, window}).mutable_data<M>() : nullptr;
  if (input.size() == 0 && present == nullptr) return;
  for (std::int64_t b = 0; b < batch; ++b) {
    run.check_limits();
    const Sequence<M> sequence =
        with_past(op, hasher, past == nullptr ? nullptr : past + b * window, input.data<M>() + b * length,
                  length, segments == nullptr ? nullptr : segments + b * length, nullptr);
    hasher.hash(sequence, hashes + b * length * op.columns());
    if (present != nullptr) std::copy(sequence.ids.end() - window, sequence.ids.end(), present + b * window);
  }
}

// The ends of sequences: 0 first, the number of tokens last, ascending.
const std::int32_t* sequence_ends(const Tensor& ends, std::int64_t tokens) {
  const auto* at = ends.data<std::int32_t>();
  const bool fits = ends.rank() == 1 && ends.size() > 0 && at[0] == 0 && at[ends.size() - 1] == tokens;
  if (!fits || !std::is_sorted(at, at + ends.size())) refuse();
  return at;
}

template <typename M>
void hash_packed(const NGramHash& op, RunContext& run) {
  const Tensor& input = run.tensor(0);
  const Hasher<M> hasher(op, {4, 5, 6, 7}, run);
  const std::int32_t* ends = sequence_ends(run.tensor(3), input.size());
  const std::int64_t batch = run.tensor(3).size() - 1, window = op.window(), capacity = op.capacity;
  const M* past = shaped_input<M>(run, 4, {batch, window});
  const auto* segments = shaped_input<std::int32_t>(run, 7, input.shape());
  const auto* past_segments = shaped_input<std::int32_t>(run, 8, {batch, window});
  const auto* captured = shaped_input<std::int32_t>(run, 9, {batch});
  if ((captured != nullptr) != (capacity > 0)) refuse();
  M* hashes = run.output(0, input.dtype(), {input.size(), op.columns()}).mutable_data<M>();
  Tensor present(input.dtype(), {batch, window}), present_segments(DType::int32, {batch, window});
  Tensor update(input.dtype(), {batch, capacity, window});
  M* updates = update.mutable_data<M>();
  std::fill_n(updates, update.size(), static_cast<M>(op.pad));
  for (std::int64_t b = 0; b < batch; ++b) {
    run.check_limits();
    const std::int64_t begin = ends[b], length = ends[b + 1] - begin;
    const Sequence<M> sequence =
        with_past(op, hasher, past == nullptr ? nullptr : past + b * window, input.data<M>() + begin, length,
                  segments == nullptr ? nullptr : segments + begin,
                  past_segments == nullptr ? nullptr : past_segments + b * window);
    hasher.hash(sequence, hashes + begin * op.columns());
    std::copy(sequence.ids.end() - window, sequence.ids.end(), present.mutable_data<M>() + b * window);
    std::copy(sequence.segments.end() - window, sequence.segments.end(),
              present_segments.mutable_data<std::int32_t>() + b * window);
    const std::int64_t count =
        captured == nullptr ? 0 : std::clamp<std::int64_t>(captured[b], 0, std::min(capacity, length));
    for (std::int64_t j = 0; j < count; ++j)
      std::copy_n(sequence.ids.begin() + j + 1, window, updates + (b * capacity + j) * window);
  }
  run.set_output(1, present), run.set_output(2, present_segments), run.set_output(3, update);
}

NGramHash read_ngram_hash(PrepareContext& node) {
  NGramHash op{};
  op.largest = node.int_attribute("max_ngram_size");
  op.heads = node.int_attribute("n_head_per_ngram");
  op.pad = node.int_attribute("pad_id");
  op.resets_at_eos = node.int_attribute("reset_on_eos", 0) != 0;
  if (op.largest < 2 || op.heads < 1 || op.largest > opset::most_hashed_ngrams ||
      op.heads > opset::most_hashed_ngrams)
    refuse();
  return op;
}

void require_pad(const NGramHash& op, DType type) {
  if (type == DType::int32 && (op.pad < INT32_MIN || op.pad > INT32_MAX)) refuse();
}

RunFunction prepare_ngram_hash_mapping(PrepareContext& node) {
  const NGramHash op = read_ngram_hash(node);
  return [op](RunContext& run) {
    if (run.tensor(0).rank() != 2) refuse();
    require_pad(op, run.tensor(0).dtype());
    dispatch(TypeList<std::int32_t, std::int64_t>{}, run.tensor(0).dtype(),
             [&]<typename M>() { hash_batch<M>(op, run); });
  };
}

RunFunction prepare_packed_ngram_hash_mapping(PrepareContext& node) {
  NGramHash op = read_ngram_hash(node);
  op.capacity = node.int_attribute("state_update_capacity", 0);
  if (op.capacity < 0 || op.capacity > 8) refuse();
  return [op](RunContext& run) {
    if (run.tensor(0).rank() != 1) refuse();
    require_pad(op, run.tensor(0).dtype());
    dispatch(TypeList<std::int32_t, std::int64_t>{}, run.tensor(0).dtype(),
             [&]<typename M>() { hash_packed<M>(op, run); });
  };
}

}  // namespace

std::vector<OpRow> op_rows_ngram_hash_mapping() {
  return {{"com.microsoft", "NGramHashMapping", {1}, prepare_ngram_hash_mapping},
          {"com.microsoft", "VarlenNGramHashMapping", {1}, prepare_packed_ngram_hash_mapping}};
}

}  // namespace grurun::engine
