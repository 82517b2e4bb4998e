// Concat: runs of every length, those of few elements take a way of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

// [rows, first] and [rows, second] side by side: numbers from 0 on, row by row.
template <typename T>
OpRowCase side_by_side(std::int64_t rows, std::int64_t first, std::int64_t second) {
  std::vector<double> all, left, right;
  for (std::int64_t i = 0; i < rows * (first + second); ++i) {
    const double value = static_cast<double>(i % 120);
    all.push_back(value);
    (i % (first + second) < first ? left : right).push_back(value);
  }
  return {fmt::format("{} and {} of {} rows", first, second, rows),
          "Concat",
          13,
          {make<T>({rows, first}, left), make<T>({rows, second}, right)},
          {attr("axis", -1)},
          {make<T>({rows, first + second}, all)}};
}

TEST(Concat, RunsOfEveryLength) {
  std::vector<OpRowCase> rows;
  for (const std::int64_t first : {0, 1, 2, 3, 4, 5, 8, 9, 17}) {
    for (const std::int64_t second : {1, 2, 4, 7, 8}) {
      rows.push_back(side_by_side<float>(5, first, second));
      rows.push_back(side_by_side<std::int64_t>(3, first, second));
      rows.push_back(side_by_side<std::uint8_t>(1, first, second));
    }
  }
  rows.push_back(side_by_side<float>(40000, 4, 1));  // shared out among threads
  rows.push_back(side_by_side<float>(2, 100000, 70000));
  check_rows(rows);
}

TEST(Concat, AxesAndStrings) {
  const Tensor none = make<float>({0, 2}, {});
  check_rows({
      {"first axis",
       "Concat",
       4,
       {make<float>({1, 2}, {1, 2}), none, make<float>({2, 2}, {3, 4, 5, 6})},
       {attr("axis", 0)},
       {make<float>({3, 2}, {1, 2, 3, 4, 5, 6})}},
      {"nothing", "Concat", 13, {none, none}, {attr("axis", 0)}, {none}},
      {"strings",
       "Concat",
       13,
       {words({"a", "b"}).reshaped({2, 1}), words({"c", "d", "e", "f"}).reshaped({2, 2})},
       {attr("axis", 1)},
       {words({"a", "c", "d", "b", "e", "f"}).reshaped({2, 3})}},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
