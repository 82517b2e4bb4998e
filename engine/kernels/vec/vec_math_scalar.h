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

/// Gelu with approximate = "tanh": 1 + tanh(z) is 2 sigmoid(2 z), without the loss of digits where tanh is
/// near -1.
template <class T>
inline constexpr T gelu_scale = static_cast<T>(2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
template <class T>
inline constexpr T gelu_cubic = static_cast<T>(0.044715);
template <class T>
T scalar_gelu_tanh(T x) {
  return x * scalar_sigmoid(gelu_scale<T> * (x + gelu_cubic<T> * x * x * x));
}

template <class T>
T scalar_hard_sigmoid(T x, T alpha, T beta) {
  const T line = x * alpha + beta;
  return line < 0 ? T(0) : line > 1 ? T(1) : line;
}

template <class T>
inline constexpr T sixth = T(1) / T(6);
template <class T>
T scalar_hard_swish(T x) {
  return x * scalar_hard_sigmoid(x, sixth<T>, T(0.5));
}

}  // namespace grurun::kernels
