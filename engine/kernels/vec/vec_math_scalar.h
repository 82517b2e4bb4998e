// What the functions of vec_math.h compute that the C library does not have, or not within 2 units in the
// last place, in forms that neither overflow nor cancel.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

namespace grurun::kernels {

namespace detail {

/// high + low, where low is what high lost by rounding.
template <class T>
struct Exactly {
  T high, low;
};

template <class T>
Exactly<T> exact_product(T a, T b) {
  const T product = a * b;
  return {product, std::fma(a, b, -product)};
}

/// a + b for |a| >= |b| or a sum below 2^(digits of T).
template <class T>
Exactly<T> exact_sum(T a, T b) {
  const T sum = a + b;
  return {sum, b - (sum - a)};
}

/// The sum of both and `more`. Infinity and zero stay as they are.
template <class T>
T rounded(Exactly<T> x, T more) {
  const T low = x.low + more;
  return std::isfinite(low) && low != 0 ? x.high + low : x.high;
}

/// x a / b, rounded nearly once.
template <class T>
T scaled_ratio(T x, Exactly<T> a, Exactly<T> b) {
  const T q = a.high / b.high;
  const T q_low = (std::fma(-q, b.high, a.high) + (a.low - q * b.low)) / b.high;
  return rounded(exact_product(x, q), x * q_low);
}

/// x e^(z + low) for z so low that the power is no normal number, rounded nearly once.
template <class T>
T times_small_power(T x, T z, T low) {
  // 2^64 times the power: z + shift is exact, and the rest of 64 ln 2 is part of what is low.
  constexpr T unit = std::numeric_limits<T>::epsilon() * (sizeof(T) == 4 ? 64 : 512);
  constexpr T ln_power = static_cast<T>(64 * std::numbers::ln2_v<long double>);
  const T shift = std::round(ln_power / unit) * unit;
  low += static_cast<T>(64 * std::numbers::ln2_v<long double> - shift);
  const Exactly<T> y = exact_product(x, std::exp(z + shift));
  return std::ldexp(rounded(y, y.high * low), -64);
}

}  // namespace detail

/// x / (1 + e^-(z + low))
template <class T>
T scalar_gated(T x, T z, T low) {
  constexpr T least = sizeof(T) == 4 ? T(-80) : T(-700);
  if (z < least) return detail::times_small_power(x, z, low);
  const T e = std::exp(-std::fabs(z)), e_low = z < 0 ? e * low : -e * low;
  auto sum = detail::exact_sum(T(1), e);
  sum.low += e_low;
  return detail::scaled_ratio(x, z < 0 ? detail::Exactly<T>{e, e_low} : detail::Exactly<T>{1, 0}, sum);
}

template <class T>
T scalar_sigmoid(T x) {
  return scalar_gated(T(1), x, T(0));
}

/// x / (1 + e^(-alpha x))
template <class T>
T scalar_swish(T x, T alpha) {
  const auto z = detail::exact_product(alpha, x);
  return scalar_gated(x, z.high, std::isfinite(z.low) ? z.low : T(0));
}

template <class T>
T scalar_softplus(T x) {
  return (x > 0 ? x : T(0)) + std::log1p(std::exp(-std::fabs(x)));
}

/// With h = (e^(2 |x|) - 1) / 2, h / (1 + h) does not cancel.
template <class T>
T scalar_tanh(T x) {
  const T size = std::fabs(x);
  if (!(size < 20)) return std::tanh(x);
  const T h = std::expm1(size + size) / 2;
  return std::copysign(
      detail::scaled_ratio(T(1), {h, 0}, h < 1 ? detail::exact_sum(T(1), h) : detail::exact_sum(h, T(1))), x);
}

/// log1p(u) of u = t + sqrt(t (t + 2)), t = x - 1.
template <class T>
T scalar_acosh(T x) {
  if (!(x >= 1 && x < 2)) return std::acosh(x);
  const T t = x - 1;
  const auto sum = detail::exact_sum(T(2), t);
  auto square = detail::exact_product(t, sum.high);
  square.low += t * sum.low;
  const T root = std::sqrt(square.high);
  if (root == 0) return root;
  const T root_low = (std::fma(-root, root, square.high) + square.low) / (2 * root);
  const auto u = detail::exact_sum(root, t);
  return std::log1p(u.high) + (u.low + root_low) / (1 + u.high);
}

/// x tanh(ln(1 + e^x)): x m / (1 + m) with m = e^x + e^(2x) / 2, and, above 0, x / (1 + 2 f^2 / (1 + 2 f))
/// with f = e^-x.
template <class T>
T scalar_mish(T x) {
  constexpr T least = sizeof(T) == 4 ? T(-80) : T(-700);
  if (x < least) return detail::times_small_power(x, x, T(0));
  const T e = std::exp(-std::fabs(x));
  if (x < 0) {
    const T m = std::fma(e / 2, e, e), low = std::fma(e / 2, e, e - m);
    auto sum = detail::exact_sum(T(1), m);
    sum.low += low;
    return detail::scaled_ratio(x, {m, low}, sum);
  }
  return detail::scaled_ratio(x, {1, 0}, detail::exact_sum(T(1), 2 * e * e / (1 + 2 * e)));
}

/// x Phi(x), Phi the normal distribution.
double scalar_gelu(double x);

/// Gelu with approximate = "tanh": 1 + tanh(z) is 2 sigmoid(2 z), without the loss of digits where tanh is
/// near -1.
inline constexpr double gelu_scale = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
inline constexpr double gelu_cubic = 0.044715;
double scalar_gelu_tanh(double x);

}  // namespace grurun::kernels
