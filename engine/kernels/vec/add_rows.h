// Rows of one matrix added to those of another.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// y[r * ldy + i] += x[r * ldx + i] for rows r in [0, rows) and columns i in [0, n). y must not overlap x.
/// Runs on the calling thread.
void add_rows(const float* x, int64_t ldx, int64_t rows, int64_t n, float* y, int64_t ldy);
void add_rows(const double* x, int64_t ldx, int64_t rows, int64_t n, double* y, int64_t ldy);

}  // namespace grurun::kernels
