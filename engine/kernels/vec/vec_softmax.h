// Softmax of rows, each step as vec_arith.h, vec_math.h and vec_reduce.h have it, without a pass over memory
// for each.
#pragma once

#include <cstdint>

#include "tensor/element_types.h"

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

/// vec_softmax and vec_softmax_columns of numbers that Half, Float16 or BFloat16, holds, each step rounded to
/// it: x - m, the powers and their sum. The quotients are not.
template <class Half>
void vec_softmax_in_steps(const float* x, float* y, int64_t rows, int64_t n);
template <class Half>
void vec_softmax_columns_in_steps(const float* x, float* y, int64_t n, int64_t columns, int64_t step);

}  // namespace grurun::kernels
