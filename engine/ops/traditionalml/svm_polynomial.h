// An SVM with a polynomial kernel as the polynomial of the features that it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ops/traditionalml/svm_kernel.h"

namespace grurun::engine {

/// The sum over the vectors v of weights[v] * (gamma x . v + coef0) ^ degree, multiplied out: a coefficient
/// for each product of `degree` features, where these are far fewer than the features of all vectors.
class SvmPolynomial {
 public:
  /// Empty where the kernel is another one, or multiplying out does not save most of the work.
  SvmPolynomial() = default;
  SvmPolynomial(const SvmKernel& kernel, const SvmVectors& vectors, std::span<const float> weights);

  bool empty() const { return coefficients_.empty(); }

  /// sums[row] += the sum, for x [rows, width] of up to Likeness::most_rows rows. errors[row]: how far the
  /// sum is at most from the one that Likeness::add_weighted makes; infinite or NaN where that is not known.
  void add_sums(const double* x, std::int64_t rows, double* sums, double* errors) const;

 private:
  std::int64_t width_ = 0;  // features; behind them coef0 is a variable of value 1, where it is not 0
  int degree_ = 0;
  std::vector<double> coefficients_;  // as kernels::PolynomialRows takes them
  std::vector<double> magnitudes_;    // [variables]: see add_sums
  double relative_error_ = 0;
};

}  // namespace grurun::engine
