// What is added or multiplied up from row to row of a matrix, in double. All run on the calling thread;
// arrays must not overlap.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// For each of some rows of x [n], `step` apart, in turn: so_far[i] += x[i]; y[i], at the same step, becomes
/// so_far[i], or what it was before if `exclusive`. step may be negative. The same bits on every instruction
/// set.
void vec_add_up(const float* x, int64_t rows, int64_t step, bool exclusive, double* so_far, float* y,
                int64_t n);
void vec_add_up(const double* x, int64_t rows, int64_t step, bool exclusive, double* so_far, double* y,
                int64_t n);

/// so_far[i] *= x[i] likewise.
void vec_multiply_up(const float* x, int64_t rows, int64_t step, bool exclusive, double* so_far, float* y,
                     int64_t n);
void vec_multiply_up(const double* x, int64_t rows, int64_t step, bool exclusive, double* so_far, double* y,
                     int64_t n);

}  // namespace grurun::kernels
