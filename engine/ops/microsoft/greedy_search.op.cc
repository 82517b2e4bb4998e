// GreedySearch and Sampling (com.microsoft 1): words that a decoder finds likeliest, or draws, one after the
// other.
//
// input_ids [batch_size, length] -> sequences [batch_size, max_length]: the prompt and what follows. The
// decoder is one like GPT-2 (generation.h); init_decoder serves the first step. A row that has met
// eos_token_id goes on with pad_token_id, and fills up with it once all rows have.
//
// Sampling draws from the words that are kept. With custom 0 they are those of the highest probability, at
// least min_tokens_to_keep, that add up to more than top_p; with custom 1 those before the sum exceeds top_p.
// The others' scores become filter_value. The generator is the minimal standard one of Park and Miller, as in
// the onnxruntime package on Linux; without a seed input the run's seed begins it.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "engine/ops/microsoft/generation.h"

namespace grurun::engine {

namespace {

struct SamplingAttributes {
  bool custom = false;
  float top_p = 0, filter_value = -1e20f;
  std::size_t least_kept = 0;
};

struct Search {
  SearchAttributes attributes;
  ScoreRules rules;  // as far as attributes say
  std::optional<SamplingAttributes> sampling;
  std::shared_ptr<const Decoder> decoder;
};

std::vector<float> probabilities(std::span<const float> scores) {
  const float most = *std::ranges::max_element(scores);
  std::vector<float> made;
  for (const float score : scores) made.push_back(std::exp(score - most));
  const float sum = std::accumulate(made.begin(), made.end(), 0.0f);
  for (float& probability : made) probability /= sum;
  return made;
}

void filter(const SamplingAttributes& how, std::span<float> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return how.custom ? scores[a] > scores[b] : scores[a] < scores[b];
  });
  std::vector<float> sums = probabilities(scores);
  std::vector<float> sorted;
  for (const std::size_t word : order) sorted.push_back(sums[word]);
  std::partial_sum(sorted.begin(), sorted.end(), sums.begin());
  const std::size_t end =
      how.custom ? scores.size() - 1 : scores.size() - std::min(scores.size(), how.least_kept);
  for (std::size_t i = 0; i < std::max<std::size_t>(end, how.custom ? 0 : 1); ++i) {
    if (how.custom && sums[i] > how.top_p) scores[order[i + 1]] = how.filter_value;
    if (!how.custom && sums[i] <= 1 - how.top_p) scores[order[i]] = how.filter_value;
  }
}

// In [0, 1), from two numbers of the generator.
double unit(std::minstd_rand0& generator) {
  constexpr double range = 2147483646.0;
  const double low = static_cast<double>(generator() - 1), high = static_cast<double>(generator() - 1);
  return std::min((low + high * range) / (range * range), std::nextafter(1.0, 0.0));
}

std::int32_t drawn(std::span<const float> scores, std::minstd_rand0& generator) {
  const double most = *std::ranges::max_element(scores);
  std::vector<double> sums;
  double sum = 0;
  for (const float score : scores) sums.push_back(sum += std::exp(static_cast<double>(score) - most));
  const auto at = std::ranges::upper_bound(sums, unit(generator) * sum);
  return static_cast<std::int32_t>(std::min(at - sums.begin(), std::ssize(sums) - 1));
}

class GreedyRun {
 public:
  GreedyRun(const Search& search, RunContext& run) : search_(search), run_(run), rules_(search.rules) {
    const Tensor& prompt = run.tensor(0);
    if (prompt.rank() != 2 || prompt.size() == 0) refuse();
    batch_ = prompt.dim(0), max_length_ = int_input(run, 1, opset::most_generated);
    if (max_length_ <= prompt.dim(1) || max_length_ > opset::most_generated) refuse();
    read_rules();
    const Tensor* mask = run.optional_tensor(6);
    state_ = search.decoder->begin(prompt, mask, search.attributes.pad, 1, max_length_);
    const auto* words = prompt.data<std::int32_t>();
    for (std::int64_t b = 0; b < batch_; ++b, words += prompt.dim(1))
      sequences_.emplace_back(words, words + prompt.dim(1));
    ended_.resize(sequences_.size(), false);
  }

