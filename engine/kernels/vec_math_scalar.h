// What the functions of vec_math.h compute that the C library does not have, in forms that neither overflow
// nor cancel.
#pragma once

#include <cmath>
#include <numbers>

namespace grurun::kernels {

template <class T>
T scalar_sigmoid(T x) {
  const T e = std::exp(-std::fabs(x));  // at most 1
  return (x < 0 ? e : T(1)) / (1 + e);
}

template <class T>
T scalar_softplus(T x) {
  return (x > 0 ? x : T(0)) + std::log1p(std::exp(-std::fabs(x)));
}

template <class T>
T scalar_gelu(T x) {
  constexpr T scale = static_cast<T>(1 / std::numbers::sqrt2);
  const T doubled = x < -2 ? std::erfc(-x * scale) : T(1) + std::erf(x * scale);
  return T(0.5) * x * doubled;
}

}  // namespace grurun::kernels
