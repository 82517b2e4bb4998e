#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

constexpr double lowest = -0x1p63;  // "INT_MIN", for the end of a slice that goes backwards

Tensor one(double value) {
  return vec<std::int64_t>({value});
}

OpRowCase backwards(std::int64_t opset, double start, double step, const std::vector<double>& expected) {
  return {
      "from " + std::to_string(start) + " by " + std::to_string(step),     "Slice", opset,
      {vec<float>({0, 1, 2}), one(start), one(lowest), one(0), one(step)}, {},      {vec<float>(expected)}};
}

TEST(Slice, BackwardsFromBeforeTheFirst) {
  check_rows({backwards(13, -10, -1, {0}), backwards(13, -4, -2, {0}), backwards(13, -3, -1, {0}),
              backwards(13, -1, -2, {2, 0}), backwards(13, 10, -1, {2, 1, 0}),
              // "Similar to numpy"
              backwards(10, -10, -1, {}), backwards(11, -4, -2, {}), backwards(11, -3, -1, {0})});
}

template <typename T>
void reverse_rows(std::int64_t length) {
  std::vector<double> x, reversed;
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t i = 0; i < length; ++i) {
      x.push_back(static_cast<double>(row * length + i));
      reversed.push_back(static_cast<double>(row * length + length - 1 - i));
    }
  }
  const Shape shape{2, length};
  check_rows({{"reversed " + std::to_string(length),
               "Slice",
               13,
               {make<T>(shape, x), one(-1), one(lowest), one(1), one(-1)},
               {},
               {make<T>(shape, reversed)}}});
}

TEST(Slice, RowsOfEveryWidthBackwards) {
  for (const std::int64_t length : {1, 2, 7, 8, 9, 16, 23, 70}) {
    reverse_rows<std::uint8_t>(length);
    reverse_rows<std::int16_t>(length);
    reverse_rows<float>(length);
    reverse_rows<double>(length);
  }
}

TEST(Slice, OfNothing) {
  for (const double step : {-1, 1}) {
    check_rows({{"empty axis",
                 "Slice",
                 13,
                 {make<float>({2, 0}, {}), one(-5), one(5), one(1), one(step)},
                 {},
                 {make<float>({2, 0}, {})}}});
  }
}

}  // namespace
}  // namespace grurun::engine::testing
