// BeamSearch and WhisperBeamSearch (com.microsoft 1): the likeliest sequences that a decoder makes, num_beams
// of them kept at each step.
//
// A decoder like GPT-2 (model_type 0, generation.h) goes on from input_ids [batch_size, length]; an encoder
// and a decoder like T5 (model_type 1, encoder_decoder.h) begin with decoder_start_token_id, those of Whisper
// (model_type 2, of features [batch_size, features, frames]) with that or with decoder_input_ids [batch_size,
// begun]. logits_processor 1 holds Whisper to the rules of timestamps.h. Both inputs are without effect on
// other models. Scores are sums of logarithmic probabilities after the rules of generation.h, and those of
// finished sequences are divided by their length ^ length_penalty. sequences [batch_size,
// num_return_sequences, max_length], filled up with pad_token_id; sequences_scores [batch_size,
// num_return_sequences]; scores [max_length - length, batch_size, num_beams, vocab_size] of all words at each
// step, 0 for steps that the search does not take.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ops/microsoft/beam_hypotheses.h"
#include "engine/ops/microsoft/encoder_decoder.h"
#include "engine/ops/microsoft/generation.h"
#include "engine/ops/microsoft/timestamps.h"

namespace grurun::engine {

namespace {

enum ModelType : std::int64_t { gpt2 = 0, t5 = 1, whisper = 2 };

struct BeamSearch {
  SearchAttributes attributes;
  std::int64_t model_type = gpt2;
  TimestampWords timestamps;
  bool early_stopping = false;
  std::shared_ptr<const Decoder> decoder;
  std::shared_ptr<const EncoderDecoder> encoder_decoder;  // one of both
};

void to_log_probabilities(std::span<float> row) {
  const float most = *std::ranges::max_element(row);
  float sum = 0;
  for (float& score : row) sum += std::exp(score - most);
  const float log = std::log(sum);
  for (float& score : row) score = score - most - log;
}

class BeamRun {
 public:
  BeamRun(const BeamSearch& search, RunContext& run) : search_(search), run_(run) {
    const Tensor& prompt = run.tensor(0);
    const bool speech = search.model_type == whisper;
    if (prompt.rank() != (speech ? 3 : 2) || (prompt.dtype() != DType::int32) != speech) refuse();
    if (prompt.size() == 0) refuse();
    batch_ = prompt.dim(0);
    const Tensor starts = first_words();
    read_inputs(search.decoder != nullptr ? prompt.dim(1) : starts.dim(1));
    begin(prompt, starts);
    hypotheses_.assign(static_cast<std::size_t>(batch_), BeamHypotheses(scoring_));
    done_.assign(hypotheses_.size(), false);
    sums_.assign(sequences_.size(), -1e9f);
    for (std::size_t i = 0; i < sums_.size(); i += scoring_.beams) sums_[i] = 0;  // beams begin alike
    first_length_ = sequences_[0].size();
  }

  void search() {
    for (int step = 1; sequences_[0].size() < max_length_; ++step) {
      run_.check_limits();
      score(search_.decoder != nullptr ? search_.decoder->run(state_, run_)
                                       : search_.encoder_decoder->run(pair_state_, sequences_, run_),
            step);
      next_words_.clear(), next_rows_.clear();
      std::vector<float> sums;
      for (std::size_t b = 0; b < hypotheses_.size(); ++b) choose(b, sums);
      std::vector<Words> grown;
      for (std::size_t i = 0; i < next_words_.size(); ++i) {
        grown.push_back(sequences_[static_cast<std::size_t>(next_rows_[i])]);
        grown.back().push_back(next_words_[i]);
      }
      sequences_ = std::move(grown), sums_ = std::move(sums);
      if (std::ranges::find(done_, false) == done_.end()) break;
      if (search_.decoder != nullptr) {
        Decoder::go_on(state_, next_words_, next_rows_);
      } else {
        EncoderDecoder::go_on(pair_state_, next_rows_);
      }
    }
    write();
  }

 private:
  // What an encoder and a decoder begin with, [batch_size, begun].
  Tensor first_words() {
    const Tensor* given = run_.optional_tensor(10);
    if (given != nullptr && search_.model_type == whisper) {
      if (given->rank() != 2 || given->dim(0) != batch_ || given->size() == 0) refuse();
      return *given;
    }
    if (search_.decoder == nullptr && search_.attributes.start < 0) refuse();
    const std::vector<std::int32_t> starts(static_cast<std::size_t>(batch_), search_.attributes.start);
    return Tensor::from<std::int32_t>({batch_, 1}, starts);
  }

