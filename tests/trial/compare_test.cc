#include "trial/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace grurun::trial {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
Value vec(std::vector<T> values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

Comparison compare(const Value& actual, const Value& expected, ToleranceChoice flag = {}) {
  return compare_values(actual, expected, Tolerances{flag, {}});
}

struct FloatRow {
  float actual, expected;
  double rtol, atol;
  bool ok;
};

TEST(Compare, FloatsByTheFormulaWithEqualityFirst) {
  const FloatRow rows[] = {
      {1.0f, 1.0f, 0, 0, true},
      {1.0009f, 1.0f, 1e-3, 0, true},
      {1.0011f, 1.0f, 1e-3, 0, false},
      {0.5f, 0.25f, 0, 0.25, true},
      {0.5f, 0.25f, 0, 0.2499, false},
      {0.5f, 0.25f, 1, 0, true},  // rtol is relative to the expected value ...
      {0.25f, 0.6f, 1, 0, true},
      {0.6f, 0.25f, 1, 0, false},  // ... and not to the actual one
      {inf, inf, 0, 0, true},
      {-inf, -inf, 0, 0, true},
      {inf, -inf, 1, 1, false},
      {inf, 3e38f, 1, 1, false},
      {3e38f, inf, 1, 1, false},  // rtol * inf must not swallow it
      {nan, nan, 0, 0, true},
      {nan, 0.0f, 1, 1, false},
      {0.0f, nan, 1, 1, false},
      {nan, inf, 1, 1, false},
      {0.0f, -0.0f, 0, 0, true},
  };
  for (const FloatRow& row : rows) {
    const Comparison got =
        compare(vec<float>({row.actual}), vec<float>({row.expected}), {row.rtol, row.atol});
    EXPECT_EQ(got.ok, row.ok) << row.actual << " against " << row.expected << ": " << describe(got);
    EXPECT_EQ(got.errors.differing, row.ok ? 0 : 1);
  }
}

TEST(Compare, RecordsErrorsFirstAndWorst) {
  const Value actual = Tensor::from(Shape{2, 3}, std::vector<float>{1, 2.5f, 3, 5, nan, 6});
  const Value expected = Tensor::from(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6.0000005f});
  const Comparison got = compare(actual, expected);
  EXPECT_FALSE(got.ok);
  EXPECT_EQ(got.errors.total, 6);
  EXPECT_EQ(got.errors.differing, 3);
  EXPECT_EQ(got.errors.non_finite, 1);
  EXPECT_DOUBLE_EQ(got.errors.max_abs, 1);
  EXPECT_DOUBLE_EQ(got.errors.max_rel, 0.25);
  EXPECT_EQ(got.errors.max_ulp, 2097152u);  // 5 is a quarter of a binade above 4
  ASSERT_TRUE(got.first && got.worst);
  EXPECT_EQ(got.first->index, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(got.first->actual, "2.5");
  EXPECT_EQ(got.first->expected, "2");
  EXPECT_EQ(got.worst->index, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(got.worst->actual, "nan");
  EXPECT_EQ(describe(got),
            "3 of 6 elements differ beyond rtol 0.001, atol 1e-07, 1 of them by NaN or infinity (max abs 1, "
            "max rel "
            "0.25, max ulp 2097152); first at [0,1]: 2.5, expected 2; worst at [1,1]: nan, expected 5");
}

TEST(Compare, CountsUnitsInTheLastPlaceAcrossZero) {
  const auto ulp = [](const Value& a, const Value& b) { return compare(a, b, {1, 1}).errors.max_ulp; };
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(ulp(vec<float>({1.0f}), vec<float>({std::nextafter(1.0f, 2.0f)})), 1u);
  EXPECT_EQ(ulp(vec<float>({tiny}), vec<float>({-tiny})), 2u);
  EXPECT_EQ(ulp(vec<double>({1.0}), vec<double>({-1.0})), 2 * 0x3ff0000000000000u);
  EXPECT_EQ(ulp(vec<Float16>({Float16(1.0f)}), vec<Float16>({Float16(1.0f + 3 * 0x1p-10f)})), 3u);
  EXPECT_EQ(ulp(vec<BFloat16>({BFloat16(2.0f)}), vec<BFloat16>({BFloat16(1.0f)})), 128u);
  EXPECT_EQ(ulp(vec<Float4E2M1>({Float4E2M1(0.5)}), vec<Float4E2M1>({Float4E2M1(-0.5)})), 2u);
  EXPECT_EQ(
      ulp(vec<Float6E2M3>({Float6E2M3::from_bits(0x21)}), vec<Float6E2M3>({Float6E2M3::from_bits(0x01)})),
      2u);
  EXPECT_EQ(ulp(vec<Float8E8M0>({Float8E8M0::from_bits(130)}), vec<Float8E8M0>({Float8E8M0::from_bits(127)})),
            3u);
  EXPECT_EQ(ulp(vec<std::int32_t>({1}), vec<std::int32_t>({1})), std::nullopt);
}

TEST(Compare, BFloat16HasTwoUnitsInTheLastPlaceWhateverIsAskedFor) {
  const Value one = vec<BFloat16>({BFloat16(1.0f)});
  EXPECT_TRUE(compare(vec<BFloat16>({BFloat16(1.0f + 2 * 0x1p-7f)}), one, {1e-6, 0}).ok);
  EXPECT_FALSE(compare(vec<BFloat16>({BFloat16(1.0f + 3 * 0x1p-7f)}), one, {1e-6, 0}).ok);
  EXPECT_TRUE(compare(vec<BFloat16>({BFloat16(1.25f)}), one, {0.25, 0}).ok);
}

TEST(Compare, FlagOverFileOverDefault) {
  const Tolerance defaults = tolerance_for(DType::float32, {}, {});
  EXPECT_EQ(defaults.rtol, 1e-3);
  EXPECT_EQ(defaults.atol, 1e-7);
  const Tolerance mixed = tolerance_for(DType::float32, {std::nullopt, 0.5}, {0.25, 0.125});
  EXPECT_EQ(mixed.rtol, 0.25);
  EXPECT_EQ(mixed.atol, 0.5);
}

template <typename T>
void expect_told_apart(T a, T b) {
  EXPECT_TRUE(compare(vec<T>({a, b}), vec<T>({a, b})).ok) << dtype_name(dtype_of<T>);
  const Comparison got = compare(vec<T>({a, b}), vec<T>({a, a}), {0.0, 0.0});
  const bool loose = dtype_of<T> == DType::bfloat16;
  EXPECT_FALSE(got.ok) << dtype_name(dtype_of<T>) << loose;
  EXPECT_EQ(got.errors.differing, 1) << dtype_name(dtype_of<T>);
  ASSERT_TRUE(got.first);
  EXPECT_EQ(got.first->index, (std::vector<std::int64_t>{1})) << dtype_name(dtype_of<T>);
  EXPECT_NE(got.first->actual, got.first->expected) << dtype_name(dtype_of<T>);
}

TEST(Compare, LongStringsAreShownAroundTheirFirstDifference) {
  const std::string same(1000, 'a');
  const std::string e_acute = "\xc3\xa9";
  const auto text = [](const std::string& a, const std::string& b) {
    const Comparison got = compare(vec<std::string>({a}), vec<std::string>({b}));
    return got.first ? got.first->actual + " / " + got.first->expected : "equal";
  };
  const std::string near = std::string(100, 'b');
  EXPECT_EQ(text(near, "c"), "\"" + near + "\" / \"c\"");
  EXPECT_EQ(text(same + "x" + same, same + "y"), "...\"" + std::string(40, 'a') + "x" + std::string(59, 'a') +
                                                     "\"... (2001 bytes) / ...\"" + std::string(99, 'a') +
                                                     "y\" (1001 bytes)");
  std::string letters;
  for (int i = 0; i < 100; ++i) letters += e_acute;
  EXPECT_EQ(text("x" + letters, "y"), "\"x" + letters.substr(0, 100) + "\"... (201 bytes) / \"y\"");
}

TEST(Compare, EveryElementType) {
  expect_told_apart<float>(1, 2);
  expect_told_apart<double>(1, 2);
  expect_told_apart<std::uint8_t>(1, 255);
  expect_told_apart<std::int8_t>(-128, 127);
  expect_told_apart<std::uint16_t>(1, 2);
  expect_told_apart<std::int16_t>(1, 2);
  expect_told_apart<std::int32_t>(1, 2);
  expect_told_apart<std::int64_t>(std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::max());
  expect_told_apart<std::uint32_t>(1, 2);
  expect_told_apart<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
  expect_told_apart<bool>(true, false);
  expect_told_apart<std::string>("a", "b");
  expect_told_apart<Float16>(Float16(1.0f), Float16(2.0f));
  expect_told_apart<BFloat16>(BFloat16(1.0f), BFloat16(2.0f));
  expect_told_apart<Complex64>({1, 2}, {1, 3});
  expect_told_apart<Complex128>({1, 2}, {1, 3});
  expect_told_apart<Float8E4M3FN>(Float8E4M3FN(1.0), Float8E4M3FN(2.0));
  expect_told_apart<Float8E4M3FNUZ>(Float8E4M3FNUZ(1.0), Float8E4M3FNUZ(2.0));
  expect_told_apart<Float8E5M2>(Float8E5M2(1.0), Float8E5M2(2.0));
  expect_told_apart<Float8E5M2FNUZ>(Float8E5M2FNUZ(1.0), Float8E5M2FNUZ(2.0));
  expect_told_apart<Float6E2M3>(Float6E2M3(1.0), Float6E2M3(2.0));
  expect_told_apart<Float6E3M2>(Float6E3M2(1.0), Float6E3M2(2.0));
  expect_told_apart<Float4E2M1>(Float4E2M1(1.0), Float4E2M1(2.0));
  expect_told_apart<Float8E8M0>(Float8E8M0::from_bits(127), Float8E8M0::from_bits(128));
  expect_told_apart<UInt4>(UInt4(1), UInt4(15));
  expect_told_apart<Int4>(Int4(-8), Int4(7));
  expect_told_apart<UInt2>(UInt2(1), UInt2(3));
  expect_told_apart<Int2>(Int2(-2), Int2(1));
}

TEST(Compare, SixtyFourBitIntegersAreSubtractedExactly) {
  const std::int64_t big = (std::int64_t{1} << 62) + 1;
  const Comparison got = compare(vec<std::int64_t>({big}), vec<std::int64_t>({big - 1}), {0.0, 0.5});
  EXPECT_FALSE(got.ok);
  EXPECT_EQ(got.errors.max_abs, 1);
}

TEST(Compare, ComplexByModulusAndNanInEitherPart) {
  EXPECT_TRUE(compare(vec<Complex64>({{3, 4.0004f}}), vec<Complex64>({{3, 4}}), {1e-4, 0}).ok);
  EXPECT_FALSE(compare(vec<Complex64>({{3, 4.0006f}}), vec<Complex64>({{3, 4}}), {1e-4, 0}).ok);
  EXPECT_TRUE(compare(vec<Complex64>({{nan, 1}}), vec<Complex64>({{nan, 2}})).ok);
  EXPECT_FALSE(compare(vec<Complex64>({{inf, 1}}), vec<Complex64>({{inf, 2}}), {1, 1}).ok);
}

struct DoubleRow {
  double actual, expected, rtol, atol;
  bool ok;
};

TEST(Compare, DoublesWhoseDifferenceOrToleranceIsBeyondTheirRange) {
  constexpr double max = std::numeric_limits<double>::max();
  const DoubleRow rows[] = {
      {max, -max, 1e-3, 1e-7, false},
      {max, -max, 1.5, 0, false},  // 2 max against 1.5 max: both are infinite as doubles
      {max, -max, 1, max, true},   // 2 max against 2 max
      {max, -max, 1, max / 2, false},
      {max, -max, 2, 0, true},
      {max, -max, 1e300, 0, true},
      {0, max, 1, 0, true},
      {0, max, 0.999, 0, false},
      {max, 0, 1e300, 1, false},
      {max, max / 2, 1, 0, true},
      {max * (1 - 0x1p-12), max, 1e-3, 0, true},
      {max, 5e-324, 1, 1, false},
  };
  for (const DoubleRow& row : rows) {
    const Comparison got =
        compare(vec<double>({row.actual}), vec<double>({row.expected}), {row.rtol, row.atol});
    EXPECT_EQ(got.ok, row.ok) << row.actual << " against " << row.expected << ": " << describe(got);
    const Comparison complex = compare(vec<Complex128>({{0, row.actual}}),
                                       vec<Complex128>({{0, row.expected}}), {row.rtol, row.atol});
    EXPECT_EQ(complex.ok, row.ok) << row.actual << "i against " << row.expected << "i: " << describe(complex);
  }
  const Comparison far = compare(vec<double>({max, max, 1}), vec<double>({-max, max / 2, 1}));
  EXPECT_EQ(far.errors.differing, 2);
  EXPECT_EQ(far.errors.max_abs, std::numeric_limits<double>::infinity());
  EXPECT_EQ(far.errors.max_rel, 2);
  EXPECT_EQ(far.worst->index, (std::vector<std::int64_t>{0}));
}

TEST(Compare, ComplexNumbersWhoseModulusIsBeyondTheRange) {
  constexpr double max = std::numeric_limits<double>::max();
  constexpr double nearly = max * 0.9;
  const struct {
    Complex128 actual, expected;
    double rtol;
    bool ok;
  } rows[] = {
      {{0, 0}, {nearly, nearly}, 1e-3, false},
      {{nearly, nearly}, {0, 0}, 1e-3, false},
      {{nearly, nearly}, {-nearly, -nearly}, 1e-3, false},
      {{nearly, nearly}, {-nearly, -nearly}, 1.99, false},
      {{nearly, nearly}, {-nearly, -nearly}, 2.01, true},
      {{nearly, max}, {max, nearly}, 1e-3, false},
      {{nearly, nearly}, {nearly, nearly * (1 + 0x1p-12)}, 1e-3, true},
  };
  for (const auto& row : rows) {
    const Comparison got =
        compare(vec<Complex128>({row.actual}), vec<Complex128>({row.expected}), {row.rtol, 0});
    EXPECT_EQ(got.ok, row.ok) << describe(got);
  }
  constexpr float large = std::numeric_limits<float>::max();
  EXPECT_FALSE(compare(vec<Complex64>({{0, 0}}), vec<Complex64>({{large, large}})).ok);
  EXPECT_FALSE(compare(vec<Complex64>({{-large, -large}}), vec<Complex64>({{large, large}})).ok);
}

TEST(Compare, StructureInWords) {
  const Value floats = vec<float>({1, 2});
  EXPECT_EQ(describe(compare(vec<double>({1, 2}), floats)), "element type double, expected float");
  EXPECT_EQ(describe(compare(vec<float>({1}), floats)), "shape [1], expected [2]");
  EXPECT_EQ(describe(compare(Tensor::scalar(1.0f), vec<float>({1}))), "shape [], expected [1]");
  EXPECT_EQ(describe(compare(Value(), floats)), "nothing, expected tensor(float) [2]");
  const ValueType type = ValueType::tensor(DType::float32);
  EXPECT_EQ(describe(compare(Sequence{type, {floats}}, Sequence{type, {floats, floats}})),
            "a sequence of 1 items, expected 2");
  EXPECT_EQ(describe(compare(Sequence{type, {}}, Sequence{ValueType::tensor(DType::int64), {}})),
            "items of type tensor(float), expected tensor(int64)");
  EXPECT_EQ(describe(compare(Sequence{type, {floats, vec<float>({1})}}, Sequence{type, {floats, floats}})),
            "[1]: shape [1], expected [2]");
  EXPECT_EQ(describe(compare(Optional{type, nullptr}, Optional{type, std::make_shared<const Value>(floats)})),
            "an empty optional, expected one with a value");
  EXPECT_TRUE(compare(Optional{type, nullptr}, Optional{type, nullptr}).ok);
}

TEST(Compare, EmptyTensorsAreEqual) {
  const Comparison got = compare(vec<float>({}), vec<float>({}));
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.errors.total, 0);
}

TEST(Compare, SequencesTellTheItem) {
  const ValueType type = ValueType::tensor(DType::string);
  const Comparison got = compare(Sequence{type, {vec<std::string>({"a"}), vec<std::string>({"b\n"})}},
                                 Sequence{type, {vec<std::string>({"a"}), vec<std::string>({"c"})}});
  ASSERT_TRUE(got.first);
  EXPECT_EQ(got.first->where, "[1]");
  EXPECT_EQ(got.first->actual, "\"b\\x0a\"");
  EXPECT_EQ(got.errors.total, 2);
}

TEST(Compare, MapsByKeyInAnyOrder) {
  const ValueType type = ValueType::tensor(DType::float32);
  const auto map = [&](std::vector<std::int64_t> keys, std::vector<float> values) {
    Map out{type, vec(keys).tensor(), {}};
    for (const float value : values) out.values.push_back(Tensor::scalar(value));
    return Value(out);
  };
  EXPECT_TRUE(compare(map({1, 2}, {10, 20}), map({2, 1}, {20, 10})).ok);
  EXPECT_EQ(describe(compare(map({1, 3}, {10, 20}), map({2, 1}, {20, 10}))),
            "no entry for key 2, expected one");
  const Comparison got = compare(map({1, 2}, {10, 21}), map({2, 1}, {20, 10}));
  ASSERT_TRUE(got.first);
  EXPECT_EQ(got.first->where, "[2]");
}

}  // namespace
}  // namespace grurun::trial
