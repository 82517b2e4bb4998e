// Operators that choose elements: Compress, NonZero, Unique.
#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Value chosen(const std::vector<double>& values) {
  return vec<bool>(values);
}

Tensor int64_list_of(const std::vector<double>& values) {
  return vec<std::int64_t>(values);
}

TEST(Compress, KeepsSlicesWhoseConditionIsTrue) {
  const Tensor x = make<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto axis = [](int number) { return Attributes{attr("axis", number)}; };
  check_rows({
      {"rows", "Compress", 11, {x, chosen({0, 1, 1})}, axis(0), {make<float>({2, 2}, {3, 4, 5, 6})}},
      {"columns, from the end",
       "Compress",
       11,
       {x, chosen({0, 1})},
       axis(-1),
       {make<float>({3, 1}, {2, 4, 6})}},
      {"a short condition leaves the rest out",
       "Compress",
       9,
       {x, chosen({1})},
       axis(0),
       {make<float>({1, 2}, {1, 2})}},
      {"flattened", "Compress", 28, {x, chosen({0, 1, 0, 0, 1})}, {}, {make<float>({2}, {2, 5})}},
      {"nothing", "Compress", 11, {x, chosen({0, 0, 0})}, axis(0), {make<float>({0, 2}, {})}},
      {"strings", "Compress", 11, {words({"a", "b"}), chosen({0, 1})}, axis(0), {words({"b"})}},
  });
  constexpr auto invalid = ErrorKind::invalid_model;
  check_errors({
      {"too long",
       "Compress",
       11,
       {x, chosen({1, 1, 1, 1})},
       axis(0),
       invalid,
       "condition has 4 elements for 3 of input [3,2] [SHAPE001]"},
      {"no list",
       "Compress",
       11,
       {x, make<bool>({1, 1}, {1})},
       axis(0),
       invalid,
       "input condition is [1,1]; Compress-11 takes [n] [SHAPE001]"},
      {"no such axis",
       "Compress",
       11,
       {x, chosen({1})},
       axis(2),
       invalid,
       "axis names axis 2, but must lie in [-r, r)"},
  });
}

TEST(NonZero, ListsIndicesAxisByAxis) {
  check_rows({
      {"a matrix",
       "NonZero",
       13,
       {make<float>({2, 2}, {1, 0, nan, -0.0})},
       {},
       {make<std::int64_t>({2, 2}, {0, 1, 0, 0})}},
      {"bool", "NonZero", 9, {chosen({0, 1, 1})}, {}, {make<std::int64_t>({1, 2}, {1, 2})}},
      {"strings: \"\" counts as zero",
       "NonZero",
       13,
       {words({"", "0"})},
       {},
       {make<std::int64_t>({1, 1}, {1})}},
      {"a scalar", "NonZero", 13, {make<float>({}, {3})}, {}, {make<std::int64_t>({0, 1}, {})}},
      {"a scalar 0", "NonZero", 13, {make<float>({}, {0})}, {}, {make<std::int64_t>({0, 0}, {})}},
      {"no element", "NonZero", 13, {make<float>({2, 0}, {})}, {}, {make<std::int64_t>({2, 0}, {})}},
  });
}

TEST(Unique, FindsElementsAndSlices) {
  const Tensor x = vec<float>({2, 1, 1, 3, 4, 3});
  const Attributes unsorted = {attr("sorted", 0)};
  const auto axis = [](int number) { return Attributes{attr("axis", number)}; };
  const Tensor rows = make<float>({3, 2}, {5, 1, 0, 7, 5, 1});
  check_rows({
      {"sorted",
       "Unique",
       11,
       {x},
       {},
       {vec<float>({1, 2, 3, 4}), int64_list_of({1, 0, 3, 4}), int64_list_of({1, 0, 0, 2, 3, 2}),
        int64_list_of({2, 1, 2, 1})}},
      {"as they come",
       "Unique",
       11,
       {x},
       unsorted,
       {vec<float>({2, 1, 3, 4}), int64_list_of({0, 1, 3, 4}), int64_list_of({0, 1, 1, 2, 3, 2}),
        int64_list_of({1, 2, 2, 1})}},
      {"of a matrix, flattened",
       "Unique",
       11,
       {rows},
       {},
       {vec<float>({0, 1, 5, 7}), int64_list_of({2, 1, 0, 3})}},
      {"rows",
       "Unique",
       11,
       {rows},
       axis(0),
       {make<float>({2, 2}, {0, 7, 5, 1}), int64_list_of({1, 0}), int64_list_of({1, 0, 1}),
        int64_list_of({1, 2})}},
      {"columns",
       "Unique",
       11,
       {rows},
       axis(-1),
       {make<float>({3, 2}, {1, 5, 7, 0, 1, 5}), int64_list_of({1, 0}), int64_list_of({1, 0}),
        int64_list_of({1, 1})}},
      {"NaN comes last, once",
       "Unique",
       28,
       {vec<float>({nan, 1, nan})},
       {},
       {vec<float>({1, nan}), int64_list_of({1, 0}), int64_list_of({1, 0, 1}), int64_list_of({1, 2})}},
      {"strings", "Unique", 11, {words({"b", "a", "b"})}, {}, {words({"a", "b"}), int64_list_of({1, 0})}},
      {"nothing",
       "Unique",
       11,
       {vec<float>({})},
       {},
       {vec<float>({}), int64_list_of({}), int64_list_of({}), int64_list_of({})}},
      {"slices without elements are equal",
       "Unique",
       11,
       {make<float>({3, 0}, {})},
       axis(0),
       {make<float>({1, 0}, {}), int64_list_of({0}), int64_list_of({0, 0, 0}), int64_list_of({3})}},
      {"no slice",
       "Unique",
       11,
       {make<float>({3, 0}, {})},
       axis(1),
       {make<float>({3, 0}, {}), int64_list_of({}), int64_list_of({}), int64_list_of({})}},
  });
  constexpr auto invalid = ErrorKind::invalid_model;
  check_errors({{"no such axis", "Unique", 11, {x}, axis(1), invalid, "axis names axis 1"}});
}

}  // namespace
}  // namespace grurun::engine::testing
