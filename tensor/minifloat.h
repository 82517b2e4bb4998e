// Floating-point formats of at most 16 bits, described by numbers and converted by one piece of code.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace grurun {

enum class Specials {
  ieee,    // all-ones exponent: infinities and NaN
  fn,      // no infinities; all ones in exponent and mantissa is NaN
  fnuz,    // no infinities, no negative zero; the negative zero's code is NaN
  finite,  // neither infinities nor NaN
};

/// Sign + exponent + mantissa formats (IEEE binary16, bfloat16, and the ONNX float8, float6 and float4
/// types).
template <int ExponentBits, int MantissaBits, int Bias, Specials Kind>
struct MiniFloatFormat {
  static constexpr int bits = 1 + ExponentBits + MantissaBits;
  static constexpr std::uint32_t sign_mask = 1u << (bits - 1);
  static constexpr std::uint32_t magnitude_mask = sign_mask - 1;
  static constexpr std::uint32_t mantissa_mask = (1u << MantissaBits) - 1;
  static constexpr std::uint32_t max_exponent = (1u << ExponentBits) - 1;

  static constexpr std::uint32_t infinity_code = max_exponent << MantissaBits;  // ieee only
  static constexpr std::uint32_t nan_code = Kind == Specials::ieee
                                                ? infinity_code | (1u << (MantissaBits - 1))
                                            : Kind == Specials::fn ? magnitude_mask
                                                                   : sign_mask;
  static constexpr std::uint32_t largest_code = Kind == Specials::ieee ? infinity_code - 1
                                                : Kind == Specials::fn ? magnitude_mask - 1
                                                                       : magnitude_mask;

  static constexpr bool is_nan(std::uint32_t code) {
    if constexpr (Kind == Specials::ieee) return (code & magnitude_mask) > infinity_code;
    if constexpr (Kind == Specials::fn) return (code & magnitude_mask) == magnitude_mask;
    if constexpr (Kind == Specials::fnuz) return code == sign_mask;
    return false;
  }

  static float decode(std::uint32_t code) {
    if (is_nan(code)) return std::numeric_limits<float>::quiet_NaN();
    const float sign = (code & sign_mask) ? -1.0f : 1.0f;
    const std::uint32_t magnitude = code & magnitude_mask;
    if constexpr (Kind == Specials::ieee) {
      if (magnitude == infinity_code) return sign * std::numeric_limits<float>::infinity();
    }
    const auto exponent = static_cast<int>(magnitude >> MantissaBits);
    const auto mantissa = static_cast<float>(magnitude & mantissa_mask);
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - Bias - MantissaBits);
    return sign * std::ldexp(mantissa + (1 << MantissaBits), exponent - Bias - MantissaBits);
  }

  /// Rounds to nearest, ties to even. What is beyond the largest finite value becomes that value when
  /// saturate is set, else infinity (ieee) or NaN (fn, fnuz). A format without NaN maps NaN to negative
  /// zero, as ml_dtypes does.
  static std::uint32_t encode(double value, bool saturate) {
    if (std::isnan(value)) return Kind == Specials::finite ? sign_mask : nan_code;
    const std::uint32_t sign = std::signbit(value) ? sign_mask : 0;
    const double magnitude = std::fabs(value);
    std::uint32_t code = 0;
    if (std::isinf(magnitude)) {
      code = largest_code + 1;
    } else if (magnitude > 0) {
      int exponent = 0;
      std::frexp(magnitude, &exponent);
      exponent = exponent - 1 > 1 - Bias ? exponent - 1 : 1 - Bias;
      // In units of the last place; a carry out of the mantissa lands in the exponent by itself.
      const double units = std::nearbyint(std::ldexp(magnitude, MantissaBits - exponent));
      if (units >= static_cast<double>(4u << MantissaBits) ||
          exponent + Bias > static_cast<int>(max_exponent)) {
        code = largest_code + 1;
      } else {
        code = (static_cast<std::uint32_t>(exponent + Bias - 1) << MantissaBits) +
               static_cast<std::uint32_t>(units);
      }
    }
    if (code > largest_code) {
      if (saturate || Kind == Specials::finite) return sign | largest_code;
      if constexpr (Kind == Specials::ieee) return sign | infinity_code;
      return Kind == Specials::fn ? sign | nan_code : nan_code;
    }
    if (Kind == Specials::fnuz && code == 0) return 0;
    return sign | code;
  }
};

using Float16Format = MiniFloatFormat<5, 10, 15, Specials::ieee>;
using Float8E4M3FNFormat = MiniFloatFormat<4, 3, 7, Specials::fn>;
using Float8E4M3FNUZFormat = MiniFloatFormat<4, 3, 8, Specials::fnuz>;
using Float8E5M2Format = MiniFloatFormat<5, 2, 15, Specials::ieee>;
using Float8E5M2FNUZFormat = MiniFloatFormat<5, 2, 16, Specials::fnuz>;
using Float6E2M3Format = MiniFloatFormat<2, 3, 1, Specials::finite>;
using Float6E3M2Format = MiniFloatFormat<3, 2, 3, Specials::finite>;
using Float4E2M1Format = MiniFloatFormat<2, 1, 1, Specials::finite>;

}  // namespace grurun
