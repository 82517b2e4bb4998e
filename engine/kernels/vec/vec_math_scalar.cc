#include "engine/kernels/vec/vec_math_scalar.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace grurun::kernels {

namespace {

using Wide = long double;

/// Mills' ratio R(a) = e^(a^2 / 2) Phi(-a) of the normal distribution Phi, by its Taylor series about
/// multiples of 1/8: R' = a R - 1 / sqrt(2 pi) gives each term from the two before.
class MillsRatio {
 public:
  static constexpr double most = 38.75;  // at -38.75, x Phi(x) rounds to 0

  MillsRatio() {
    for (std::size_t i = 0; i < count; ++i) {
      const Wide center = static_cast<Wide>(i) * spacing;
      Wide before = 0, term = at(center);
      first_low_[i] = static_cast<double>(term - static_cast<double>(term));
      for (std::size_t n = 0; n < terms; ++n) {
        terms_[i][n] = static_cast<double>(term);
        const Wide next = (center * term + before - (n == 0 ? density_at_0 : 0)) / static_cast<Wide>(n + 1);
        before = term;
        term = next;
      }
    }
  }

  /// Of a from 0 to most.
  detail::Exactly<double> operator()(double a) const {
    const auto i = static_cast<std::size_t>(std::lround(a / spacing));
    const double from_center = a - static_cast<double>(i) * spacing;
    double rest = 0;
    for (std::size_t n = terms; n-- > 1;) rest = (rest + terms_[i][n]) * from_center;
    auto sum = detail::exact_sum(terms_[i][0], rest);
    sum.low += first_low_[i];
    return sum;
  }

 private:
  static constexpr double spacing = 0.125;
  static constexpr std::size_t count = static_cast<std::size_t>(most / spacing) + 1, terms = 12;
  static constexpr Wide density_at_0 = std::numbers::inv_sqrtpi_v<Wide> / std::numbers::sqrt2_v<Wide>;

  static Wide at(Wide a) {
    if (a < 1) return std::exp(a * a / 2) * std::erfc(a / std::numbers::sqrt2_v<Wide>) / 2;
    // Laplace's continued fraction, to the terms that change 64 bits.
    Wide below = a;
    for (int n = static_cast<int>(700 / (a * a)) + 12; n > 0; --n) below = a + static_cast<Wide>(n) / below;
    return density_at_0 / below;
  }

  std::array<std::array<double, terms>, count> terms_;
  std::array<double, count> first_low_;
};

/// A constant as the nearest double and what is left of it.
constexpr detail::Exactly<double> split(Wide value) {
  return {static_cast<double>(value), static_cast<double>(value - static_cast<double>(value))};
}

}  // namespace

double scalar_gelu(double x) {
  static const MillsRatio ratio;
  const double size = std::fabs(x);
  if (!(size < MillsRatio::most)) return x < 0 ? x * 0 : x;
  const auto square = detail::exact_product(size, size);
  // The power comes last: it may be no normal number.
  const double power = std::exp(-square.high / 2);
  const auto r = ratio(size);
  const double r_low = r.low - square.low / 2 * r.high;
  if (x >= 0) {
    const auto beyond = detail::exact_product(power, r.high);
    auto gate = detail::exact_sum(1.0, -beyond.high);
    gate.low -= beyond.low + power * r_low;
    const auto y = detail::exact_product(x, gate.high);
    return detail::rounded(y, x * gate.low);
  }
  const auto of_x = detail::exact_product(x, r.high);
  const auto y = detail::exact_product(of_x.high, power);
  return detail::rounded(y, (of_x.low + x * r_low) * power);
}

double scalar_gelu_tanh(double x) {
  constexpr auto cubic = split(0.044715L);
  constexpr auto scale = split(2 * std::numbers::sqrt2_v<Wide> * std::numbers::inv_sqrtpi_v<Wide>);
  const auto square = detail::exact_product(x, x);
  auto term = detail::exact_product(cubic.high, square.high);
  term.low += cubic.high * square.low + cubic.low * square.high;
  auto factor = detail::exact_sum(1.0, term.high);
  factor.low += term.low;
  auto scaled = detail::exact_product(scale.high, x);
  scaled.low += scale.low * x;
  auto z = detail::exact_product(scaled.high, factor.high);
  z.low += scaled.high * factor.low + scaled.low * factor.high;
  return scalar_gated(x, z.high, std::isfinite(z.low) ? z.low : 0.0);
}

}  // namespace grurun::kernels
