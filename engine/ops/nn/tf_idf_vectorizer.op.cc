// TfIdfVectorizer (ai.onnx 9).
//
// X [C] -> Y [M], X [N, C] -> Y [N, M], row by row, with M = max(ngram_indexes) + 1. The pool lists all
// 1-grams, then all 2-grams, ...; ngram_counts says where each of these lists begins. With count[i] the times
// that a row holds the i-th n-gram, its tokens next to each other or 1 to max_skip_count tokens apart:
//   TF     Y[ngram_indexes[i]] = count[i]
//   IDF    Y[ngram_indexes[i]] = min(count[i], 1) * weights[i]
//   TFIDF  Y[ngram_indexes[i]] = count[i] * weights[i]
// Only n-grams of min_gram_length to max_gram_length tokens count; a 1-gram has nothing to skip and counts
// once. N-grams with one place in Y add up in TF; how they would in the other modes the text does not say.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

/// A tree whose edges are tokens: the path from the root to a place spells an n-gram. T is std::int64_t or
/// std::string.
template <typename T>
class NgramPool {
 public:
  /// Adds the n-gram with this number. One added twice has both numbers.
  void add(std::span<const T> tokens, std::int64_t number);

  /// Calls found(number) for each n-gram of `least` to `most` tokens that starts at tokens[start] and takes
  /// every stride-th.
  template <typename Found>
  void match(std::span<const std::int64_t> tokens, std::size_t start, std::size_t stride, std::int64_t least,
             std::int64_t most, Found&& found) const;

  /// The number by which match knows a token, -1 for one that is in no n-gram.
  std::int64_t token_number(const T& token) const {
    const auto known = tokens_.find(token);
    return known == tokens_.end() ? -1 : known->second;
  }

 private:
  struct Place {
    std::unordered_map<std::int64_t, std::size_t> next;  // by token number
    std::vector<std::int64_t> numbers;                   // n-grams that end here
  };

  std::unordered_map<T, std::int64_t> tokens_;
  std::vector<Place> places_{1};
};

template <typename T>
void NgramPool<T>::add(std::span<const T> tokens, std::int64_t number) {
  std::size_t at = 0;
  for (const T& token : tokens) {
    const auto id = tokens_.emplace(token, static_cast<std::int64_t>(tokens_.size())).first->second;
    const auto [step, is_new] = places_[at].next.emplace(id, places_.size());
    at = step->second;
    if (is_new) places_.emplace_back();
  }
  places_[at].numbers.push_back(number);
}

template <typename T>
template <typename Found>
void NgramPool<T>::match(std::span<const std::int64_t> tokens, std::size_t start, std::size_t stride,
                         std::int64_t least, std::int64_t most, Found&& found) const {
  std::size_t at = 0;
  std::int64_t length = 0;
  for (std::size_t i = start; i < tokens.size() && length < most; i += stride) {
    const auto step = places_[at].next.find(tokens[i]);
    if (step == places_[at].next.end()) return;
    at = step->second;
    if (++length < least) continue;
    for (const std::int64_t number : places_[at].numbers) found(number);
  }
}

enum class Weighting { tf, idf, tf_idf };

struct Vectorizer {
  Weighting weighting = Weighting::tf;
  std::int64_t least = 1;
  std::int64_t most = 1;
  std::int64_t max_skip_count = 0;
  std::vector<std::int64_t> indexes;
  std::vector<float> weights;  // one for each n-gram
  std::int64_t width = 0;      // M
};

Weighting parse_mode(const std::string& mode) {
  if (mode == "TF") return Weighting::tf;
  if (mode == "IDF") return Weighting::idf;
  return Weighting::tf_idf;
}

Vectorizer read_attributes(PrepareContext& node) {
  Vectorizer read;
  read.weighting = parse_mode(node.string_attribute("mode"));
  read.least = node.int_attribute("min_gram_length");
  read.most = node.int_attribute("max_gram_length");
  read.max_skip_count = node.int_attribute("max_skip_count");
  read.indexes = node.ints_attribute("ngram_indexes");
  read.width = checked_add(std::ranges::max(read.indexes), 1);
  read.weights = node.floats_attribute("weights");
  if (read.weights.empty()) read.weights.assign(read.indexes.size(), 1.0F);
  const std::unordered_set<std::int64_t> distinct(read.indexes.begin(), read.indexes.end());
  if (read.weighting != Weighting::tf && distinct.size() != read.indexes.size()) {
    fail_unsupported("two n-grams with the same place in ngram_indexes, unless mode is TF");
  }
  return read;
}

