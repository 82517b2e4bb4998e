#include "engine/ops/microsoft/generation.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "engine/ops/microsoft/timestamps.h"
#include "engine/ops/shared/float_compute.h"

namespace grurun::engine {

namespace {

constexpr float lowest = std::numeric_limits<float>::lowest();

float& score_of(std::span<float> row, std::int32_t word) {
  if (word < 0 || word >= std::ssize(row))
    fail_invalid("a sequence holds the word {}, but there are scores of {}", word, row.size());
  return row[static_cast<std::size_t>(word)];
}

void penalize_repeats(std::span<float> row, const Words& sequence, float penalty) {
  for (const std::int32_t word : std::set<std::int32_t>(sequence.begin(), sequence.end())) {
    float& score = score_of(row, word);
    score = score < 0 ? score * penalty : score / penalty;
  }
}

void forbid_ngrams(std::span<float> row, const Words& sequence, std::size_t size) {
  if (size > sequence.size()) return;
  const std::span<const std::int32_t> words(sequence), last = words.last(size - 1);
  for (std::size_t i = 0; i + size <= words.size(); ++i) {
    if (std::ranges::equal(words.subspan(i, size - 1), last)) score_of(row, words[i + size - 1]) = lowest;
  }
}

void hide(std::span<float> row, std::span<const std::int32_t> mask) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (mask[i] == 0) row[i] = lowest;
}

std::int32_t narrow_id(std::int64_t id, const char* name) {
  if (id < INT32_MIN || id > INT32_MAX) fail_invalid("{} is {}, which is no int32", name, id);
  return static_cast<std::int32_t>(id);
}

// Of the type that the body declares and the declared sizes of its last axes.
Tensor empty_past(const Plan& body, std::size_t index, std::int64_t rows, std::int64_t places) {
  const ValueType& type = body.input_types[index];
  const bool known = type.shape && type.shape->size() == 5 && type.elem != DType::undefined;
  if (!known || !(*type.shape)[2].value || !(*type.shape)[4].value) {
    fail_invalid(
        "the body '{}' must declare its input '{}' as [2, rows, heads, length, size], with heads and size",
        body.name, body.input_names[index]);
  }
  return Tensor::zeros(type.elem, Shape{2, rows, *(*type.shape)[2].value, places, *(*type.shape)[4].value});
}

// That pasts have places for all words.
bool has_room_ahead(const Plan& body) {
  return !body.input_names.empty() && body.input_names.back() == "past_sequence_length";
}

void require_decoder(const Plan& body) {
  const std::size_t pasts = has_room_ahead(body) ? 4 : 3;
  if (body.inputs.size() <= pasts || body.outputs.size() + pasts != body.inputs.size() + 1) {
    fail_unsupported(
        "the body '{}' has {} inputs and {} outputs: only (input_ids, position_ids, attention_mask, "
        "past_0, ...) -> (logits, present_0, ...) is known, with or without past_sequence_length at the end",
        body.name, body.inputs.size(), body.outputs.size());
  }
}

constexpr std::int64_t most_first_timestamp = 50;

void hide_words(std::span<float> scores, std::int64_t from, std::int64_t to) {
  for (std::int64_t word = std::max<std::int64_t>(from, 0); word < std::min(to, std::ssize(scores)); ++word)
    scores[static_cast<std::size_t>(word)] = lowest;
}

// The logarithm of the sum of probabilities, of those that are not hidden.
float log_of_sum(std::span<const float> scores) {
  const float most = *std::ranges::max_element(scores);
  float sum = 0;
  for (const float score : scores)
    if (score > lowest) sum += std::exp(score - most);
  return sum > 0 ? std::log(sum) + most : lowest;
}

}  // namespace

void TimestampWords::apply(std::span<float> scores, const Words& sequence) const {
  const auto hide = [&](std::int32_t word) { hide_words(scores, word, std::int64_t{word} + 1); };
  const auto is_time = [&](std::int32_t word) { return word >= beginning_timestamp; };
  const auto first_time = std::ranges::find_if(sequence, is_time);
  const bool no_more = first_time == sequence.end() || first_time + 1 == sequence.end();
  hide(no_timestamps), hide(start_of_lm);
  if (!no_more) hide(start), hide(translate), hide(transcribe);

  const bool after_time = is_time(sequence.back());
  const bool after_pair = no_more || is_time(sequence[sequence.size() - 2]);
  if (after_time && after_pair) hide_words(scores, beginning_timestamp, std::ssize(scores));
  if (after_time && !after_pair) hide_words(scores, 0, eos);
  if (first_time != sequence.end()) {
    const std::int32_t last = *std::find_if(sequence.rbegin(), sequence.rend(), is_time);
    hide_words(scores, beginning_timestamp, std::int64_t{last} + (after_time && !after_pair ? 0 : 1));
  }
  if (no_more) {
    const std::int64_t last_allowed = std::int64_t{beginning_timestamp} + most_first_timestamp;
    hide_words(scores, last_allowed + 1, std::ssize(scores));
  }

  const auto times = scores.subspan(static_cast<std::size_t>(beginning_timestamp));
  const auto texts = scores.first(static_cast<std::size_t>(beginning_timestamp));
  if (log_of_sum(times) > *std::ranges::max_element(texts)) hide_words(scores, 0, beginning_timestamp);
}

