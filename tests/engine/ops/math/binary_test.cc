#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(Binary, Arithmetic) {
  check_rows({
      {"floats",
       "Add",
       14,
       {vec<float>({1, -2.5, inf}), vec<float>({0.25, 2.5, -inf})},
       {},
       {vec<float>({1.25, 0, nan})}},
      {"halves are computed in float and rounded once",
       "Add",
       14,
       {vec<Float16>({2048, 60000}), vec<Float16>({1, 60000})},
       {},
       {vec<Float16>({2048, inf})}},
      {"bfloat16",
       "Mul",
       14,
       {vec<BFloat16>({3, -1.5}), vec<BFloat16>({0.5, 2})},
       {},
       {vec<BFloat16>({1.5, -3})}},
      {"uint8 wraps",
       "Add",
       14,
       {vec<std::uint8_t>({250, 1}), vec<std::uint8_t>({10, 1})},
       {},
       {vec<std::uint8_t>({4, 2})}},
      {"uint8 wraps below zero",
       "Sub",
       14,
       {vec<std::uint8_t>({0}), vec<std::uint8_t>({1})},
       {},
       {vec<std::uint8_t>({255})}},
      {"uint16 products exceed int",
       "Mul",
       14,
       {vec<std::uint16_t>({65535}), vec<std::uint16_t>({65535})},
       {},
       {vec<std::uint16_t>({1})}},
      {"int64 beyond what double holds",
       "Add",
       14,
       {Tensor::from<std::int64_t>({1}, {9007199254740993}), vec<std::int64_t>({0})},
       {},
       {Tensor::from<std::int64_t>({1}, {9007199254740993})}},
      {"division truncates, the lowest by -1 wraps",
       "Div",
       14,
       {vec<std::int32_t>({7, -7, -2147483648.0}), vec<std::int32_t>({2, 2, -1})},
       {},
       {vec<std::int32_t>({3, -3, -2147483648.0})}},
      {"float division by zero",
       "Div",
       14,
       {vec<double>({1, -1, 0}), vec<double>({0, 0, 0})},
       {},
       {vec<double>({inf, -inf, nan})}},
      {"scalar against matrix",
       "Sub",
       7,
       {make<float>({}, {10}), make<float>({2, 2}, {1, 2, 3, 4})},
       {},
       {make<float>({2, 2}, {9, 8, 7, 6})}},
      {"empty against one",
       "Add",
       13,
       {make<float>({0, 3}, {}), make<float>({1, 3}, {1, 2, 3})},
       {},
       {make<float>({0, 3}, {})}},
  });
  check_errors({
      {"integer by zero",
       "Div",
       14,
       {vec<std::int32_t>({1}), vec<std::int32_t>({0})},
       {},
       ErrorKind::invalid_model,
       "input B holds 0, by which no integer can be divided"},
      {"shapes do not combine",
       "Add",
       14,
       {vec<float>({1, 2}), vec<float>({1, 2, 3})},
       {},
       ErrorKind::invalid_model,
       "input B is [3], which does not broadcast to [2]"},
  });
}

// Against the C library, over all exponents: near and far multiples, equal numbers, zeros, infinities.
TEST(Binary, ModOfFloatsIsExact) {
  std::mt19937 random(3);
  std::vector<double> a, b, truncated, floored;
  const auto add = [&](float x, float y) {
    const float rest = std::fmod(x, y);
    const bool other_side = rest != 0 && (rest < 0) != (y < 0);
    a.push_back(x);
    b.push_back(y);
    truncated.push_back(rest);
    floored.push_back(rest == 0 ? std::copysign(rest, y) : other_side ? rest + y : rest);
  };
  std::uniform_int_distribution<int> exponent(-149, 127), distance(-3, 34), factor(-40, 40);
  std::uniform_real_distribution<float> fraction(1, 2);
  for (int i = 0; i < 20000; ++i) {
    const int of_divisor = exponent(random);
    const float y = std::ldexp(i % 2 == 0 ? fraction(random) : -fraction(random), of_divisor);
    const float x = i % 3 == 0 ? static_cast<float>(factor(random)) * y
                               : std::ldexp(fraction(random), std::min(127, of_divisor + distance(random)));
    add(i % 5 < 2 ? -x : x, y);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {0.0f, -0.0f, 1.0f, -3.0f, infinity, -infinity}) {
    for (const float y : {0.0f, -0.0f, 1.0f, -3.0f, infinity, -infinity}) add(x, y);
  }
  const auto expect_same = [&](const std::vector<Value>& made, const std::vector<double>& expected) {
    const float* y = made.at(0).tensor().data<float>();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double got = static_cast<double>(y[i]);
      ASSERT_TRUE(std::isnan(expected[i])
                      ? std::isnan(got)
                      : got == expected[i] && std::signbit(got) == std::signbit(expected[i]))
          << a[i] << " mod " << b[i] << " = " << got << ", not " << expected[i];
    }
  };
  expect_same(run_node("Mod", "", 13, {vec<float>(a), vec<float>(b)}, {attr("fmod", 1)}), truncated);
  expect_same(run_node("Mod", "", 28, {vec<float>(a), vec<float>(b)}), floored);
}

