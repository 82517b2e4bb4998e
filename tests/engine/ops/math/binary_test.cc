#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/ops/broadcast.h"
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
       "by zero"},
      {"shapes do not combine",
       "Add",
       14,
       {vec<float>({1, 2}), vec<float>({1, 2, 3})},
       {},
       ErrorKind::invalid_model,
       "[2] and [3]"},
  });
}

TEST(Binary, LimitedBroadcastOfOldVersions) {
  const Tensor a = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  check_rows({
      {"same shape, legacy attribute of version 1",
       "Add",
       1,
       {a, a},
       {attr("consumed_inputs", std::vector<std::int64_t>{0, 0})},
       {make<float>({2, 3}, {2, 4, 6, 8, 10, 12})}},
      {"suffix",
       "Mul",
       6,
       {a, vec<float>({1, 10, 100})},
       {attr("broadcast", 1)},
       {make<float>({2, 3}, {1, 20, 300, 4, 50, 600})}},
      {"axis 0",
       "Sub",
       6,
       {a, vec<float>({1, 4})},
       {attr("broadcast", 1), attr("axis", 0)},
       {make<float>({2, 3}, {0, 1, 2, 0, 1, 2})}},
      {"one element of rank 2",
       "Div",
       1,
       {a, make<float>({1, 1}, {2})},
       {attr("broadcast", 1)},
       {make<float>({2, 3}, {0.5, 1, 1.5, 2, 2.5, 3})}},
      {"ones expand",
       "Add",
       6,
       {a, make<float>({2, 1}, {10, 20})},
       {attr("broadcast", 1)},
       {make<float>({2, 3}, {11, 12, 13, 24, 25, 26})}},
      {"comparison",
       "Less",
       1,
       {a, vec<float>({2, 2, 9})},
       {attr("broadcast", 1)},
       {make<bool>({2, 3}, {1, 0, 1, 0, 0, 1})}},
      {"Pow",
       "Pow",
       1,
       {a, make<float>({}, {2})},
       {attr("broadcast", 1)},
       {make<float>({2, 3}, {1, 4, 9, 16, 25, 36})}},
  });
  check_errors({
      {"no broadcast without the attribute",
       "Add",
       6,
       {a, vec<float>({1, 2, 3})},
       {},
       ErrorKind::invalid_model,
       "broadcast is not set"},
      {"B is no part of A",
       "Add",
       6,
       {a, make<float>({2, 2}, {1, 2, 3, 4})},
       {attr("broadcast", 1)},
       ErrorKind::invalid_model,
       "no contiguous part"},
      {"axis beyond",
       "Add",
       6,
       {a, vec<float>({1, 2, 3})},
       {attr("broadcast", 1), attr("axis", 2)},
       ErrorKind::invalid_model,
       "no contiguous part"},
  });
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
       "by zero"},
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
                 ErrorKind::invalid_model,
                 "0 to the power"}});
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
                 "from version 8 on"}});
}

// Every pair of shapes against the definition, index by index.
TEST(Binary, BroadcastAgreesWithDefinition) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    const std::int64_t rank = pick(5);
    Shape full, a_shape, b_shape;
    for (std::int64_t d = 0; d < rank; ++d) full.push_back(1 + pick(4));
    for (const std::int64_t dim : full) a_shape.push_back(pick(3) == 0 ? 1 : dim);
    for (const std::int64_t dim : full) b_shape.push_back(pick(3) == 0 ? 1 : dim);
    for (std::int64_t drop = pick(static_cast<int>(rank) + 1); drop > 0; --drop) b_shape.erase(0);
    Tensor a(DType::int64, a_shape), b(DType::int64, b_shape);
    for (std::int64_t i = 0; i < a.size(); ++i) a.mutable_data<std::int64_t>()[i] = i;
    for (std::int64_t i = 0; i < b.size(); ++i) b.mutable_data<std::int64_t>()[i] = 1000 * i;
    const Tensor got = run_node("Add", "", 14, {a, b})[0].tensor();
    const Shape shape = broadcast_shape(a_shape, b_shape);
    ASSERT_EQ(got.shape(), shape);
    for (std::int64_t i = 0; i < got.size(); ++i) {
      std::int64_t rest = i, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
      for (std::size_t back = 0; back < shape.rank(); ++back) {
        const std::int64_t index = rest % shape[shape.rank() - 1 - back];
        rest /= shape[shape.rank() - 1 - back];
        const std::int64_t dim_a = back < a_shape.rank() ? a_shape[a_shape.rank() - 1 - back] : 1;
        const std::int64_t dim_b = back < b_shape.rank() ? b_shape[b_shape.rank() - 1 - back] : 1;
        if (dim_a > 1) at_a += index * step_a;
        if (dim_b > 1) at_b += index * step_b;
        step_a *= dim_a;
        step_b *= dim_b;
      }
      ASSERT_EQ(got.data<std::int64_t>()[i], at_a + 1000 * at_b)
          << a_shape.to_string() << " + " << b_shape.to_string() << " at " << i;
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
