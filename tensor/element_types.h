// C++ types for the ONNX element types that C++ does not have. All are one storage unit wide; the 4- and
// 2-bit types take a byte each in memory (files pack them).
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor/minifloat.h"

namespace grurun {

/// IEEE binary16. Stored as 16 bits, computed with as float; conversions round to nearest even.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) : bits(encode(value)) {}
  explicit Float16(double value) : bits(static_cast<std::uint16_t>(Float16Format::encode(value, false))) {}
  template <std::integral Integer>
  explicit Float16(Integer value) : Float16(static_cast<double>(value)) {}
  static Float16 from_bits(std::uint16_t bits) {
    Float16 out;
    out.bits = bits;
    return out;
  }
  operator float() const { return decode(bits); }

  static float decode(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
    const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
  }

  static std::uint16_t encode(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000u);
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;
    if (magnitude >= 0x47800000u) return sign | 0x7c00u;
    if (magnitude < 0x38800000u) {
      // Adding 0.5 leaves the subnormal's units in the last bits of the sum, rounded by the hardware.
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(sum) - 0x3f000000u);
    }
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return sign | static_cast<std::uint16_t>((rounded - 0x38000000u) >> 13);
  }
};

/// The upper half of a float. Stored as 16 bits, computed with as float; conversions round to nearest even.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(encode(value)) {}
  explicit BFloat16(double value) : bits(encode(round_to_odd(value))) {}
  template <std::integral Integer>
  explicit BFloat16(Integer value) : BFloat16(static_cast<double>(value)) {}
  static BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 out;
    out.bits = bits;
    return out;
  }
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

  static std::uint16_t encode(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((word >> 16) | 0x40u);
    return static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }

 private:
  // A double goes through float; rounding that step to odd keeps the second rounding the only one that
  // counts.
  static float round_to_odd(double value) {
    const auto nearest = static_cast<float>(value);
    if (std::isnan(value) || std::isinf(nearest) || static_cast<double>(nearest) == value) return nearest;
    const auto word = std::bit_cast<std::uint32_t>(nearest);
    if (word & 1u) return nearest;
    const bool too_large = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
    return std::bit_cast<float>(too_large ? word - 1 : word + 1);
  }
};

/// The ONNX float8, float6 and float4 types: a code in a byte.
template <typename Format>
struct SmallFloat {
  std::uint8_t bits = 0;

  SmallFloat() = default;
  explicit SmallFloat(double value, bool saturate = true)
      : bits(static_cast<std::uint8_t>(Format::encode(value, saturate))) {}
  static SmallFloat from_bits(std::uint8_t bits) {
    SmallFloat out;
    out.bits = bits;
    return out;
  }
  operator float() const { return Format::decode(bits); }
};

using Float8E4M3FN = SmallFloat<Float8E4M3FNFormat>;
using Float8E4M3FNUZ = SmallFloat<Float8E4M3FNUZFormat>;
using Float8E5M2 = SmallFloat<Float8E5M2Format>;
using Float8E5M2FNUZ = SmallFloat<Float8E5M2FNUZFormat>;
using Float6E2M3 = SmallFloat<Float6E2M3Format>;
using Float6E3M2 = SmallFloat<Float6E3M2Format>;
using Float4E2M1 = SmallFloat<Float4E2M1Format>;

/// A power of two, 2^(bits - 127); 255 is NaN. It has neither sign nor zero.
struct Float8E8M0 {
  std::uint8_t bits = 0;

  static Float8E8M0 from_bits(std::uint8_t bits) { return {bits}; }
  operator float() const {
    return bits == 0xff ? std::numeric_limits<float>::quiet_NaN()
                        : std::ldexp(1.0f, static_cast<int>(bits) - 127);
  }
};

/// Integers of 4 and 2 bits, a byte each, always in range: constructing one keeps the low bits.
template <int Bits, bool Signed>
struct SmallInt {
  using Storage = std::conditional_t<Signed, std::int8_t, std::uint8_t>;
  static constexpr int bit_count = Bits;
  static constexpr int lowest = Signed ? -(1 << (Bits - 1)) : 0;
  static constexpr int highest = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;

  Storage value = 0;

  SmallInt() = default;
  explicit SmallInt(int wide) {
    const int low = wide & ((1 << Bits) - 1);
    value = static_cast<Storage>(low > highest ? low - (1 << Bits) : low);
  }
  operator int() const { return value; }
};

template <typename T>
inline constexpr bool is_small_int = false;
template <int Bits, bool Signed>
inline constexpr bool is_small_int<SmallInt<Bits, Signed>> = true;

using Int4 = SmallInt<4, true>;
using UInt4 = SmallInt<4, false>;
using Int2 = SmallInt<2, true>;
using UInt2 = SmallInt<2, false>;

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

}  // namespace grurun
