#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/element_types.h"

namespace grurun {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Every code of a format up to 16 bits, through the formula of its definition.
struct Format {
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;
  float (*decode)(std::uint32_t);
  std::uint32_t (*encode)(double);  // without saturation
  int nan_codes;                    // of both signs
};

template <typename T>
float decode(std::uint32_t code) {
  return T::from_bits(static_cast<decltype(T::bits)>(code));
}
template <typename T>
std::uint32_t encode(double value) {
  return T(value).bits;
}
template <typename T>
std::uint32_t encode_plain(double value) {
  return T(value, false).bits;
}

const Format formats[] = {
    {"float16", 5, 10, 15, true, decode<Float16>, encode<Float16>, 2046},
    {"bfloat16", 8, 7, 127, true, decode<BFloat16>, encode<BFloat16>, 254},
    {"float8e4m3fn", 4, 3, 7, false, decode<Float8E4M3FN>, encode_plain<Float8E4M3FN>, 2},
    {"float8e4m3fnuz", 4, 3, 8, false, decode<Float8E4M3FNUZ>, encode_plain<Float8E4M3FNUZ>, 1},
    {"float8e5m2", 5, 2, 15, true, decode<Float8E5M2>, encode_plain<Float8E5M2>, 6},
    {"float8e5m2fnuz", 5, 2, 16, false, decode<Float8E5M2FNUZ>, encode_plain<Float8E5M2FNUZ>, 1},
    {"float4e2m1", 2, 1, 1, false, decode<Float4E2M1>, encode_plain<Float4E2M1>, 0},
    {"float6e2m3", 2, 3, 1, false, decode<Float6E2M3>, encode_plain<Float6E2M3>, 0},
    {"float6e3m2", 3, 2, 3, false, decode<Float6E3M2>, encode_plain<Float6E3M2>, 0},
};

std::uint32_t sign_bit(const Format& format) {
  return 1u << (format.exponent_bits + format.mantissa_bits);
}

double by_definition(const Format& format, std::uint32_t magnitude) {
  const std::uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const double fraction = mantissa / static_cast<double>(1u << format.mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                       : std::ldexp(1 + fraction, exponent - format.bias);
}

TEST(MiniFloat, EveryCodeDecodesByItsDefinition) {
  for (const Format& format : formats) {
    int nan_codes = 0;
    int wrong = 0;
    for (std::uint32_t code = 0; code < 2 * sign_bit(format); ++code) {
      const double value = format.decode(code);
      const std::uint32_t magnitude = code & (sign_bit(format) - 1);
      const bool negative = (code & sign_bit(format)) != 0;
      if (std::isnan(value)) {
        ++nan_codes;
      } else if (std::isinf(value)) {
        const std::uint32_t all_ones = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
        wrong += !format.has_infinity || magnitude != all_ones || std::signbit(value) != negative;
      } else {
        wrong += std::fabs(value) != by_definition(format, magnitude) || std::signbit(value) != negative;
      }
    }
    EXPECT_EQ(wrong, 0) << format.name;
    EXPECT_EQ(nan_codes, format.nan_codes) << format.name;
  }
}

TEST(MiniFloat, EveryValueEncodesToItsOwnCode) {
  for (const Format& format : formats) {
    int wrong = 0;
    for (std::uint32_t code = 0; code < 2 * sign_bit(format); ++code) {
      const double value = format.decode(code);
      if (!std::isnan(value)) wrong += format.encode(value) != code;
    }
    EXPECT_EQ(wrong, 0) << format.name;
  }
}

TEST(MiniFloat, WhatLiesBetweenRoundsToNearestTiesToEven) {
  for (const Format& format : formats) {
    int wrong = 0;
    for (std::uint32_t code = 0; code + 1 < sign_bit(format); ++code) {
      const double low = format.decode(code);
      const double high = format.decode(code + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      wrong += format.encode(middle) != code + (code & 1);
      wrong += format.encode(std::nextafter(middle, -infinity)) != code;
      wrong += format.encode(std::nextafter(middle, infinity)) != code + 1;
      // Mirrored; a format without negative zero gives zero instead.
      const std::uint32_t rounded = code + (code & 1);
      const bool no_zero = rounded == 0 && std::isnan(format.decode(sign_bit(format)));
      wrong += format.encode(-middle) != (no_zero ? 0 : rounded | sign_bit(format));
    }
    EXPECT_EQ(wrong, 0) << format.name;
  }
}

struct Beyond {
  const char* name;
  double value;
  std::uint32_t plain;      // saturate off
  std::uint32_t saturated;  // saturate on
};

template <typename T>
void expect_beyond(const std::vector<Beyond>& rows) {
  for (const Beyond& row : rows) {
    EXPECT_EQ(T(row.value, false).bits, row.plain) << row.name << " of " << row.value;
    EXPECT_EQ(T(row.value, true).bits, row.saturated) << row.name << " of " << row.value << ", saturated";
  }
}

// The tables of the standard's Cast (version 19 and later) for values beyond the largest.
TEST(MiniFloat, BeyondTheLargestSaturatesOrOverflows) {
  expect_beyond<Float8E4M3FN>({{"e4m3fn", 448, 0x7e, 0x7e},
                               {"e4m3fn", 464, 0x7e, 0x7e},
                               {"e4m3fn", 465, 0x7f, 0x7e},
                               {"e4m3fn", -1e30, 0xff, 0xfe},
                               {"e4m3fn", infinity, 0x7f, 0x7e},
                               {"e4m3fn", -infinity, 0xff, 0xfe},
                               {"e4m3fn", std::nan(""), 0x7f, 0x7f}});
  expect_beyond<Float8E4M3FNUZ>({{"e4m3fnuz", 240, 0x7f, 0x7f},
                                 {"e4m3fnuz", 1e5, 0x80, 0x7f},
                                 {"e4m3fnuz", -infinity, 0x80, 0xff},
                                 {"e4m3fnuz", std::nan(""), 0x80, 0x80}});
  expect_beyond<Float8E5M2>({{"e5m2", 57344, 0x7b, 0x7b},
                             {"e5m2", 61440, 0x7c, 0x7b},
                             {"e5m2", 61439, 0x7b, 0x7b},
                             {"e5m2", -infinity, 0xfc, 0xfb}});
  expect_beyond<Float8E5M2FNUZ>(
      {{"e5m2fnuz", 57344, 0x7f, 0x7f}, {"e5m2fnuz", 1e6, 0x80, 0x7f}, {"e5m2fnuz", infinity, 0x80, 0x7f}});
  expect_beyond<Float4E2M1>({{"e2m1", 6, 7, 7}, {"e2m1", 100, 7, 7}, {"e2m1", -infinity, 15, 15}});
}

TEST(MiniFloat, Float16FromFloatAgreesWithFloat16FromDouble) {
  int wrong = 0;
  for (std::uint64_t word = 0; word <= 0xffffffffu; word += 9973) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    if (std::isnan(value)) continue;
    wrong += Float16(value).bits != Float16(static_cast<double>(value)).bits;
    wrong += BFloat16(value).bits != BFloat16(static_cast<double>(value)).bits;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(MiniFloat, ADoubleIsRoundedOnce) {
  // Just above the middle of 1 and the next float16 or bfloat16; rounding to float first would land on the
  // middle.
  EXPECT_EQ(Float16(1 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(BFloat16(1 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
  EXPECT_EQ(Float16(1 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(BFloat16(1 + 0x1p-8).bits, 0x3f80);
}

TEST(MiniFloat, Float16Landmarks) {
  EXPECT_EQ(Float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(0x1p-24f).bits, 1);
  EXPECT_EQ(Float16(0x1p-25f).bits, 0);
  EXPECT_EQ(Float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(Float16(std::numeric_limits<float>::quiet_NaN()).bits & 0x7e00, 0x7e00);
}

TEST(MiniFloat, E8M0IsAPowerOfTwo) {
  for (int code = 0; code < 255; ++code) {
    EXPECT_EQ(static_cast<float>(Float8E8M0::from_bits(static_cast<std::uint8_t>(code))),
              std::ldexp(1.0f, code - 127));
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E8M0::from_bits(255))));
}

TEST(MiniFloat, SmallIntegersKeepTheLowBits) {
  for (int wide = -40; wide < 40; ++wide) {
    EXPECT_EQ(UInt4(wide), wide & 15);
    EXPECT_EQ(Int4(wide), ((wide & 15) ^ 8) - 8);
    EXPECT_EQ(UInt2(wide), wide & 3);
    EXPECT_EQ(Int2(wide), ((wide & 3) ^ 2) - 2);
  }
}

}  // namespace
}  // namespace grurun
