// Softmax of rows, each step as vec_arith.h, vec_math.h and vec_reduce.h have it, without a pass over memory
// for each.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// y = e^(x - m) / sum(e^(x - m)) for each row of x [rows, n], n > 0, m being its greatest element. y may be
/// x. Runs on the calling thread.
void vec_softmax(const float* x, float* y, int64_t rows, int64_t n);

/// y = x - m - log(sum(e^(x - m))), likewise.
void vec_log_softmax(const float* x, float* y, int64_t rows, int64_t n);

/// The same for each column of x [n, columns], whose rows are `step` elements apart, as those of y are. A sum
/// is taken in float, of blocks of column_block rows and then of the blocks.
void vec_softmax_columns(const float* x, float* y, int64_t n, int64_t columns, int64_t step);
void vec_log_softmax_columns(const float* x, float* y, int64_t n, int64_t columns, int64_t step);

inline constexpr int64_t column_block = 32;

}  // namespace grurun::kernels
