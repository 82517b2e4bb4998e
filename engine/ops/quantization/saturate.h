// The last step of what quantizes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace grurun::engine {

/// saturate(round_half_to_even(quotient) + zero_point) in an integer type of at most 16 bits. NaN has no
/// integer: it becomes the zero point.
template <typename T>
T quantized_integer(double quotient, const T& zero_point) {
  double low, high;
  if constexpr (std::is_integral_v<T>) {
    low = std::numeric_limits<T>::lowest();
    high = std::numeric_limits<T>::max();
  } else {
    low = T::lowest;
    high = T::highest;
  }
  const double rounded = std::isnan(quotient) ? 0.0 : std::nearbyint(quotient);
  return static_cast<T>(static_cast<int>(std::clamp(rounded + static_cast<int>(zero_point), low, high)));
}

}  // namespace grurun::engine
