// One number from n contiguous floats, doubles or integers, or one for each column of rows. The order of
// operations depends on n and the instruction set only.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// 0 for n = 0. Floats are summed in float within blocks of reduce_block, the blocks in double, so the error
/// is at most reduce_block / 2 units in the last place of the sum of magnitudes, whatever n is.
double reduce_sum(const float* x, int64_t n);
double reduce_sum(const double* x, int64_t n);

/// The sum of x * x, with the same bound.
double reduce_sum_squares(const float* x, int64_t n);
double reduce_sum_squares(const double* x, int64_t n);

inline constexpr int64_t reduce_block = 1024;

/// NaN if any element is. n = 0 gives -infinity for the greatest, infinity for the least.
float reduce_max(const float* x, int64_t n);
double reduce_max(const double* x, int64_t n);
float reduce_min(const float* x, int64_t n);
double reduce_min(const double* x, int64_t n);

/// n is at least 1.
int32_t reduce_max(const int32_t* x, int64_t n);
int64_t reduce_max(const int64_t* x, int64_t n);
int32_t reduce_min(const int32_t* x, int64_t n);
int64_t reduce_min(const int64_t* x, int64_t n);

/// What a sum in double is taken of: x, |x| or x * x.
enum class SumOf { values, magnitudes, squares };

/// sums_in_double sums, the k-th of elements k, k + sums_in_double, ..., which are then added: the upper half
/// to the lower, until one is left. The same bits on every instruction set.
double sum_in_double(SumOf of, const float* x, int64_t n);
inline constexpr int64_t sums_in_double = 32;

/// The sum of each row of x [rows, n], element after element: for rows that are short.
void sum_rows_in_double(SumOf of, const float* x, int64_t rows, int64_t n, double* sums);

/// sums[i] += x[i], |x[i]| or x[i] * x[i] for n elements, of each of some rows of x, `step` apart, in turn.
void add_in_double(SumOf of, const float* x, int64_t rows, int64_t step, double* sums, int64_t n);

/// best[i] becomes the greatest of itself and x[i] of each of some rows of x, `step` apart, for n elements;
/// or the least. NaN if any of them is.
void raise_to_max(const float* x, int64_t rows, int64_t step, float* best, int64_t n);
void raise_to_max(const double* x, int64_t rows, int64_t step, double* best, int64_t n);
void lower_to_min(const float* x, int64_t rows, int64_t step, float* best, int64_t n);
void lower_to_min(const double* x, int64_t rows, int64_t step, double* best, int64_t n);

}  // namespace grurun::kernels