  void search() {
    for (int step = 1; std::ssize(sequences_[0]) < max_length_; ++step) {
      run_.check_limits();
      const Tensor logits = search_.decoder->run(state_, run_);
      words_ = vocabulary_of(search_.attributes, logits);
      scores_ = last_scores(logits, batch_, words_);
      rules_.apply(scores_, sequences_, batch_, step);
      const Words next = next_words();
      for (std::size_t b = 0; b < next.size(); ++b) sequences_[b].push_back(next[b]);
      if (std::ranges::find(ended_, false) == ended_.end()) break;
      Decoder::go_on(state_, next, {});
    }
    write();
  }

 private:
  void read_rules() {
    rules_.min_length = int_input(run_, 2, 0);
    if (rules_.min_length >= max_length_) refuse();
    rules_.repetition_penalty = float_input(run_, 3, 1);
    rules_.vocabulary = mask_input(run_, 4), rules_.prefix = mask_input(run_, 5);
    if (!(rules_.repetition_penalty > 0)) refuse();
    if (!search_.sampling) return;
    rules_.presence = mask_input(run_, 7);
    const std::int64_t seed =
        run_.has_input(8) ? int_input(run_, 8, 0) : static_cast<std::int64_t>(run_.random_seed() >> 33);
    generator_.seed(static_cast<std::uint32_t>(seed));
  }

  Words next_words() {
    Words next;
    const auto words = static_cast<std::size_t>(words_);
    for (std::size_t b = 0; b < ended_.size(); ++b) {
      const std::span<float> row = std::span(scores_).subspan(b * words, words);
      if (search_.sampling) filter(*search_.sampling, row);
      next.push_back(search_.sampling
                         ? drawn(row, generator_)
                         : static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin()));
      ended_[b] = ended_[b] || next.back() == search_.attributes.eos;
      if (ended_[b]) next.back() = search_.attributes.pad;
    }
    return next;
  }

  void write() {
    auto* out = run_.output(0, DType::int32, {batch_, max_length_}).mutable_data<std::int32_t>();
    std::fill_n(out, batch_ * max_length_, search_.attributes.pad);
    for (std::size_t b = 0; b < sequences_.size(); ++b)
      std::ranges::copy(sequences_[b], out + static_cast<std::int64_t>(b) * max_length_);
    if (search_.sampling && run_.has_output(1))
      run_.set_output(1, Tensor::from<float>({batch_, words_}, scores_));
  }

  const Search& search_;
  RunContext& run_;
  ScoreRules rules_;
  std::int64_t batch_ = 0, max_length_ = 0, words_ = 0;
  Decoder::State state_;
  std::vector<Words> sequences_;
  std::vector<bool> ended_;
  std::vector<float> scores_;
  std::minstd_rand0 generator_;
};

Search read_search(PrepareContext& node) {
  Search search;
  search.attributes = search_attributes(node);
  search.rules.eos = search.attributes.eos;
  search.rules.no_repeat_ngram = search.attributes.no_repeat_ngram;
  if (node.int_attribute("model_type", 0) != 0 || node.has_attribute("encoder"))
    fail_unsupported("{} with an encoder", node.op_type());
  std::shared_ptr<const Plan> first;
  if (node.has_attribute("init_decoder")) first = node.subgraph("init_decoder");
  search.decoder = std::make_shared<const Decoder>(node.subgraph("decoder"), first);
  return search;
}

RunFunction prepare_greedy_search(PrepareContext& node) {
  const auto search = std::make_shared<const Search>(read_search(node));
  return [search](RunContext& run) { GreedyRun(*search, run).search(); };
}

RunFunction prepare_sampling(PrepareContext& node) {
  Search search = read_search(node);
  SamplingAttributes how;
  how.custom = node.int_attribute("custom", 0) == 1;
  how.top_p = node.float_attribute("top_p", 0);
  how.filter_value = node.float_attribute("filter_value", -1e20f);
  const std::int64_t kept = node.int_attribute("min_tokens_to_keep", 0);
  if (kept < 0) refuse();
  how.least_kept = static_cast<std::size_t>(kept);
  const float temperature = node.float_attribute("temperature", 1);
  if (temperature > 0) search.rules.temperature = temperature;
  search.rules.presence_penalty = node.float_attribute("presence_penalty", 0);
  search.sampling = how;
  const auto shared = std::make_shared<const Search>(std::move(search));
  return [shared](RunContext& run) { GreedyRun(*shared, run).search(); };
}

}  // namespace

std::vector<OpRow> op_rows_greedy_search() {
  return {{"com.microsoft", "GreedySearch", {1}, prepare_greedy_search},
          {"com.microsoft", "Sampling", {1}, prepare_sampling}};
}

}  // namespace grurun::engine