template <typename T>
NgramPool<T> read_pool(const std::vector<T>& tokens, const std::vector<std::int64_t>& starts) {
  NgramPool<T> pool;
  std::size_t number = 0;
  std::size_t at = 0;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const std::size_t length = k + 1;
    const std::int64_t end = k + 1 < starts.size() ? starts[k + 1] : static_cast<std::int64_t>(tokens.size());
    for (; at < static_cast<std::size_t>(end); at += length, ++number) {
      pool.add(std::span(tokens).subspan(at, length), static_cast<std::int64_t>(number));
    }
  }
  return pool;
}

template <typename T, typename Element>
std::vector<std::int64_t> token_numbers(const NgramPool<T>& pool, const Tensor& x) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(x.size()));
  for (const Element& token : x.span<Element>()) numbers.push_back(pool.token_number(token));
  return numbers;
}

template <typename T>
void count_row(const Vectorizer& what, const NgramPool<T>& pool, std::span<const std::int64_t> row,
               RunContext& run, std::vector<std::int64_t>& counts) {
  std::ranges::fill(counts, 0);
  if (row.empty()) return;
  const auto found = [&](std::int64_t number) { ++counts[static_cast<std::size_t>(number)]; };
  for (std::int64_t skip = 0; skip <= what.max_skip_count; ++skip) {
    // A 1-gram is the same whatever the skip, and is counted with skip 0.
    const std::int64_t least = skip == 0 ? what.least : std::max<std::int64_t>(what.least, 2);
    const auto stride = static_cast<std::size_t>(skip) + 1;
    if (least > what.most || static_cast<std::size_t>(least - 1) > (row.size() - 1) / stride) break;
    run.check_limits();
    for (std::size_t start = 0; start < row.size(); ++start) {
      pool.match(row, start, stride, least, what.most, found);
    }
  }
}

void write_row(const Vectorizer& what, const std::vector<std::int64_t>& counts, float* row) {
  std::fill_n(row, what.width, 0.0F);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto count = what.weighting == Weighting::idf ? 1.0F : static_cast<float>(counts[i]);
    // N-grams share a place in mode TF only.
    row[what.indexes[i]] += what.weighting == Weighting::tf ? count : count * what.weights[i];
  }
}

template <typename T>
void run_vectorizer(const Vectorizer& what, const NgramPool<T>& pool, RunContext& run) {
  const Tensor& x = run.tensor(0);
  if (x.rank() != 1 && x.rank() != 2) refuse();
  if ((x.dtype() == DType::string) != std::is_same_v<T, std::string>) refuse();
  std::vector<std::int64_t> tokens;
  if constexpr (std::is_same_v<T, std::string>) {
    tokens = token_numbers<T, std::string>(pool, x);
  } else {
    tokens = x.dtype() == DType::int32 ? token_numbers<T, std::int32_t>(pool, x)
                                       : token_numbers<T, std::int64_t>(pool, x);
  }
  const std::int64_t rows = x.rank() == 2 ? x.dim(0) : 1;
  const auto length = static_cast<std::size_t>(x.dim(x.rank() - 1));
  const Shape shape = x.rank() == 2 ? Shape{rows, what.width} : Shape{what.width};
  float* to = run.output(0, DType::float32, shape).mutable_data<float>();
  std::vector<std::int64_t> counts(what.indexes.size());
  for (std::int64_t n = 0; n < rows; ++n, to += what.width) {
    count_row(what, pool, std::span(tokens).subspan(static_cast<std::size_t>(n) * length, length), run,
              counts);
    write_row(what, counts, to);
  }
}

RunFunction prepare_tf_idf_vectorizer(PrepareContext& node) {
  const Vectorizer what = read_attributes(node);
  const std::vector<std::int64_t> starts = node.ints_attribute("ngram_counts");
  const std::vector<std::int64_t> numbers = node.ints_attribute("pool_int64s");
  const std::vector<std::string> strings = node.strings_attribute("pool_strings");
  if (numbers.empty()) {
    return [what, pool = read_pool(strings, starts)](RunContext& run) { run_vectorizer(what, pool, run); };
  }
  return [what, pool = read_pool(numbers, starts)](RunContext& run) { run_vectorizer(what, pool, run); };
}

}  // namespace

std::vector<OpRow> op_rows_tf_idf_vectorizer() {
  return {{"", "TfIdfVectorizer", {9}, prepare_tf_idf_vectorizer}};
}

}  // namespace grurun::engine
