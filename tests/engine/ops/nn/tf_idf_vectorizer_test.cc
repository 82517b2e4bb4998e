#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using Ints = std::vector<std::int64_t>;

struct Given {
  const char* mode = "TF";
  int least = 1, most = 1, skip = 0;
  Ints starts{0};
  Ints indexes{0, 1};
  Ints pool{1, 2};
  std::vector<float> weights{};
};

Attributes attributes(const Given& given) {
  Attributes out{attr("mode", given.mode),
                 attr("min_gram_length", given.least),
                 attr("max_gram_length", given.most),
                 attr("max_skip_count", given.skip),
                 attr("ngram_counts", given.starts),
                 attr("ngram_indexes", given.indexes)};
  if (!given.pool.empty()) out.push_back(attr("pool_int64s", given.pool));
  if (!given.weights.empty()) out.push_back(attr("weights", given.weights));
  return out;
}

OpRowCase row(const char* name, Tensor x, const Given& given, Tensor y) {
  return {name, "TfIdfVectorizer", 9, {std::move(x)}, attributes(given), {std::move(y)}};
}

TEST(TfIdfVectorizer, Counts) {
  // The pool of 1-grams 1, 2 and 2-grams (1,2), (2,2).
  Given both{.most = 2, .starts = {0, 2}, .indexes = {0, 1, 2, 3}, .pool = {1, 2, 1, 2, 2, 2}};
  Given pairs = both;
  pairs.least = 2;
  Given skipping = both;
  skipping.skip = 2;
  Given far = pairs;
  far.skip = 2'000'000'000;
  Given long_ones = both;
  long_ones.least = 2'000'000'000;
  long_ones.most = 2'000'000'000;
  const Tensor x = vec<std::int64_t>({1, 2, 3, 2, 2});
  check_rows({
      row("1- and 2-grams", x, both, vec<float>({1, 3, 1, 1})),
      row("2-grams only", x, pairs, vec<float>({0, 0, 1, 1})),
      // Apart by one: (1,3) (2,2) (3,2); by two: (1,2) (2,2).
      row("tokens skipped; 1-grams count once", x, skipping, vec<float>({1, 3, 2, 3})),
      // Apart by three, too: (1,2).
      row("more skips than tokens", x, far, vec<float>({0, 0, 3, 3})),
      row("n-grams longer than any", x, long_ones, vec<float>({0, 0, 0, 0})),
      row("rows on their own", make<std::int32_t>({2, 2}, {1, 2, 2, 1}), both,
          make<float>({2, 4}, {1, 1, 1, 0, 1, 1, 0, 0})),
      row("no token", vec<std::int64_t>({}), both, vec<float>({0, 0, 0, 0})),
      row("no row", make<std::int64_t>({0, 3}, {}), both, make<float>({0, 4}, {})),
      row("an n-gram twice in the pool", x, {.indexes = {0, 1}, .pool = {2, 2}}, vec<float>({3, 3})),
      row("one place for two n-grams", x, {.indexes = {2, 2}, .pool = {1, 2}}, vec<float>({0, 0, 4})),
  });
}

TEST(TfIdfVectorizer, Weights) {
  const Tensor x = vec<std::int64_t>({1, 1, 2, 1});
  // The weight is the n-gram's, wherever ngram_indexes puts it.
  check_rows({
      row("IDF", x, {.mode = "IDF", .indexes = {2, 0}, .weights = {10, 0.5}}, vec<float>({0.5, 0, 10})),
      row("TFIDF", x, {.mode = "TFIDF", .indexes = {2, 0}, .weights = {10, 0.5}}, vec<float>({0.5, 0, 30})),
      row("IDF without weights", x, {.mode = "IDF"}, vec<float>({1, 1})),
      row("weights do not count in TF", x, {.weights = {10, 10}}, vec<float>({3, 1})),
  });
}

TEST(TfIdfVectorizer, Strings) {
  Attributes of_strings = attributes({.most = 2, .starts = {0, 1}, .pool = {}});
  of_strings.push_back(attr("pool_strings", std::vector<std::string>{"b", "a", "b"}));
  const Tensor x = Tensor::from<std::string>(Shape{4}, std::vector<std::string>{"a", "b", "b", "x"});
  check_rows({{"a 1-gram and a 2-gram", "TfIdfVectorizer", 9, {x}, of_strings, {vec<float>({2, 1})}}});
  check_errors({{"of integers",
                 "TfIdfVectorizer",
                 9,
                 {vec<std::int64_t>({1})},
                 of_strings,
                 ErrorKind::invalid_model,
                 "the pool holds strings"}});
}

TEST(TfIdfVectorizer, Refusals) {
  const auto refused = [](const char* name, const Given& given, const char* text,
                          ErrorKind kind = ErrorKind::invalid_model) {
    return OpErrorCase{name, "TfIdfVectorizer", 9, {vec<std::int64_t>({1})}, attributes(given), kind, text};
  };
  check_errors({
      refused("mode", {.mode = "IF"}, "'IF'"),
      refused("length 0", {.least = 0}, "at least 1"),
      refused("lengths", {.least = 2}, "max_gram_length is 1, below min_gram_length, which is 2"),
      refused("skip", {.skip = -1}, "max_skip_count"),
      refused("no place", {.indexes = {}, .pool = {1}}, "ngram_indexes"),
      refused("place below 0", {.indexes = {0, -1}},
              "ngram_indexes holds -1, but must hold numbers from 0 on"),
      refused("more places than n-grams", {.indexes = {0, 1, 2}}, "as many"),
      refused("tokens left over", {.most = 2, .starts = {0, 1}, .indexes = {0, 1}, .pool = {1, 2, 3, 4}},
              "multiple"),
      refused("starts that fall", {.starts = {0, 5, 2}}, "rise"),
      refused("starts that do not begin at 0", {.starts = {1}}, "start at 0"),
      refused("weights", {.weights = {1}}, "1 weights"),
      refused("no pool", {.pool = {}}, "pool_int64s"),
      refused("one place, weighted", {.mode = "IDF", .indexes = {0, 0}}, "same place",
              ErrorKind::unsupported),
      {"a cube",
       "TfIdfVectorizer",
       9,
       {make<std::int64_t>({1, 1, 1}, {1})},
       attributes({}),
       ErrorKind::invalid_model,
       "[N,C]"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