  void read_inputs(std::int64_t length) {
    const std::int64_t max_length = int_input(run_, 1, opset::most_generated), beams = int_input(run_, 3, 1);
    returned_ = int_input(run_, 4, 1), rules_.min_length = int_input(run_, 2, 0);
    if (max_length <= length || max_length > opset::most_generated || rules_.min_length >= max_length)
      refuse();
    if (beams < 1 || beams > opset::most_beams || returned_ < 1 || returned_ > beams) refuse();
    max_length_ = static_cast<std::size_t>(max_length);
    scoring_ = {static_cast<std::size_t>(beams), float_input(run_, 5, 1), search_.early_stopping};
    rules_.eos = search_.attributes.eos;
    rules_.no_repeat_ngram = search_.attributes.no_repeat_ngram;
    rules_.repetition_penalty = float_input(run_, 6, 1);
    if (!(rules_.repetition_penalty > 0)) refuse();
    rules_.vocabulary = mask_input(run_, 7), rules_.prefix = mask_input(run_, 8);
    const std::int64_t processor = int_input(run_, 11, 0);
    if (processor < 0) refuse();
    if (processor == 1 && search_.model_type == whisper) {
      if (search_.timestamps.beginning_timestamp <= 0) refuse();
      rules_.timestamps = &search_.timestamps;
    }
    run_.optional_tensor(12);  // which heads output 3 is of
    if (run_.has_input(13)) fail_unsupported("WhisperBeamSearch with extra_decoding_ids");
    if (const float temperature = float_input(run_, 14, 1); temperature > 0) rules_.temperature = temperature;
  }

  void begin(const Tensor& prompt, const Tensor& starts) {
    const Tensor* mask = run_.optional_tensor(9);
    if (mask != nullptr && search_.model_type == whisper)
      fail_unsupported("a search of model_type 2 with attention_mask");
    const auto beams = static_cast<std::int64_t>(scoring_.beams);
    if (search_.decoder != nullptr) {
      state_ = search_.decoder->begin(prompt, mask, search_.attributes.pad, beams,
                                      static_cast<std::int64_t>(max_length_));
      const auto* words = state_.ids.data<std::int32_t>();
      for (std::int64_t r = 0; r < state_.ids.dim(0); ++r, words += prompt.dim(1))
        sequences_.emplace_back(words, words + prompt.dim(1));
      return;
    }
    const Tensor begun = repeated_rows(starts, beams);
    const std::int64_t length = begun.dim(1);
    for (const auto* words = begun.data<std::int32_t>(); std::ssize(sequences_) < batch_ * beams;
         words += length)
      sequences_.emplace_back(words, words + length);
    pair_state_ = search_.encoder_decoder->begin(prompt, mask, starts, search_.attributes.pad, beams, run_);
  }

  void score(const Tensor& logits, int step) {
    const std::int64_t rows = std::ssize(sequences_);
    const auto words = static_cast<std::size_t>(vocabulary_of(search_.attributes, logits));
    if (words < 2) fail_unsupported("BeamSearch over {} words", words);
    if (const auto first = search_.timestamps.beginning_timestamp;
        rules_.timestamps != nullptr && first >= static_cast<std::int64_t>(words))
      fail_invalid("beginning_timestamp_token_id is {}, but there are {} words", first, words);
    scores_ = last_scores(logits, rows, static_cast<std::int64_t>(words));
    const std::span<float> all(scores_);
    for (std::size_t r = 0; r < sequences_.size(); ++r) to_log_probabilities(all.subspan(r * words, words));
    rules_.apply(all, sequences_, batch_, step);
    for (std::size_t r = 0; r < sequences_.size(); ++r)
      for (float& score : all.subspan(r * words, words)) score += sums_[r];
    if (run_.has_output(2)) history_.insert(history_.end(), scores_.begin(), scores_.end());
  }

  // The words by which the beams of prompt b go on.
  void choose(std::size_t b, std::vector<float>& sums) {
    const std::size_t beams = scoring_.beams, words = scores_.size() / sequences_.size();
    if (done_[b]) {
      next_words_.insert(next_words_.end(), beams, search_.attributes.pad);
      next_rows_.insert(next_rows_.end(), beams, static_cast<std::int64_t>(b * beams));
      sums.insert(sums.end(), beams, 0.0f);
      return;
    }
    const std::span<const float> all =
        std::span<const float>(scores_).subspan(b * beams * words, beams * words);
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t seen = std::min(2 * beams, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(seen), order.end(),
        [&](std::size_t i, std::size_t j) { return all[i] > all[j] || (all[i] == all[j] && i < j); });
    std::size_t kept = 0;
    for (std::size_t j = 0; j < seen && kept < beams; ++j) {
      const std::size_t row = b * beams + order[j] / words;
      const auto word = static_cast<std::int32_t>(order[j] % words);
      if (word == search_.attributes.eos) {
        if (j < beams) hypotheses_[b].add(sequences_[row], all[order[j]]);
        continue;
      }
      next_words_.push_back(word), next_rows_.push_back(static_cast<std::int64_t>(row));
      sums.push_back(all[order[j]]);
      ++kept;
    }
    if (kept < beams) fail_unsupported("BeamSearch over so few words that a beam cannot go on");
    done_[b] = hypotheses_[b].complete(all[order[0]], sequences_[0].size());
  }

