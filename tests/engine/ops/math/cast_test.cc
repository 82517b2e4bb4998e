#include "engine/ops/shared/cast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

onnx_io::Attribute target(DType dtype) {
  return attr("to", static_cast<std::int64_t>(dtype));
}

Tensor strings(const std::vector<std::string>& values) {
  return Tensor::from<std::string>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

template <typename Small>
Tensor codes(const std::vector<int>& bits) {
  Tensor out(dtype_of<Small>, Shape{static_cast<std::int64_t>(bits.size())});
  for (std::size_t i = 0; i < bits.size(); ++i) {
    out.mutable_data<Small>()[i] = Small::from_bits(static_cast<std::uint8_t>(bits[i]));
  }
  return out;
}

TEST(Cast, Numbers) {
  check_rows({
      {"by name in version 1",
       "Cast",
       1,
       {vec<float>({1.75, -1.75})},
       {attr("to", "INT32")},
       {vec<std::int32_t>({1, -1})}},
      {"narrow integers keep low bits",
       "Cast",
       13,
       {vec<std::int16_t>({200, -129})},
       {target(DType::int8)},
       {vec<std::int8_t>({-56, 127})}},
      {"float out of range",
       "Cast",
       13,
       {vec<float>({300, -1, nan, inf})},
       {target(DType::uint8)},
       {vec<std::uint8_t>({44, 255, 0, 0})}},
      {"float out of range of int32",
       "Cast",
       13,
       {vec<float>({3e9, -3e9, nan, 2147483520})},
       {target(DType::int32)},
       {vec<std::int32_t>({-2147483648.0, -2147483648.0, -2147483648.0, 2147483520})}},
      {"uint64 above int64",
       "Cast",
       13,
       {vec<double>({18446744073709549568.0, 2e19})},
       {target(DType::uint64)},
       {Tensor::from<std::uint64_t>({2}, {18446744073709549568u, 0})}},
      {"int64 that double rounds",
       "Cast",
       13,
       {Tensor::from<std::int64_t>({1}, {9007199254740993})},
       {target(DType::uint64)},
       {Tensor::from<std::uint64_t>({1}, {9007199254740993u})}},
      {"int64 to bfloat16 rounds once",
       "Cast",
       13,
       {Tensor::from<std::int64_t>({2}, {(std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1,
                                         -(std::int64_t{1} << 62) - (std::int64_t{1} << 54)})},
       {target(DType::bfloat16)},
       {vec<BFloat16>({0x1.02p62, -0x1p62})}},
      {"to bool",
       "Cast",
       9,
       {vec<float>({0, -0.0, 0.5, nan})},
       {target(DType::boolean)},
       {vec<bool>({0, 0, 1, 1})}},
      {"36 is true", "Cast", 6, {vec<std::int32_t>({36, 0})}, {target(DType::boolean)}, {vec<bool>({1, 0})}},
      {"from bool", "Cast", 13, {vec<bool>({1, 0})}, {target(DType::float16)}, {vec<Float16>({1, 0})}},
      {"from bool to float", "Cast", 13, {vec<bool>({1, 0})}, {target(DType::float32)}, {vec<float>({1, 0})}},
      {"from bool to int64",
       "Cast",
       13,
       {vec<bool>({1, 0})},
       {target(DType::int64)},
       {vec<std::int64_t>({1, 0})}},
      {"double to half rounds once",
       "Cast",
       13,
       {vec<double>({1 + 0x1p-11 + 0x1p-40, 1e6, nan})},
       {target(DType::float16)},
       {vec<Float16>({1 + 0x1p-10, inf, nan})}},
      {"four bits wrap",
       "Cast",
       24,
       {vec<float>({-9, -8, 7, 8, 15.9})},
       {target(DType::int4)},
       {vec<Int4>({7, -8, 7, -8, -1})}},
      {"four bits clamp before 24",
       "Cast",
       21,
       {vec<float>({-9, -8, 7, 8, 15.9})},
       {target(DType::int4)},
       {vec<Int4>({-8, -8, 7, 7, 7})}},
      {"two bits wrap",
       "Cast",
       25,
       {vec<std::int32_t>({-1, 4, 7})},
       {target(DType::uint2)},
       {vec<UInt2>({3, 0, 3})}},
      {"like another",
       "CastLike",
       15,
       {vec<double>({2.5}), vec<std::int64_t>({0})},
       {},
       {vec<std::int64_t>({2})}},
  });
  check_errors({{"no type",
                 "Cast",
                 13,
                 {vec<float>({1})},
                 {attr("to", 99)},
                 ErrorKind::invalid_model,
                 "no element type"}});
}

TEST(Cast, EightBitFloats) {
  const Tensor x = vec<float>({1e6, -inf, nan, 0.3, -0.0});
  check_rows({
      {"saturated",
       "Cast",
       19,
       {x},
       {target(DType::float8e4m3fn)},
       {codes<Float8E4M3FN>({0x7e, 0xfe, 0x7f, 0x2a, 0x80})}},
      {"not saturated",
       "Cast",
       19,
       {x},
       {target(DType::float8e4m3fn), attr("saturate", 0)},
       {codes<Float8E4M3FN>({0x7f, 0xff, 0x7f, 0x2a, 0x80})}},
      {"e5m2 has infinities",
       "Cast",
       19,
       {x},
       {target(DType::float8e5m2), attr("saturate", 0)},
       {codes<Float8E5M2>({0x7c, 0xfc, 0x7e, 0x35, 0x80})}},
      {"e5m2 to itself saturates",
       "Cast",
       19,
       {codes<Float8E5M2>({0x7c, 0xfc, 0x7e, 0x35, 0x80})},
       {target(DType::float8e5m2)},
       {codes<Float8E5M2>({0x7b, 0xfb, 0x7e, 0x35, 0x80})}},
      {"e5m2 to itself, not saturated",
       "Cast",
       19,
       {codes<Float8E5M2>({0x7c, 0xfc, 0x7e, 0x35, 0x80})},
       {target(DType::float8e5m2), attr("saturate", 0)},
       {codes<Float8E5M2>({0x7c, 0xfc, 0x7e, 0x35, 0x80})}},
      {"fnuz has no infinities, and they saturate",
       "Cast",
       23,
       {vec<float>({inf, -inf})},
       {target(DType::float8e5m2fnuz)},
       {codes<Float8E5M2FNUZ>({0x7f, 0xff})}},
      {"fnuz has one zero",
       "Cast",
       19,
       {x},
       {target(DType::float8e4m3fnuz)},
       {codes<Float8E4M3FNUZ>({0x7f, 0xff, 0x80, 0x32, 0x00})}},
      {"four bits",
       "Cast",
       25,
       {vec<float>({5.1, -9, nan, 0.25, 0.26})},
       {target(DType::float4e2m1)},
       {codes<Float4E2M1>({0x7, 0xf, 0x8, 0x0, 0x1})}},
      {"NaN before 24",
       "Cast",
       23,
       {vec<float>({nan})},
       {target(DType::float4e2m1)},
       {codes<Float4E2M1>({0x7})}},
      {"six bits",
       "Cast",
       28,
       {vec<float>({7.5, 100, 0.0625})},
       {target(DType::float6e2m3)},
       {codes<Float6E2M3>({0x1f, 0x1f, 0x00})}},
      {"back",
       "Cast",
       28,
       {codes<Float6E3M2>({0x1f, 0x21, 0x04})},
       {target(DType::float32)},
       {vec<float>({28, -0.0625, 0.25})}},
  });
}

TEST(Cast, PowersOfTwo) {
  const Tensor x = vec<double>({1, 1.25, 1.5, 0, inf, nan, 0x1p-130, 0x1.8p127});
  const auto row = [&](const char* mode, int saturate, const std::vector<int>& expected) {
    return OpRowCase{mode,
                     "Cast",
                     24,
                     {x},
                     {target(DType::float8e8m0), attr("round_mode", mode), attr("saturate", saturate)},
                     {codes<Float8E8M0>(expected)}};
  };
  check_rows({
      row("up", 1, {127, 128, 128, 0, 254, 255, 0, 254}),
      row("nearest", 1, {127, 127, 128, 0, 254, 255, 0, 254}),
      row("down", 1, {127, 127, 127, 0, 254, 255, 0, 254}),
      row("nearest", 0, {127, 127, 128, 255, 255, 255, 255, 255}),
  });
}

TEST(Cast, Strings) {
  check_rows({
      {"to float",
       "Cast",
       9,
       {strings({"3.14", "1e-5", " 1E8", "+INF", "-inf", "NaN", "1e60"})},
       {target(DType::float32)},
       {vec<float>({3.14, 1e-5, 1e8, inf, -inf, nan, inf})}},
      {"to int",
       "Cast",
       9,
       {strings({"1000", "-7", "100.5", "1e3"})},
       {target(DType::int64)},
       {vec<std::int64_t>({1000, -7, 100, 1000})}},
      {"to uint64",
       "Cast",
       9,
       {strings({"18446744073709551615"})},
       {target(DType::uint64)},
       {Tensor::from<std::uint64_t>({1}, {18446744073709551615u})}},
      {"from float",
       "Cast",
       9,
       {vec<float>({314.15926, 1, -0.1, 1e10, 1e-7, nan, inf, -inf})},
       {target(DType::string)},
       {strings({"314.15927", "1.0", "-0.1", "10000000000.0", "0.0000001", "nan", "inf", "-inf"})}},
      {"from half: the fewest digits",
       "Cast",
       9,
       {vec<Float16>({0.1, 65504})},
       {target(DType::string)},
       {strings({"0.1", "65500.0"})}},
      {"from integers",
       "Cast",
       9,
       {vec<std::int8_t>({-128, 7})},
       {target(DType::string)},
       {strings({"-128", "7"})}},
      {"from int4", "Cast", 21, {vec<Int4>({-8, 7})}, {target(DType::string)}, {strings({"-8", "7"})}},
      {"from bool", "Cast", 9, {vec<bool>({1, 0})}, {target(DType::string)}, {strings({"1", "0"})}},
  });
  check_errors({
      {"words",
       "Cast",
       9,
       {strings({"Hello World!"})},
       {target(DType::float32)},
       ErrorKind::invalid_model,
       "Hello World!"},
      {"empty", "Cast", 9, {strings({""})}, {target(DType::int32)}, ErrorKind::invalid_model, "no number"},
  });
}

TEST(Cast, Bits) {
  check_rows({
      {"float as int",
       "BitCast",
       26,
       {vec<float>({1})},
       {target(DType::int32)},
       {vec<std::int32_t>({0x3f800000})}},
      {"negative as unsigned",
       "BitCast",
       26,
       {vec<std::int8_t>({-1})},
       {target(DType::uint8)},
       {vec<std::uint8_t>({255})}},
      {"negative of four bits as unsigned",
       "BitCast",
       26,
       {vec<Int4>({-1, -8, 3})},
       {target(DType::uint4)},
       {vec<UInt4>({15, 8, 3})}},
      {"four bits as signed",
       "BitCast",
       26,
       {vec<UInt4>({15, 8, 3})},
       {target(DType::int4)},
       {vec<Int4>({-1, -8, 3})}},
      {"two bits as signed",
       "BitCast",
       26,
       {vec<UInt2>({3, 2, 1})},
       {target(DType::int2)},
       {vec<Int2>({-1, -2, 1})}},
      {"the bits of bools",
       "BitCast",
       26,
       {vec<std::uint8_t>({0, 1})},
       {target(DType::boolean)},
       {vec<bool>({0, 1})}},
  });
  check_errors({{"neither false nor true",
                 "BitCast",
                 26,
                 {vec<std::uint8_t>({0, 1, 2})},
                 {target(DType::boolean)},
                 ErrorKind::invalid_model,
                 "BitCast to bool: element 2 has the bits of 2; only 0 and 1 are bools"},
                {"widths differ",
                 "BitCast",
                 26,
                 {vec<float>({1})},
                 {target(DType::float64)},
                 ErrorKind::invalid_model,
                 "width"}});
}

// Every small float comes back from every wider type, and every type keeps small integers.
TEST(Cast, RoundTrips) {
  const DType wide[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16};
  const DType narrow[] = {DType::float8e4m3fn,   DType::float8e4m3fnuz, DType::float8e5m2,
                          DType::float8e5m2fnuz, DType::float6e2m3,     DType::float6e3m2,
                          DType::float4e2m1};
  const Tensor small = vec<float>({0, 1, 2, 3, -1, -2, 0.5});
  for (const DType through : narrow) {
    for (const DType around : wide) {
      const Tensor once = cast_tensor(small, through);
      const Tensor back = cast_tensor(cast_tensor(once, around), through);
      EXPECT_EQ(difference(back, once), "") << dtype_name(through) << " through " << dtype_name(around);
      EXPECT_EQ(difference(cast_tensor(once, DType::float32), small), "") << dtype_name(through);
    }
  }
  const Tensor bits = vec<float>({0, 1});
  for (int number = 1; number < dtype_count; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (is_complex(dtype) || dtype == DType::string || dtype == DType::float8e8m0) continue;
    EXPECT_EQ(difference(cast_tensor(cast_tensor(bits, dtype), DType::float32), bits), "")
        << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace grurun::engine::testing
