#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(DynamicQuantizeLinear, Ranges) {
  check_rows({
      {"a range that holds 0 already",
       "DynamicQuantizeLinear",
       11,
       {vec<float>({-1, 0, 1.55, .005})},
       {},
       {vec<std::uint8_t>({0, 100, 255, 100}), make<float>({}, {.01f}), make<std::uint8_t>({}, {100})}},
      {"a range is widened to 0",
       "DynamicQuantizeLinear",
       11,
       {make<float>({1, 2}, {255, 127})},
       {},
       {make<std::uint8_t>({1, 2}, {255, 127}), make<float>({}, {1}), make<std::uint8_t>({}, {0})}},
      {"zeros",
       "DynamicQuantizeLinear",
       11,
       {vec<float>({0, -0.0})},
       {},
       {vec<std::uint8_t>({0, 0}), make<float>({}, {1.0f / 255}), make<std::uint8_t>({}, {0})}},
      {"nothing",
       "DynamicQuantizeLinear",
       11,
       {make<float>({0}, {})},
       {},
       {make<std::uint8_t>({0}, {}), make<float>({}, {1.0f / 255}), make<std::uint8_t>({}, {0})}},
      {"NaN shows in the scale",
       "DynamicQuantizeLinear",
       11,
       {vec<float>({nan, 3})},
       {},
       {vec<std::uint8_t>({0, 0}), make<float>({}, {nan}), make<std::uint8_t>({}, {0})}},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
