#pragma once

#include <cstdint>

#include "engine/kernels/gemm/gemm_tile.h"

/// Products of float32 panels on AMX's tile registers (tile_product-inl.h), where tile_registers() (simd.h)
/// says that there are any.
namespace grurun::kernels {

/// K of one product is a multiple of it where others add to its sums: results then do not depend on where
/// they begin.
inline constexpr int64_t split_terms = 32;

/// Bytes that split_rows writes; aligned to 64 they must be.
int64_t split_bytes(int64_t rows, int64_t K);

/// A [rows, K], in the pieces that tiles multiply.
void split_rows(const float* A, int64_t lda, int64_t rows, int64_t K, void* split);

/// multiply_panel for A that split_rows has split, with a row_bias or from_c for an epilogue at most: every
/// product is within 2^-22, which for K of split_terms or more keeps the bound of float32 sums. What of A or
/// B tiles do not multiply well (tile_range.h), infinities and NaN among it, makes the rows or columns that
/// have it run without them; no element depends on other rows or columns.
void multiply_split(const PanelProduct<float>& p, const void* split);

}  // namespace grurun::kernels
