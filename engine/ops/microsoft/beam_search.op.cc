// BeamSearch (com.microsoft 1): the likeliest sequences that a decoder makes, num_beams of them kept at each
// step.
//
// A decoder like GPT-2 (model_type 0, generation.h) goes on from input_ids [batch_size, length]; an encoder
// and a decoder like T5 (model_type 1, encoder_decoder.h) begin with decoder_start_token_id. Scores are sums
// of logarithmic probabilities after the rules of generation.h, and those of finished sequences are divided
// by their length ^ length_penalty. sequences [batch_size, num_return_sequences, max_length], filled up with
// pad_token_id; sequences_scores [batch_size, num_return_sequences]; scores [max_length - length, batch_size,
// num_beams, vocab_size] of all words at each step, 0 for steps that the search does not take.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ops/microsoft/beam_hypotheses.h"
#include "engine/ops/microsoft/encoder_decoder.h"
#include "engine/ops/microsoft/generation.h"

namespace grurun::engine {

namespace {

struct BeamSearch {
  SearchAttributes attributes;
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
    if (prompt.rank() != 2) refuse();
    if (prompt.dtype() != DType::int32)
      fail_unsupported("BeamSearch with input_ids of another type than int32");
    if (prompt.size() == 0) fail_invalid("input_ids holds no words");
    batch_ = prompt.dim(0);
    read_inputs(search.decoder != nullptr ? prompt.dim(1) : 1);
    const Tensor* mask = run.optional_tensor(9);
    if (run.has_input(10)) fail_unsupported("BeamSearch with decoder_input_ids");
    if (int_input(run, 11, 0) != 0) fail_unsupported("BeamSearch with a logits_processor");
    begin(prompt, mask);
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
  void read_inputs(std::int64_t length) {
    const std::int64_t max_length = int_input(run_, 1, most_generated), beams = int_input(run_, 3, 1);
    if (max_length <= length || max_length > most_generated) {
      fail_invalid(
          "max_length is {}, but must be above {}, the length that the search begins with, and at most {}",
          max_length, length, most_generated);
    }
    returned_ = int_input(run_, 4, 1);
    if (beams < 1 || beams > most_beams || returned_ < 1 || returned_ > beams) {
      fail_invalid("num_beams is {} and num_return_sequences {}: these must be in [1, {}] and [1, num_beams]",
                   beams, returned_, most_beams);
    }
    max_length_ = static_cast<std::size_t>(max_length);
    scoring_ = {static_cast<std::size_t>(beams), float_input(run_, 5, 1), search_.early_stopping};
    rules_.min_length = int_input(run_, 2, 0), rules_.eos = search_.attributes.eos;
    rules_.no_repeat_ngram = search_.attributes.no_repeat_ngram;
    rules_.repetition_penalty = float_input(run_, 6, 1);
    if (!(rules_.repetition_penalty > 0))
      fail_invalid("repetition_penalty is {}, but must be positive", rules_.repetition_penalty);
    rules_.vocabulary = mask_input(run_, 7), rules_.prefix = mask_input(run_, 8);
  }

  void begin(const Tensor& prompt, const Tensor* mask) {
    const auto beams = static_cast<std::int64_t>(scoring_.beams);
    if (search_.decoder != nullptr) {
      state_ = search_.decoder->begin(prompt, mask, search_.attributes.pad, beams);
      const auto* words = state_.ids.data<std::int32_t>();
      for (std::int64_t r = 0; r < state_.ids.dim(0); ++r, words += prompt.dim(1))
        sequences_.emplace_back(words, words + prompt.dim(1));
      return;
    }
    sequences_.assign(static_cast<std::size_t>(batch_ * beams), Words{search_.attributes.start});
    pair_state_ = search_.encoder_decoder->begin(prompt, mask, search_.attributes, beams, run_);
  }

  void score(const Tensor& logits, int step) {
    const std::int64_t rows = std::ssize(sequences_);
    const auto words = static_cast<std::size_t>(vocabulary_of(search_.attributes, logits));
    if (words < 2) fail_unsupported("BeamSearch over {} words", words);
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

RunFunction prepare_beam_search(PrepareContext& node) {
  BeamSearch search;
  search.attributes = search_attributes(node);
  search.early_stopping = node.int_attribute("early_stopping", 0) == 1;
  const std::int64_t type = node.int_attribute("model_type", 0);
  if (type != 0 && type != 1) fail_unsupported("BeamSearch with model_type {}", type);
  if (type == 0) {
    std::shared_ptr<const Plan> first;
    if (node.has_attribute("init_decoder")) first = node.subgraph("init_decoder");
    search.decoder = std::make_shared<const Decoder>(node.subgraph("decoder"), first);
  } else {
    if (search.attributes.start < 0) fail_invalid("model_type 1 needs decoder_start_token_id");
    search.encoder_decoder =
        std::make_shared<const EncoderDecoder>(node.subgraph("encoder"), node.subgraph("decoder"));
  }
  const auto shared = std::make_shared<const BeamSearch>(std::move(search));
  return [shared](RunContext& run) { BeamRun(*shared, run).search(); };
}

}  // namespace

std::vector<OpRow> op_rows_beam_search() {
  return {{"com.microsoft", "BeamSearch", {1}, prepare_beam_search}};
}

}  // namespace grurun::engine
