#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/kernels/machine/parallel.h"
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

// Long enough for several blocks, of which each holds an extreme, or the NaN.
TEST(DynamicQuantizeLinear, LongLists) {
  constexpr std::int64_t n = 20'000;
  std::vector<double> x(n, 0.26);
  x[4095] = -1;
  x[n - 1] = 4.1;
  std::vector<double> y(n, 63);  // 0.26 / 0.02 + 50
  y[4095] = 0;
  y[n - 1] = 255;
  std::vector<double> with_nan = x;
  with_nan[9000] = nan;
  for (const int threads : {1, 3}) {
    kernels::set_threads(threads);
    check_rows({{"the extremes are far apart",
                 "DynamicQuantizeLinear",
                 11,
                 {vec<float>(x)},
                 {},
                 {vec<std::uint8_t>(y), make<float>({}, {.02f}), make<std::uint8_t>({}, {50})}},
                {"one NaN",
                 "DynamicQuantizeLinear",
                 11,
                 {vec<float>(with_nan)},
                 {},
                 {vec<std::uint8_t>(std::vector<double>(n, 0)), make<float>({}, {nan}),
                  make<std::uint8_t>({}, {0})}}});
  }
  kernels::set_threads(1);
}

}  // namespace
}  // namespace grurun::engine::testing