TEST(Binary, ModAndShift) {
  check_rows({
      {"sign of the divisor",
       "Mod",
       13,
       {vec<std::int32_t>({-4, 7, 5, 4, -7, 8}), vec<std::int32_t>({2, -3, 8, -2, 3, 5})},
       {},
       {vec<std::int32_t>({0, -2, 5, 0, 2, 3})}},
      {"fmod of integers",
       "Mod",
       10,
       {vec<std::int8_t>({-7, 7, -128}), vec<std::int8_t>({3, -3, -1})},
       {attr("fmod", 1)},
       {vec<std::int8_t>({-1, 1, 0})}},
      {"fmod of floats",
       "Mod",
       13,
       {vec<float>({-4.5, 4.5, 3, inf, 2}), vec<float>({2, -2, inf, 2, 0})},
       {attr("fmod", 1)},
       {vec<float>({-0.5, 0.5, 3, nan, nan})}},
      {"floored floats",
       "Mod",
       28,
       {vec<float>({-4.5, 4.5, 3, -3, 0}), vec<float>({2, -2, inf, inf, -2})},
       {},
       {vec<float>({1.5, -1.5, 3, inf, -0.0})}},
      {"left",
       "BitShift",
       11,
       {vec<std::uint8_t>({1, 200, 3}), vec<std::uint8_t>({7, 1, 8})},
       {attr("direction", "LEFT")},
       {vec<std::uint8_t>({128, 144, 0})}},
      {"signed right fills with the sign",
       "BitShift",
       28,
       {vec<std::int16_t>({-8, -8, 8, -1}), vec<std::int16_t>({1, 99, -1, -3})},
       {attr("direction", "RIGHT")},
       {vec<std::int16_t>({-4, -1, 0, -1})}},
      {"signed left drops the sign",
       "BitShift",
       28,
       {vec<std::int8_t>({-128, 65}), vec<std::int8_t>({1, 1})},
       {attr("direction", "LEFT")},
       {vec<std::int8_t>({0, -126})}},
  });
  check_errors({
      {"floats before 28 need fmod",
       "Mod",
       13,
       {vec<float>({1}), vec<float>({1})},
       {},
       ErrorKind::invalid_model,
       "fmod must be 1"},
      {"by zero",
       "Mod",
       13,
       {vec<std::uint8_t>({1}), vec<std::uint8_t>({0})},
       {},
       ErrorKind::invalid_model,
       "input B holds 0, by which no integer can be divided"},
      {"direction",
       "BitShift",
       11,
       {vec<std::uint8_t>({1}), vec<std::uint8_t>({0})},
       {attr("direction", "UP")},
       ErrorKind::invalid_model,
       "direction"},
  });
}

TEST(Binary, Pow) {
  check_rows({
      {"float by int64",
       "Pow",
       15,
       {vec<float>({2, -2, -2}), vec<std::int64_t>({10, 3, -1})},
       {},
       {vec<float>({1024, -8, -0.5})}},
      {"parity of an exponent beyond double",
       "Pow",
       15,
       {vec<double>({-1, -1}), Tensor::from<std::int64_t>({2}, {9007199254740993, 9007199254740992})},
       {},
       {vec<double>({-1, 1})}},
      {"a cube is rounded once",
       "Pow",
       15,
       {vec<float>({0.1f, -1.7f, 1e13f, 0x1p-50f}), vec<float>({3})},
       {},
       {vec<float>({static_cast<float>(std::pow(double{0.1f}, 3)),
                    static_cast<float>(std::pow(double{-1.7f}, 3)), std::numeric_limits<float>::infinity(),
                    0})}},
      {"int by int wraps",
       "Pow",
       13,
       {vec<std::int32_t>({3, 2, -1}), vec<std::uint8_t>({4, 32, 255})},
       {},
       {vec<std::int32_t>({81, 0, -1})}},
      {"int by float",
       "Pow",
       13,
       {vec<std::int64_t>({4, 3, 2}), vec<float>({0.5, 2, -1})},
       {},
       {vec<std::int64_t>({2, 9, 0})}},
      {"half", "Pow", 15, {vec<Float16>({4, 2}), vec<Float16>({0.5, 3})}, {}, {vec<Float16>({2, 8})}},
      {"square", "Pow", 7, {vec<double>({-3, 0.5}), make<double>({}, {2})}, {}, {vec<double>({9, 0.25})}},
  });
  check_errors({{"0 to a negative power",
                 "Pow",
                 13,
                 {vec<std::int32_t>({0}), vec<std::int32_t>({-1})},
                 {},
                 ErrorKind::unsupported,
                 "0 to the power of -1, which is no integer"}});
}

