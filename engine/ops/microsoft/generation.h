// What the searches of com.microsoft share: the words so far, what becomes of the scores of the next ones,
// and the inputs of the decoder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/graph/plan.h"
#include "opset/pages/microsoft_rules.h"
#include "tensor/tensor.h"

namespace grurun::engine {

using Words = std::vector<std::int32_t>;

struct TimestampWords;

/// Attributes that all searches have.
struct SearchAttributes {
  std::int32_t eos = 0, pad = 0, start = -1;
  std::int64_t vocabulary = -1;  // what it is below 1: the last axis of logits
  std::size_t no_repeat_ngram = 0;
};

SearchAttributes search_attributes(PrepareContext& node);

/// -1 where it is not stated.
std::int32_t word_attribute(PrepareContext& node, const char* name);

/// A number that an input of one element holds, or otherwise.
std::int64_t int_input(RunContext& run, std::size_t index, std::int64_t otherwise);
float float_input(RunContext& run, std::size_t index, float otherwise);

/// What is done to the scores of the next words, in this order. Masks are int32, 0 for words that must not
/// come.
struct ScoreRules {
  float repetition_penalty = 1;  // of words that a sequence has
  std::size_t no_repeat_ngram = 0;
  std::span<const std::int32_t> vocabulary;  // [words]
  std::span<const std::int32_t> prefix;      // [batch_size, words], for the first step alone
  std::int64_t min_length = 0;               // before it, eos must not come
  std::int32_t eos = 0;
  float temperature = 1;
  std::span<const std::int32_t> presence;  // [batch_size, words], which presence_penalty is taken of
  float presence_penalty = 0;
  const TimestampWords* timestamps = nullptr;

  /// scores [rows, words], rows being a multiple of the batch; sequences are as many as rows. Throws
  /// Error(invalid_model) for masks of other sizes and for words beyond the scores.
  void apply(std::span<float> scores, const std::vector<Words>& sequences, std::int64_t batch,
             int step) const;
};

/// The mask input, checked to hold count numbers or to be left out.
std::span<const std::int32_t> mask_input(RunContext& run, std::size_t index);

/// The rows of the last place of logits [rows, length, words], the first `words` of each; rows of a batch are
/// repeated for its beams.
std::vector<float> last_scores(const Tensor& logits, std::int64_t rows, std::int64_t words);

/// How many words logits are about.
std::int64_t vocabulary_of(const SearchAttributes& attributes, const Tensor& logits);

/// A decoder like GPT-2: (input_ids, position_ids, attention_mask, past_0, ...) -> (logits, present_0, ...).
/// All of a row for each sequence; a past is [2, rows, heads, length, size]. Where past_sequence_length [1]
/// is its last input, pasts and presents have max_length places, and it says how many are in use before.
class Decoder {
 public:
  /// first: for the first step, or nullptr. Throws Error(invalid_model) for bodies of other forms.
  Decoder(std::shared_ptr<const Plan> body, std::shared_ptr<const Plan> first);

  struct State {
    Tensor ids, positions, mask;
    std::vector<Value> past;
    std::vector<std::int32_t> next_positions;  // of each row
    int step = 0;
  };

  /// From the prompt [batch_size, length], each row `beams` times. mask: [batch_size, length], or nullptr,
  /// where pad is hidden. Positions count the words that are not pad.
  State begin(const Tensor& prompt, const Tensor* mask, std::int32_t pad, std::int64_t beams,
              std::int64_t max_length) const;

  /// The logits of the next word; keeps what is present in the state.
  Tensor run(State& state, RunContext& context) const;

  /// Goes on with one word for each row, which continues the row `from` of those before; empty: its own.
  static void go_on(State& state, std::span<const std::int32_t> words, std::span<const std::int64_t> from);

 private:
  std::shared_ptr<const Plan> body_, first_;
};

/// Rows `from` of a tensor along the axis.
Tensor rows_of(const Tensor& tensor, std::size_t axis, std::span<const std::int64_t> from);

/// Each row of a tensor so often.
Tensor repeated_rows(const Tensor& tensor, std::int64_t times);

}  // namespace grurun::engine
