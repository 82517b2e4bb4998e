// NGramRepeatBlock and BifurcationDetector (com.microsoft 1): what repeats among the words so far.
//
// NGramRepeatBlock: scores_out is scores [batch_size, vocab_size], and -inf for the words that would end an
// n-gram of ngram_size words which input_ids [batch_size, length] has already.
//
// BifurcationDetector: tokens is cur_tokens and behind them pred_tokens as far as they agree with src_tokens
// from prev_suffix_match_idx on, and the one after. suffix_match_idx is where src_tokens go on after the last
// n words of tokens, for the largest n in [min_ngram_size, max_ngram_size] of the search: it begins with the
// smallest, ends where src_tokens lack them, and goes on where they have them more than once, which gives -1.
#include <algorithm>
#include <limits>
#include <vector>

#include "engine/graph/op_context.h"
#include "opset/pages/microsoft_rules.h"

namespace grurun::engine {

namespace {

using Words = std::span<const std::int64_t>;

void block_repeats(Words words, std::int64_t size, std::span<float> scores) {
  for (const std::int64_t word : opset::repeating_words(words, size)) {
    if (word < 0 || word >= std::ssize(scores)) refuse();
    scores[static_cast<std::size_t>(word)] = -std::numeric_limits<float>::infinity();
  }
}

RunFunction prepare_ngram_repeat_block(PrepareContext& node) {
  const std::int64_t size = node.int_attribute("ngram_size");
  if (size < 1) refuse();
  return [size](RunContext& run) {
    const Tensor& ids = run.tensor(0);
    Tensor scores = run.take_tensor(1);
    if (ids.rank() != 2 || scores.rank() != 2 || ids.dim(0) != scores.dim(0)) refuse();
    const auto length = static_cast<std::size_t>(ids.dim(1)), words = static_cast<std::size_t>(scores.dim(1));
    if (static_cast<std::int64_t>(length) < size) return run.set_output(0, scores);
    float* row = scores.mutable_data<float>();
    for (std::int64_t b = 0; b < ids.dim(0); ++b, row += words) {
      run.check_limits();
      block_repeats(ids.span<std::int64_t>().subspan(static_cast<std::size_t>(b) * length, length), size,
                    {row, words});
    }
    run.set_output(0, scores);
  };
}

std::vector<std::int64_t> joined_tokens(Words source, Words current, std::int64_t matched,
                                        const Tensor* more) {
  std::vector<std::int64_t> tokens(current.begin(), current.end());
  if (more == nullptr) return tokens;
  const Words predicted = more->span<std::int64_t>();
  const auto length = static_cast<std::int64_t>(source.size());
  if (matched < 0 || matched > length || std::ssize(predicted) != length + 1 - matched) {
    refuse();
  }
  const Words rest = source.subspan(static_cast<std::size_t>(matched));
  const auto same = std::ranges::mismatch(rest, predicted).in1 - rest.begin();
  tokens.insert(tokens.end(), predicted.begin(), predicted.begin() + same + 1);
  return tokens;
}

// Where source goes on after the last words of tokens.
std::int64_t suffix_place(Words source, Words tokens, std::size_t least, std::size_t most) {
  std::int64_t place = -1;
  for (std::size_t n = least; n <= most && n <= tokens.size(); ++n) {
    const Words last = tokens.last(n);
    const auto found = std::search(source.begin(), source.end(), last.begin(), last.end());
    if (found == source.end()) break;
    place = found - source.begin() + static_cast<std::int64_t>(n);
    if (place >= std::ssize(source)) break;
    if (std::search(found + 1, source.end(), last.begin(), last.end()) != source.end()) place = -1;
  }
  return place;
}

RunFunction prepare_bifurcation_detector(PrepareContext& node) {
  const std::int64_t least = node.int_attribute("min_ngram_size", 1);
  const std::int64_t most = node.int_attribute("max_ngram_size", 3);
  if (least < 1 || most < 1) refuse();
  if (most < least) fail_invalid("max_ngram_size is {}, but min_ngram_size {}", most, least);
  return [least, most](RunContext& run) {
    const Tensor &source = run.tensor(0), &current = run.tensor(1), &matched = run.tensor(2);
    if (source.rank() != 1 || current.rank() != 1 || matched.size() != 1) refuse();
    const std::vector<std::int64_t> tokens =
        joined_tokens(source.span<std::int64_t>(), current.span<std::int64_t>(),
                      *matched.data<std::int64_t>(), run.optional_tensor(3));
    Tensor place(DType::int64, matched.shape());
    *place.mutable_data<std::int64_t>() = suffix_place(
        source.span<std::int64_t>(), tokens, static_cast<std::size_t>(least), static_cast<std::size_t>(most));
    run.set_output(0, Tensor::from<std::int64_t>({std::ssize(tokens)}, tokens));
    run.set_output(1, place);
  };
}

}  // namespace

std::vector<OpRow> op_rows_ngrams() {
  return {{"com.microsoft", "BifurcationDetector", {1}, prepare_bifurcation_detector},
          {"com.microsoft", "NGramRepeatBlock", {1}, prepare_ngram_repeat_block}};
}

}  // namespace grurun::engine