TEST(Binary, CompareLogicSelect) {
  check_rows({
      {"strings",
       "Equal",
       19,
       {Tensor::from<std::string>({2}, {"a", "b"}), Tensor::from<std::string>({1}, {"b"})},
       {},
       {vec<bool>({0, 1})}},
      {"NaN equals nothing",
       "Equal",
       13,
       {vec<float>({nan, 1}), vec<float>({nan, 1})},
       {},
       {vec<bool>({0, 1})}},
      {"unsigned",
       "Greater",
       9,
       {vec<std::uint64_t>({1, 0}), vec<std::uint64_t>({0, 1})},
       {},
       {vec<bool>({1, 0})}},
      {"or equal",
       "GreaterOrEqual",
       16,
       {vec<BFloat16>({1, nan}), vec<BFloat16>({1, 1})},
       {},
       {vec<bool>({1, 0})}},
      {"xor",
       "Xor",
       7,
       {make<bool>({2, 1}, {0, 1}), vec<bool>({0, 1})},
       {},
       {make<bool>({2, 2}, {0, 1, 1, 0})}},
      {"bits",
       "BitwiseXor",
       18,
       {vec<std::int16_t>({-1}), vec<std::int16_t>({255})},
       {},
       {vec<std::int16_t>({-256})}},
      {"not", "BitwiseNot", 18, {vec<std::uint8_t>({0, 15})}, {}, {vec<std::uint8_t>({255, 240})}},
      {"three-way broadcast",
       "Where",
       9,
       {make<bool>({2, 1}, {1, 0}), vec<std::int64_t>({1, 2}), make<std::int64_t>({1, 1}, {9})},
       {},
       {make<std::int64_t>({2, 2}, {1, 2, 9, 9})}},
      {"strings move too",
       "Where",
       16,
       {vec<bool>({1, 0}), Tensor::from<std::string>({}, {"x"}), Tensor::from<std::string>({2}, {"p", "q"})},
       {},
       {Tensor::from<std::string>({2}, {"x", "q"})}},
      {"slope by channel before version 7",
       "PRelu",
       6,
       {make<float>({1, 2, 2}, {-1, 2, -3, 4}), vec<float>({10, 100})},
       {},
       {make<float>({1, 2, 2}, {-10, 2, -300, 4})}},
      {"slope broadcasts from 7 on",
       "PRelu",
       7,
       {make<float>({2, 2}, {-1, 2, -3, -4}), vec<float>({10, 100})},
       {},
       {make<float>({2, 2}, {-10, 2, -30, -400})}},
  });
  check_errors({{"slope larger than X",
                 "PRelu",
                 9,
                 {vec<float>({1}), vec<float>({1, 2})},
                 {},
                 ErrorKind::invalid_model,
                 "does not broadcast"}});
}

TEST(Binary, Variadic) {
  check_rows({
      {"NaN passes",
       "Max",
       13,
       {vec<float>({1, nan, 3}), vec<float>({2, 2, nan})},
       {},
       {vec<float>({2, nan, nan})}},
      {"three, broadcast",
       "Min",
       12,
       {make<std::int8_t>({2, 1}, {5, 1}), vec<std::int8_t>({3, 9}), vec<std::int8_t>({4})},
       {},
       {make<std::int8_t>({2, 2}, {3, 4, 1, 1})}},
      {"one input", "Sum", 8, {vec<float>({1, 2})}, {}, {vec<float>({1, 2})}},
      {"halves add up in float",
       "Sum",
       13,
       {vec<Float16>({2048}), vec<Float16>({1}), vec<Float16>({1})},
       {},
       {vec<Float16>({2050})}},
      {"mean",
       "Mean",
       13,
       {vec<double>({1, 2}), vec<double>({3}), vec<double>({2, 4})},
       {},
       {vec<double>({2, 3})}},
  });
  check_errors({{"shapes must agree before 8",
                 "Sum",
                 6,
                 {vec<float>({1, 2}), vec<float>({1})},
                 {},
                 ErrorKind::invalid_model,
                 "input 1 is [1], but the first is [2]: before version 8 all are of one shape"}});
}

}  // namespace
}  // namespace grurun::engine::testing
