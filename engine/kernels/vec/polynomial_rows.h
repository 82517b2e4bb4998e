// Polynomials of several variables in double, for many rows of values at a time, each with the bits of the
// plain loops on every instruction set.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// y[row] = sum over i of x[i, row] * (sum over j >= i of x[j, row] * (... sum over k of t * x[k, row])), in
/// this order, with as many loops as the degree. The coefficients t stand in the order in which they come.
struct PolynomialRows {
  static constexpr int64_t step = 32;  // from a variable's values to the next one's; also the most rows

  const double* coefficients;
  int64_t variables;
  int degree;       // at least 1
  const double* x;  // [variables, step], of which `rows` count; the rest is read, too
  double* y;        // [step], likewise
  int64_t rows;
};

void polynomial_rows(const PolynomialRows& of);

}  // namespace grurun::kernels