  void write() {
    const auto width = static_cast<std::int64_t>(max_length_);
    auto* out = run_.output(0, DType::int32, {batch_, returned_, width}).mutable_data<std::int32_t>();
    std::fill_n(out, batch_ * returned_ * width, search_.attributes.pad);
    std::vector<float> scores;
    for (std::size_t b = 0; b < hypotheses_.size(); ++b) {
      for (std::size_t i = b * scoring_.beams; !done_[b] && i < (b + 1) * scoring_.beams; ++i)
        hypotheses_[b].add(sequences_[i], sums_[i]);
      for (std::int64_t i = 0; i < returned_; ++i, out += width) {
        const auto& best = hypotheses_[b].finished()[static_cast<std::size_t>(i)];
        std::ranges::copy(best.words, out);
        scores.push_back(best.score);
      }
    }
    if (run_.has_output(1)) run_.set_output(1, Tensor::from<float>({batch_, returned_}, scores));
    if (!run_.has_output(2)) return;
    const auto words = static_cast<std::int64_t>(scores_.size() / sequences_.size());
    const Shape shape{width - static_cast<std::int64_t>(first_length_), batch_,
                      static_cast<std::int64_t>(scoring_.beams), words};
    Tensor all = Tensor::zeros(DType::float32, shape);
    std::ranges::copy(history_, all.mutable_data<float>());
    run_.set_output(2, all);
  }

  const BeamSearch& search_;
  RunContext& run_;
  ScoreRules rules_;
  BeamScoring scoring_;
  std::int64_t batch_ = 0, returned_ = 1;
  std::size_t max_length_ = 0, first_length_ = 0;
  Decoder::State state_;
  EncoderDecoder::State pair_state_;
  std::vector<Words> sequences_;  // of all beams, prompt by prompt
  std::vector<float> sums_, scores_, history_;
  std::vector<BeamHypotheses> hypotheses_;
  std::vector<bool> done_;
  Words next_words_;
  std::vector<std::int64_t> next_rows_;
};

TimestampWords read_timestamps(PrepareContext& node, const SearchAttributes& attributes) {
  const auto word = [&](const char* name) { return word_attribute(node, name); };
  if (node.int_attribute("decoder_output_cross_qk", 0) != 0)
    fail_unsupported("WhisperBeamSearch with decoder_output_cross_qk");
  if (node.has_output(3)) fail_unsupported("WhisperBeamSearch with the output cross_qk");
  if (node.has_output(4)) fail_unsupported("WhisperBeamSearch with the output non_speech_probs");
  node.accept_attribute("no_speech_token_id");  // of non_speech_probs
  return {attributes.eos,
          attributes.start,
          word("translate_token_id"),
          word("transcribe_token_id"),
          word("start_of_lm_token_id"),
          word("no_timestamps_token_id"),
          word("beginning_timestamp_token_id")};
}

RunFunction prepare_beam_search(PrepareContext& node) {
  BeamSearch search;
  search.attributes = search_attributes(node);
  search.early_stopping = node.int_attribute("early_stopping", 0) == 1;
  const bool of_whisper = node.op_type() == "WhisperBeamSearch";
  search.model_type = node.int_attribute("model_type", of_whisper ? whisper : gpt2);
  if (search.model_type < (of_whisper ? whisper : gpt2) || search.model_type > whisper) refuse();
  if (of_whisper) search.timestamps = read_timestamps(node, search.attributes);
  if (search.model_type == gpt2) {
    std::shared_ptr<const Plan> first;
    if (node.has_attribute("init_decoder")) first = node.subgraph("init_decoder");
    search.decoder = std::make_shared<const Decoder>(node.subgraph("decoder"), first);
  } else {
    using Form = EncoderDecoder::Form;
    search.encoder_decoder =
        std::make_shared<const EncoderDecoder>(search.model_type == t5 ? Form::t5 : Form::whisper,
                                               node.subgraph("encoder"), node.subgraph("decoder"));
  }
  const auto shared = std::make_shared<const BeamSearch>(std::move(search));
  return [shared](RunContext& run) { BeamRun(*shared, run).search(); };
}

}  // namespace

std::vector<OpRow> op_rows_beam_search() {
  return {{"com.microsoft", "BeamSearch", {1}, prepare_beam_search},
          {"com.microsoft", "WhisperBeamSearch", {1}, prepare_beam_search}};
}

}  // namespace grurun::engine
