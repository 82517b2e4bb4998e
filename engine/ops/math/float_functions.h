// Scalar pieces that element-wise float operators are made of. T is float or double.
#pragma once

#include <cmath>

namespace grurun::engine {

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
