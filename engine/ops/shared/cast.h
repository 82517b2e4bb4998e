// Conversion between element types, as Cast defines it (Cast-1 to Cast-28). Every outcome that the standard
// leaves open is defined here:
//   floating -> integer: the fraction is cut off. Out of range, or NaN: int32 and int64 take their lowest
//   value, uint64
//     takes 0, the others the low bits of the int64 (so 300.0 is 44 as uint8), as they do of an integer out
//     of range.
//   NaN -> a format without NaN: negative zero.
//   floating -> float8e8m0: the power of two that round_mode names; negative values become NaN.
//   string -> number: one number in plain or scientific notation, spaces around it allowed, for integers with
//   the
//     fraction cut off; anything else throws Error(invalid_model). number -> string: the fewest digits that
//     name the value, without an exponent, "3.0" for an integral float, nan, inf, -inf; bool gives 1 and 0.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace grurun::engine {

enum class PowerRounding { up, down, nearest };

/// "up", "down" or "nearest"; throws Error(invalid_model) for another name.
PowerRounding parse_power_rounding(const std::string& round_mode);

struct CastRule {
  bool saturate = true;                          // to the float8 types: beyond the largest value stay at it
  PowerRounding round_mode = PowerRounding::up;  // to float8e8m0
  /// Floats to 4-bit types as the cases of the releases up to Cast-23 have it: what an integer type cannot
  /// hold becomes the nearest it can, NaN becomes float4e2m1's largest value.
  bool clamp_four_bits = false;
};

/// x as elements of another type. The same type gives x itself. Throws Error(unsupported) for complex
/// numbers, which Cast does not admit.
Tensor cast_tensor(const Tensor& x, DType to, const CastRule& rule = {});

namespace detail {
/// The conversions from and to string; one of both types is string.
Tensor cast_from_string(const Tensor& x, DType to, const CastRule& rule);
Tensor cast_to_string(const Tensor& x);
}  // namespace detail

}  // namespace grurun::engine
