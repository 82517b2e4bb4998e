// What a mutation is drawn from: numbers, words and places, by one generator.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace grurun::trial::testing {

class Draws {
 public:
  explicit Draws(std::mt19937& random) : random_(random) {}

  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <typename List>
  const auto& any_of(const List& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

  std::int64_t number() {
    static constexpr std::array<std::int64_t, 14> numbers{0, 1, 2, 3, 4, 5, 7, 100, -1, -2, -3, -4, -5, -100};
    return any_of(numbers);
  }
  float real() {
    static constexpr std::array<float, 8> numbers{0, 1, 0.5F, 2, 100, -1, -0.5F, 1e-3F};
    return any_of(numbers);
  }
  std::string word() {
    static constexpr std::array<const char*, 12> words{"",       "bogus",  "VALID",    "SAME_UPPER",
                                                       "NOTSET", "linear", "constant", "edge",
                                                       "none",   "add",    "mul",      "i,j->ij"};
    return any_of(words);
  }

 private:
  std::mt19937& random_;
};

}  // namespace grurun::trial::testing
