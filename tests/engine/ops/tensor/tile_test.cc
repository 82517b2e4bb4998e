#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

const Tensor two_by_two = make<float>({2, 2}, {1, 2, 3, 4});

Value one_number(double value) {
  return make<float>({}, {value});
}

// Version 1 takes counts and axes as numbers of the input's type.
TEST(Tile, RepeatsAxes) {
  check_rows({
      {"both axes",
       "Tile",
       13,
       {two_by_two, vec<std::int64_t>({1, 2})},
       {},
       {make<float>({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4})}},
      {"no time", "Tile", 6, {two_by_two, vec<std::int64_t>({0, 1})}, {}, {make<float>({0, 2}, {})}},
      {"version 1",
       "Tile",
       1,
       {two_by_two, one_number(2), one_number(0)},
       {},
       {make<float>({4, 2}, {1, 2, 3, 4, 1, 2, 3, 4})}},
  });
}

TEST(Tile, RefusesWhatIsNoCountOrAxis) {
  constexpr auto invalid = ErrorKind::invalid_model;
  check_errors({
      {"negative", "Tile", 13, {two_by_two, vec<std::int64_t>({1, -2})}, {}, invalid, "repeats holds -2"},
      {"too few",
       "Tile",
       13,
       {two_by_two, vec<std::int64_t>({2})},
       {},
       invalid,
       "repeats has 1 entries, but input [2,2] has 2 axes [SHAPE001]"},
      {"no whole number",
       "Tile",
       1,
       {two_by_two, one_number(2.7), one_number(0)},
       {},
       invalid,
       "tiles is 2.7"},
      {"NaN", "Tile", 1, {two_by_two, one_number(nan), one_number(0)}, {}, invalid, "tiles is nan"},
      {"beyond integers",
       "Tile",
       1,
       {two_by_two, one_number(1e30), one_number(0)},
       {},
       invalid,
       "tiles is 1"},
      {"half an axis", "Tile", 1, {two_by_two, one_number(2), one_number(0.5)}, {}, invalid, "axis is 0.5"},
      {"no such axis", "Tile", 1, {two_by_two, one_number(2), one_number(2)}, {}, invalid, "axis"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