SearchAttributes search_attributes(PrepareContext& node) {
  SearchAttributes read;
  read.eos = narrow_id(node.int_attribute("eos_token_id"), "eos_token_id");
  read.pad = narrow_id(node.int_attribute("pad_token_id"), "pad_token_id");
  read.start = word_attribute(node, "decoder_start_token_id");
  read.vocabulary = node.int_attribute("vocab_size", -1);
  const std::int64_t ngram = node.int_attribute("no_repeat_ngram_size", 0);
  if (read.eos < 0 || read.pad < 0 || ngram < 0) refuse();
  read.no_repeat_ngram = static_cast<std::size_t>(ngram);
  return read;
}

std::int32_t word_attribute(PrepareContext& node, const char* name) {
  return narrow_id(node.int_attribute(name, -1), name);
}

std::int64_t int_input(RunContext& run, std::size_t index, std::int64_t otherwise) {
  const Tensor* given = run.optional_tensor(index);
  if (given == nullptr) return otherwise;
  if (given->size() != 1) refuse();
  return *given->data<std::int32_t>();
}

float float_input(RunContext& run, std::size_t index, float otherwise) {
  const Tensor* given = run.optional_tensor(index);
  if (given == nullptr) return otherwise;
  if (given->size() != 1) refuse();
  return *widened<float>(*given).data<float>();
}

std::span<const std::int32_t> mask_input(RunContext& run, std::size_t index) {
  const Tensor* given = run.optional_tensor(index);
  return given == nullptr ? std::span<const std::int32_t>() : given->span<std::int32_t>();
}

void ScoreRules::apply(std::span<float> scores, const std::vector<Words>& sequences, std::int64_t batch,
                       int step) const {
  const std::size_t rows = sequences.size(), words = scores.size() / rows;
  const std::size_t each = rows / static_cast<std::size_t>(batch);
  const auto require = [](const char* name, std::span<const std::int32_t> mask, std::size_t size) {
    if (!mask.empty() && mask.size() != size)
      fail_invalid("{} holds {} numbers, but there are {} words", name, mask.size(), size);
  };
  require("vocab_mask", vocabulary, words);
  require("prefix_vocab_mask", prefix, words * static_cast<std::size_t>(batch));
  require("presence_mask", presence, words * static_cast<std::size_t>(batch));
  for (std::size_t r = 0; r < rows; ++r) {
    const std::span<float> row = scores.subspan(r * words, words);
    const std::size_t entry = r / each * words;
    if (repetition_penalty != 1) penalize_repeats(row, sequences[r], repetition_penalty);
    if (no_repeat_ngram > 0) forbid_ngrams(row, sequences[r], no_repeat_ngram);
    if (!vocabulary.empty()) hide(row, vocabulary);
    if (!prefix.empty() && step == 1) hide(row, prefix.subspan(entry, words));
    if (std::ssize(sequences[r]) < min_length) score_of(row, eos) = lowest;
    for (std::size_t i = 0; temperature != 1 && i < words; ++i) row[i] /= temperature;
    for (std::size_t i = 0; !presence.empty() && i < words; ++i)
      row[i] -= static_cast<float>(presence[entry + i]) * presence_penalty;
    if (timestamps != nullptr) timestamps->apply(row, sequences[r]);
  }
}

std::int64_t vocabulary_of(const SearchAttributes& attributes, const Tensor& logits) {
  if (logits.rank() != 3) fail_invalid("logits must have 3 axes, but has {}", logits.rank());
  const std::int64_t words = logits.dim(2);
  if (attributes.vocabulary < 1) return words;
  if (attributes.vocabulary > words)
    fail_invalid("vocab_size is {}, but logits have {}", attributes.vocabulary, words);
  return attributes.vocabulary;
}

std::vector<float> last_scores(const Tensor& logits, std::int64_t rows, std::int64_t words) {
  const Tensor wide = widened<float>(logits);
  const std::int64_t given = logits.dim(0), length = logits.dim(1), width = logits.dim(2);
  if (given < 1 || rows % given != 0 || length < 1)
    fail_invalid("logits is {}, but there are {} sequences", logits.shape().to_string(), rows);
  std::vector<float> scores;
  scores.reserve(static_cast<std::size_t>(checked_mul(rows, words)));
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = wide.data<float>() + ((r / (rows / given) + 1) * length - 1) * width;
    scores.insert(scores.end(), row, row + words);
  }
  return scores;
}

