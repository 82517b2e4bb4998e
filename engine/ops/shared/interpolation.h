// Values between elements: the weights of linear and cubic interpolation, and what integers are interpolated
// in.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor/dispatch.h"

namespace grurun::engine {

/// The type that weighted sums of T are taken in: float for floats of at most 32 bits, double for double and
/// for integers of at most 32 bits; 64-bit integers take long double, which holds each of them where it has
/// 64 bits of precision.
template <typename T>
using InterpolationType = std::conditional_t<is_compute_float<T>, ComputeType<T>,
                                             std::conditional_t<(sizeof(T) < 8), double, long double>>;

/// Weight of a sample at this distance, linear: 1 - |distance| within 1, else 0.
template <typename C>
C linear_weight(C distance) {
  return std::max(C(0), C(1) - std::abs(distance));
}

/// Weight of a sample at this distance by cubic convolution with coefficient a (Keys 1981, equation 4); 0
/// from distance 2 on.
template <typename C>
C cubic_weight(C distance, C a) {
  const C d = std::abs(distance);
  if (d <= C(1)) return ((a + C(2)) * d - (a + C(3))) * d * d + C(1);
  if (d < C(2)) return ((a * d - C(5) * a) * d + C(8) * a) * d - C(4) * a;
  return C(0);
}

namespace detail {
/// An integral value as T, the nearest that T can hold; NaN gives T's lowest.
template <typename T, typename C>
T saturated(C integral) {
  if (!(integral > static_cast<C>(std::numeric_limits<T>::lowest()))) return std::numeric_limits<T>::lowest();
  if (integral >= static_cast<C>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(integral);
}
}  // namespace detail

/// A weighted sum as T: floats rounded to T; integers rounded half to even and kept within T; bool true for
/// all but 0.
template <typename T, typename C>
T rounded_to(C value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != C(0);
  } else if constexpr (std::is_integral_v<T>) {
    return detail::saturated<T>(std::nearbyint(value));
  } else {
    return static_cast<T>(value);
  }
}

/// The same, with the fraction of integers cut off; what is within `error` of an integer is one.
template <typename T, typename C>
T truncated_to(C value, C error) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const C nearest = std::nearbyint(value);
    return detail::saturated<T>(std::abs(value - nearest) <= error ? nearest : std::trunc(value));
  } else {
    return rounded_to<T>(value);
  }
}

}  // namespace grurun::engine
