// Weighted sums of logistic functions of products of two matrices, in double, nearly.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// With s[i, j] = offset + sum over k of a[k, i] b[k, j]:
///   y[j] += sum over i of weights[i] / (1 + 2^s[i, j])
/// or, where columns are weighed,
///   y[i] += sum over j of weights[j] / (1 + 2^s[i, j])
/// in any order. a [terms, rows], b [terms, columns], whose terms are a_step and b_step apart, multiples of
/// logistic_step: whole vectors are touched of them, and of weights and y by columns, whatever is behind.
struct LogisticSums {
  const double* a;
  int64_t a_step;
  const double* b;
  int64_t b_step;
  const double* weights;
  double* y;
  int64_t rows, columns, terms;
  double offset;
  bool weighs_columns = false;
  /// Of some terms two products are made of one, (a0 + b1) (a1 + b0) - a0 a1 - b0 b1, where what each row and
  /// each column has by itself is made once: faster where additions have units of their own. Not where
  /// columns are weighed.
  bool in_pairs = false;
};
inline constexpr int64_t logistic_step = 16;  // two of the widest vectors

/// How far a term, but for its weight, is from the exact one at most, with a2 and b2 the sums of squares of a
/// row of a and a column of b. Beyond 2^51 of s, where this is large, the result may be no number, too.
constexpr double logistic_error(int64_t terms, double offset, double a2, double b2) {
  // What is added up is never above 3 / 2 (a2 + b2) + |offset|, and the function's slope up to ln(2) / 4. The
  // factor is more than twice what that comes to.
  return 0x1p-43 + 0x1p-52 * static_cast<double>(terms + 8) * (a2 + b2 + (offset < 0 ? -offset : offset));
}

void add_logistic_sums(const LogisticSums& of);

}  // namespace grurun::kernels
