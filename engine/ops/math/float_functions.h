// Scalar pieces that element-wise float operators are made of. T is float or double.
#pragma once

#include <cmath>
#include <limits>

namespace grurun::engine {

/// To the nearest integer, ties to even; +-0, NaN and infinities as they are. Needs no instruction beyond
/// addition, so that loops of it become vector code.
template <typename T>
T round_half_even(T x) {
  constexpr T unit = T{1} / std::numeric_limits<T>::epsilon();  // from here on every value is an integer
  const T magnitude = std::fabs(x);
  const T rounded = std::copysign((magnitude + unit) - unit, x);
  return magnitude < unit ? rounded : x;
}

template <typename T>
T floor_of(T x) {
  const T rounded = round_half_even(x);
  return std::copysign(rounded > x ? rounded - 1 : rounded, x);
}

template <typename T>
T ceil_of(T x) {
  const T rounded = round_half_even(x);
  return std::copysign(rounded < x ? rounded + 1 : rounded, x);
}

/// The larger and the smaller of two; NaN when either is, as numpy's maximum and minimum.
template <typename T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <typename T>
T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

}  // namespace grurun::engine
