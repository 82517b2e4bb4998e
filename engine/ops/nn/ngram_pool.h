// The n-grams of TfIdfVectorizer and how often a row of tokens holds each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace grurun::engine {

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

}  // namespace grurun::engine
