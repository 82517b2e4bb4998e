#include "engine/ops/traditionalml/svm_polynomial.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/kernels/gemm/dot_products.h"
#include "engine/kernels/vec/polynomial_rows.h"

namespace grurun::engine {

namespace {

static_assert(kernels::PolynomialRows::step == Likeness::most_rows);

// Coefficients stay in the second level of the cache, and making them takes some milliseconds at most.
constexpr std::int64_t most_coefficients = 1 << 14, most_products = 1 << 24;

double power_of(double base, int exponent) {
  double y = base;
  for (int k = 1; k < exponent; ++k) y *= base;
  return y;
}

/// Products of `degree` of so many variables, or more than most_coefficients.
std::int64_t count_of_products(std::int64_t variables, int degree) {
  std::int64_t count = 1;
  for (std::int64_t k = 1; k <= degree; ++k) {
    if (variables > 2 * most_coefficients) return variables;
    count = count * (variables + k - 1) / k;  // whole numbers on the way
    if (count > most_coefficients) break;
  }
  return count;
}

/// values [variables, vectors]: gamma times each feature, and coef0.
struct Expansion {
  std::int64_t variables, vectors;
  int degree;
  const std::vector<double>& values;
  std::vector<double>& coefficients;

  const double* of_variable(std::int64_t i) const { return values.data() + i * vectors; }

  /// The coefficients of the products of what was chosen, `chosen` variables up to `last`, which is the last
  /// `times` of them, with those that may follow. products [vectors]: weights by the chosen variables; ways:
  /// in how many orders these can be chosen.
  void multiply_out(const std::vector<double>& products, int chosen, std::int64_t last, int times,
                    double ways) const {
    const auto ways_with = [&](std::int64_t i) {
      return ways * (chosen + 1) / (i == last && chosen > 0 ? times + 1 : 1);
    };
    if (chosen + 1 == degree) {
      const std::size_t first = coefficients.size();
      const std::int64_t count = variables - last;
      coefficients.resize(first + static_cast<std::size_t>(count));
      double* const made = coefficients.data() + first;
      kernels::multiply_dots(kernels::DotProducts<double>{1, count, vectors, products.data(), vectors,
                                                          of_variable(last), vectors, made, count, 1, 0});
      for (std::int64_t k = 0; k < count; ++k) made[k] *= ways_with(last + k);
      return;
    }
    std::vector<double> with(products.size());
    for (std::int64_t i = last; i < variables; ++i) {
      std::transform(products.begin(), products.end(), of_variable(i), with.begin(), std::multiplies<>());
      multiply_out(with, chosen + 1, i, i == last && chosen > 0 ? times + 1 : 1, ways_with(i));
    }
  }
};

}  // namespace

SvmPolynomial::SvmPolynomial(const SvmKernel& kernel, const SvmVectors& vectors,
                             std::span<const float> weights) {
  const std::int64_t width = vectors.width(), count = vectors.count();
  if (kernel.kind != SvmKernel::Kind::poly || !is_small_power(kernel.degree) || count == 0 || width == 0)
    return;
  const int degree = static_cast<int>(kernel.degree);
  const std::int64_t variables = width + (kernel.coef0 != 0 ? 1 : 0);
  const std::int64_t products = count_of_products(variables, degree);
  if (products > most_coefficients || 2 * products > count * width || products > most_products / count)
    return;

  std::vector<double> values;
  for (std::int64_t f = 0; f < width; ++f) {
    const double* const of_feature = vectors.data() + f * vectors.step();
    std::transform(of_feature, of_feature + count, std::back_inserter(values),
                   [&](double value) { return kernel.gamma * value; });
  }
  values.resize(static_cast<std::size_t>(variables * count), kernel.coef0);
  std::vector<double> coefficients;
  const Expansion expansion{variables, count, degree, values, coefficients};
  expansion.multiply_out({weights.begin(), weights.end()}, 0, 0, 0, 1);
  if (!all_finite(coefficients.data(), static_cast<std::int64_t>(coefficients.size()))) return;

  for (std::int64_t i = 0; i < variables; ++i) {
    double sum = 0;
    for (std::int64_t v = 0; v < count; ++v) {
      // A weight of 0, too, must not let a power beyond all numbers go unseen.
      const double weight =
          std::max(std::fabs(static_cast<double>(weights[static_cast<std::size_t>(v)])), 0x1p-149);
      sum += weight * power_of(std::fabs(expansion.of_variable(i)[v]), degree);
    }
    magnitudes_.push_back(std::pow(sum, 1.0 / degree));
  }
  // Roundings on both ways to the sum, of half a unit each: `count` additions of kernels, and for each of the
  // factors a sum over the features and a few products. Twice as many, for the roundings of the bound itself.
  relative_error_ = 4 * static_cast<double>(count + degree * (width + 6)) * 0x1p-53;
  width_ = width;
  degree_ = degree;
  coefficients_ = std::move(coefficients);
}

// With u[v, i] the value of variable i in vector v, all terms of both ways together have at most the
// magnitude
//   sum over v of |weight[v]| * (sum over i of |u[v, i] x[i]|) ^ degree,
// and that is at most (sum over i of magnitudes[i] |x[i]|) ^ degree with
//   magnitudes[i] = (sum over v of |weight[v]| |u[v, i]| ^ degree) ^ (1 / degree),
// by Minkowski's inequality. What falls below the smallest numbers on the way is less than 2^-1000 times all
// that it may be multiplied by.
void SvmPolynomial::add_sums(const double* x, std::int64_t rows, double* sums, double* errors) const {
  constexpr std::int64_t step = kernels::PolynomialRows::step;
  constexpr double most_magnitude = 1e250;  // beyond, a kernel's power by itself may be infinite
  const auto variables = static_cast<std::int64_t>(magnitudes_.size());
  ScratchVector<double> features(static_cast<std::size_t>(variables * step), 1.0);
  for (std::int64_t row = 0; row < rows; ++row) {
    double magnitude = variables > width_ ? magnitudes_.back() : 0, all = 1;
    for (std::int64_t f = 0; f < width_; ++f) {
      const double value = x[row * width_ + f];
      features[static_cast<std::size_t>(f * step + row)] = value;
      magnitude += magnitudes_[static_cast<std::size_t>(f)] * std::fabs(value);
      all += std::fabs(value);
    }
    const double bound = power_of(magnitude, degree_);
    errors[row] = bound < most_magnitude
                      ? relative_error_ * (bound + std::fabs(sums[row])) + 0x1p-1000 * power_of(all, degree_)
                      : std::numeric_limits<double>::infinity();
  }
  double made[step];
  kernels::polynomial_rows({coefficients_.data(), variables, degree_, features.data(), made, rows});
  for (std::int64_t row = 0; row < rows; ++row) sums[row] += made[row];
}

}  // namespace grurun::engine
