// Sums of products and of squared differences in double, whose terms are added one after the other: many sums
// at a time, each with the bits of the plain loop on every instruction set.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// Of the sum s of a row of a and a column of b, of products, or of squared differences for exponential:
///   product      s
///   power        (scale s + offset) ^ exponent, by as many products
///   exponential  exp(scale s)
///   tangent      tanh(scale s + offset)
/// The last two are within 1e-15.
enum class SumFunction { product, power, exponential, tangent };

/// a [rows, terms] of any strides, b [terms, columns] whose rows are b_step apart, y [rows, columns] whose
/// rows are y_step apart. Of b and y whole vectors are touched: both steps are multiples of
/// ordered_sums_step, and at least as many as the columns.
struct OrderedSums {
  const double* a;
  int64_t a_row_step, a_term_step;
  const double* b;
  int64_t b_step;
  double* y;
  int64_t y_step;
  int64_t rows, columns, terms;
  SumFunction function = SumFunction::product;
  double scale = 1, offset = 0;
  int exponent = 1;
  bool has_exact_products = false;  // both factors of each hold no more than floats do: fusing changes no bit
};
inline constexpr int64_t ordered_sums_step = 16;  // two of the widest vectors

void ordered_sums(const OrderedSums& of);

/// y[j] += sum over i of weights[i] * x[i, j], in the order of i, of x [rows, columns] whose rows are x_step
/// apart. Of x and y whole vectors are touched.
void add_weighted_rows(const float* weights, const double* x, int64_t x_step, int64_t rows, int64_t columns,
                       double* y);

}  // namespace grurun::kernels
