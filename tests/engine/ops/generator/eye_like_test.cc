#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(EyeLike, PutsOnesOnADiagonal) {
  const Tensor x = make<std::int32_t>({2, 3}, {9, 9, 9, 9, 9, 9});
  const auto to_float = attr("dtype", static_cast<std::int64_t>(DType::float32));
  check_rows({
      {"the main one, of the input's type",
       "EyeLike",
       22,
       {x},
       {},
       {make<std::int32_t>({2, 3}, {1, 0, 0, 0, 1, 0})}},
      {"above, of another type",
       "EyeLike",
       9,
       {x},
       {attr("k", 1), to_float},
       {make<float>({2, 3}, {0, 1, 0, 0, 0, 1})}},
      {"below", "EyeLike", 9, {x}, {attr("k", -1)}, {make<std::int32_t>({2, 3}, {0, 0, 0, 1, 0, 0})}},
      {"the last", "EyeLike", 9, {x}, {attr("k", 2)}, {make<std::int32_t>({2, 3}, {0, 0, 1, 0, 0, 0})}},
      {"right of it", "EyeLike", 9, {x}, {attr("k", 3)}, {make<std::int32_t>({2, 3}, {0, 0, 0, 0, 0, 0})}},
      {"below it", "EyeLike", 9, {x}, {attr("k", -2)}, {make<std::int32_t>({2, 3}, {0, 0, 0, 0, 0, 0})}},
      {"no row", "EyeLike", 9, {make<float>({0, 3}, {})}, {}, {make<float>({0, 3}, {})}},
  });
  check_errors({
      {"a list",
       "EyeLike",
       9,
       {make<float>({3}, {1, 2, 3})},
       {},
       ErrorKind::invalid_model,
       "input is [3]; EyeLike-9 takes [rows,columns]"},
      {"no type", "EyeLike", 9, {x}, {attr("dtype", 99)}, ErrorKind::invalid_model, "dtype is 99"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