Tensor rows_of(const Tensor& tensor, std::size_t axis, std::span<const std::int64_t> from) {
  std::vector<std::int64_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
  if (axis >= dims.size()) fail_invalid("a past or present has {} axes, which are too few", dims.size());
  std::size_t outer = 1, bytes = dtype_size(tensor.dtype());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto size = static_cast<std::size_t>(dims[i]);
    if (i < axis) outer *= size;
    if (i > axis) bytes *= size;
  }
  const auto before = static_cast<std::size_t>(dims[axis]);
  dims[axis] = std::ssize(from);
  Tensor made(tensor.dtype(), Shape(dims));
  const auto* in = static_cast<const std::byte*>(tensor.raw());
  auto* out = static_cast<std::byte*>(made.mutable_raw());
  if (made.size() == 0) return made;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::int64_t row : from) {
      if (row < 0 || static_cast<std::size_t>(row) >= before)
        fail_invalid("a past or present has {} rows, but there are more sequences", before);
      std::memcpy(out, in + (o * before + static_cast<std::size_t>(row)) * bytes, bytes);
      out += bytes;
    }
  }
  return made;
}

Tensor repeated_rows(const Tensor& tensor, std::int64_t times) {
  std::vector<std::int64_t> from;
  for (std::int64_t r = 0; r < checked_mul(tensor.dim(0), times); ++r) from.push_back(r / times);
  return rows_of(tensor, 0, from);
}

Decoder::Decoder(std::shared_ptr<const Plan> body, std::shared_ptr<const Plan> first)
    : body_(std::move(body)), first_(std::move(first)) {
  require_decoder(*body_);
  if (first_ == nullptr) return;
  require_decoder(*first_);
  if (first_->inputs.size() != body_->inputs.size() || has_room_ahead(*first_) != has_room_ahead(*body_))
    fail_unsupported("the bodies '{}' and '{}' have other inputs", first_->name, body_->name);
}

Decoder::State Decoder::begin(const Tensor& prompt, const Tensor* mask, std::int32_t pad, std::int64_t beams,
                              std::int64_t max_length) const {
  if (mask != nullptr && !(mask->shape() == prompt.shape())) refuse();
  Tensor seen(DType::int32, prompt.shape()), positions(DType::int32, prompt.shape());
  auto *shown = seen.mutable_data<std::int32_t>(), *places = positions.mutable_data<std::int32_t>();
  const std::int64_t length = prompt.dim(1);
  std::vector<std::int32_t> next;
  for (std::int64_t i = 0, place = 0; i < prompt.size(); ++i) {
    if (i % length == 0) place = 0;
    shown[i] = mask != nullptr ? mask->data<std::int32_t>()[i] : prompt.data<std::int32_t>()[i] != pad;
    places[i] = prompt.data<std::int32_t>()[i] == pad ? 0 : static_cast<std::int32_t>(place++);
    if ((i + 1) % length == 0)
      next.insert(next.end(), static_cast<std::size_t>(beams), static_cast<std::int32_t>(place));
  }
  State state{
      repeated_rows(prompt, beams), repeated_rows(positions, beams), repeated_rows(seen, beams), {}, next, 0};
  for (std::size_t i = 3; i < body_->outputs.size() + 2; ++i)
    state.past.emplace_back(empty_past(*body_, i, state.ids.dim(0), has_room_ahead(*body_) ? max_length : 0));
  return state;
}

Tensor Decoder::run(State& state, RunContext& context) const {
  Values inputs;
  inputs.emplace_back(state.ids), inputs.emplace_back(state.positions), inputs.emplace_back(state.mask);
  for (Value& past : state.past) inputs.push_back(std::move(past));
  if (has_room_ahead(*body_)) {
    const auto in_use = static_cast<std::int32_t>(state.mask.dim(1) - state.ids.dim(1));
    inputs.emplace_back(Tensor::from<std::int32_t>({1}, std::vector{in_use}));
  }
  const Plan& body = state.step++ == 0 && first_ != nullptr ? *first_ : *body_;
  Values made = context.run_subgraph(body, std::move(inputs));
  for (std::size_t i = 0; i < state.past.size(); ++i) state.past[i] = std::move(made[1 + i]);
  return made[0].tensor();
}

void Decoder::go_on(State& state, std::span<const std::int32_t> words, std::span<const std::int64_t> from) {
  const auto rows = std::ssize(words);
  const std::int64_t length = state.mask.dim(1);
  Tensor ids(DType::int32, {rows, 1}), positions(DType::int32, {rows, 1}),
      mask(DType::int32, {rows, length + 1});
  std::ranges::copy(words, ids.mutable_data<std::int32_t>());
  // Rows of one prompt have the same mask and the same places.
  for (std::int64_t r = 0; r < rows; ++r) {
    auto* seen = mask.mutable_data<std::int32_t>() + r * (length + 1);
    std::copy_n(state.mask.data<std::int32_t>() + r * length, length, seen);
    seen[length] = 1;
    positions.mutable_data<std::int32_t>()[r] = state.next_positions[static_cast<std::size_t>(r)]++;
  }
  state.ids = ids, state.positions = positions, state.mask = mask;
  if (from.empty()) return;
  for (Value& past : state.past) past = rows_of(past.tensor(), 1, from);
}

}  // namespace grurun::engine
