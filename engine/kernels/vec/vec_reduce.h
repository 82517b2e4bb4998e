// One number from n contiguous floats, 16-bit ones too, doubles or integers, or one for each column of rows.
// The order of operations depends on n and the instruction set only.
#pragma once

#include <cstdint>

#include "tensor/dispatch.h"

namespace grurun::kernels {

/// 0 for n = 0. Floats are summed in float within blocks of reduce_block, the blocks in double, so the error
/// is at most reduce_block / 2 units in the last place of the sum of magnitudes, whatever n is.
double reduce_sum(const float* x, int64_t n);
double reduce_sum(const double* x, int64_t n);

/// The sum of x * x, with the same bound.
double reduce_sum_squares(const float* x, int64_t n);
double reduce_sum_squares(const double* x, int64_t n);

inline constexpr int64_t reduce_block = 1024;

/// Integers wrap.
int32_t reduce_sum(const int32_t* x, int64_t n);
int64_t reduce_sum(const int64_t* x, int64_t n);

/// reduce_min and reduce_max in one pass.
void reduce_min_max(const float* x, int64_t n, float* least, float* most);

#define GRURUN_DECLARE_EXTREMES(T)                                                            \
  ComputeType<T> reduce_max(const T* x, int64_t n);                                           \
  ComputeType<T> reduce_min(const T* x, int64_t n);                                           \
  void raise_to_max(const T* x, int64_t rows, int64_t step, ComputeType<T>* best, int64_t n); \
  void lower_to_min(const T* x, int64_t rows, int64_t step, ComputeType<T>* best, int64_t n);

/// reduce_max, reduce_min: NaN if any element is. n = 0 gives -infinity, or the lowest integer, for the
/// greatest, infinity or the highest for the least.
/// raise_to_max, lower_to_min: best[i] becomes the greatest of itself and x[i] of each of some rows of x,
/// `step` apart, for n elements; or the least. NaN if any of them is.
GRURUN_DECLARE_EXTREMES(float)
GRURUN_DECLARE_EXTREMES(double)
GRURUN_DECLARE_EXTREMES(Float16)
GRURUN_DECLARE_EXTREMES(BFloat16)
GRURUN_DECLARE_EXTREMES(int32_t)
GRURUN_DECLARE_EXTREMES(int64_t)
#undef GRURUN_DECLARE_EXTREMES

/// What a sum in double is taken of: x, |x| or x * x.
enum class SumOf { values, magnitudes, squares };

inline constexpr int64_t sums_in_double = 32;

#define GRURUN_DECLARE_WIDE_SUMS(T)                      \
  double sum_in_double(SumOf of, const T* x, int64_t n); \
  void add_in_double(SumOf of, const T* x, int64_t rows, int64_t step, double* sums, int64_t n);

/// sum_in_double: sums_in_double sums, the k-th of elements k, k + sums_in_double, ..., which are then added:
/// the upper half to the lower, until one is left. The same bits on every instruction set.
/// add_in_double: sums[i] += x[i], |x[i]| or x[i] * x[i] for n elements, of each of some rows of x, `step`
/// apart, in turn.
GRURUN_DECLARE_WIDE_SUMS(float)
GRURUN_DECLARE_WIDE_SUMS(double)
GRURUN_DECLARE_WIDE_SUMS(Float16)
GRURUN_DECLARE_WIDE_SUMS(BFloat16)
#undef GRURUN_DECLARE_WIDE_SUMS

/// The sum of each row of x [rows, n], element after element: for rows that are short.
void sum_rows_in_double(SumOf of, const float* x, int64_t rows, int64_t n, double* sums);
void sum_rows_in_double(SumOf of, const double* x, int64_t rows, int64_t n, double* sums);

}  // namespace grurun::kernels
