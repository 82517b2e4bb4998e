// Steps of Cast, an element at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace grurun::kernels {

/// From a floating number to an integer: the number with its fraction cut off; of NaN and of what lies
/// outside, the least integer.
template <class Integer, class Float>
Integer truncated(Float x) {
  constexpr Float bound = Float(-2) * static_cast<Float>(std::numeric_limits<Integer>::min() / 2);
  return x >= -bound && x < bound ? static_cast<Integer>(x) : std::numeric_limits<Integer>::min();
}

/// To double for a second rounding: the last bit of an inexact result is set, so that no false tie arises.
template <typename Integer>
double sticky_double(Integer value) {
  const bool negative = value < 0;
  const auto word = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = negative ? 0 - word : word;
  if (magnitude <= std::uint64_t{1} << 53) return static_cast<double>(value);
  double wide = static_cast<double>(magnitude & ~std::uint64_t{0x7ff});  // at most 53 bits: exact
  if ((magnitude & 0x7ff) != 0) wide = std::bit_cast<double>(std::bit_cast<std::uint64_t>(wide) | 1);
  return negative ? -wide : wide;
}

}  // namespace grurun::kernels
