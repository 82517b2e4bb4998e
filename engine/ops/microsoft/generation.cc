#include "engine/ops/microsoft/generation.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

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

// A tensor without elements, of the type that the body declares and the declared sizes of its last axes.
Tensor empty_past(const Plan& body, std::size_t index, std::int64_t rows) {
  const ValueType& type = body.input_types[index];
  const bool known = type.shape && type.shape->size() == 5 && type.elem != DType::undefined;
  if (!known || !(*type.shape)[2].value || !(*type.shape)[4].value) {
    fail_invalid(
        "the body '{}' must declare its input '{}' as [2, rows, heads, length, size], with heads and size",
        body.name, body.input_names[index]);
  }
  return {type.elem, Shape{2, rows, *(*type.shape)[2].value, 0, *(*type.shape)[4].value}};
}

void require_decoder(const Plan& body) {
  if (body.inputs.size() < 4 || body.outputs.size() + 2 != body.inputs.size()) {
    fail_unsupported(
        "the body '{}' has {} inputs and {} outputs: only (input_ids, position_ids, attention_mask, "
        "past_0, ...) -> (logits, present_0, ...) is known",
        body.name, body.inputs.size(), body.outputs.size());
  }
}

}  // namespace

SearchAttributes search_attributes(PrepareContext& node) {
  SearchAttributes read;
  read.eos = narrow_id(node.int_attribute("eos_token_id"), "eos_token_id");
  read.pad = narrow_id(node.int_attribute("pad_token_id"), "pad_token_id");
  read.start = narrow_id(node.int_attribute("decoder_start_token_id", -1), "decoder_start_token_id");
  read.vocabulary = node.int_attribute("vocab_size", -1);
  const std::int64_t ngram = node.int_attribute("no_repeat_ngram_size", 0);
  if (read.eos < 0 || read.pad < 0 || ngram < 0) refuse();
  read.no_repeat_ngram = static_cast<std::size_t>(ngram);
  return read;
}

std::int64_t int_input(RunContext& run, std::size_t index, std::int64_t otherwise) {
  const Tensor* given = run.optional_tensor(index);
  if (given == nullptr) return otherwise;
  if (given->size() != 1) fail_invalid("input {} must hold one number", index);
  return *given->data<std::int32_t>();
}

float float_input(RunContext& run, std::size_t index, float otherwise) {
  const Tensor* given = run.optional_tensor(index);
  if (given == nullptr) return otherwise;
  if (given->size() != 1) fail_invalid("input {} must hold one number", index);
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
  if (first_ != nullptr) require_decoder(*first_);
}

Decoder::State Decoder::begin(const Tensor& prompt, const Tensor* mask, std::int32_t pad,
                              std::int64_t beams) const {
  if (mask != nullptr && !(mask->shape() == prompt.shape())) {
    fail_invalid("attention_mask is {}, but input_ids {}", mask->shape().to_string(),
                 prompt.shape().to_string());
  }
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
  for (std::size_t i = 3; i < body_->inputs.size(); ++i)
    state.past.emplace_back(empty_past(*body_, i, state.ids.dim(0)));
  return state;
}

Tensor Decoder::run(State& state, RunContext& context) const {
  Values inputs;
  inputs.emplace_back(state.ids), inputs.emplace_back(state.positions), inputs.emplace_back(state.mask);
  for (Value& past : state.past) inputs.push_back(std::move(past));
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
