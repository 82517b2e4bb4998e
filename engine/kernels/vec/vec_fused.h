// Operations of whole arrays that would take several passes by the functions of vec_arith.h. A product and a
// sum may be rounded once together, depending on the instruction set. All run on the calling thread.
#pragma once

#include <cstdint>

#include "tensor/element_types.h"

namespace grurun::kernels {

/// Each row of y [rows, n]: y[r] = scale[r] * y[r] + a[r] * x, for x [n].
void vec_update_rows(const float* scale, const float* a, const float* x, float* y, int64_t rows, int64_t n);

/// Turns n pairs: y1 = c * x1 - s * x2, y2 = s * x1 + c * x2. y1 and y2 may be x1 and x2. 16-bit floats are
/// computed in float and rounded once.
void vec_rotate(const float* x1, const float* x2, const float* c, const float* s, float* y1, float* y2,
                int64_t n);
void vec_rotate(const Float16* x1, const Float16* x2, const float* c, const float* s, Float16* y1,
                Float16* y2, int64_t n);
void vec_rotate(const BFloat16* x1, const BFloat16* x2, const float* c, const float* s, BFloat16* y1,
                BFloat16* y2, int64_t n);

/// The same for pairs that lie side by side, x [n, 2] and y [n, 2]; y may be x.
void vec_rotate_pairs(const float* x, const float* c, const float* s, float* y, int64_t n);

/// y[i] = start + sum over j in [0, k) of taps[j] * x[i + j], for n elements: x holds n + k - 1. y must not
/// overlap x.
void vec_filter(const float* x, const float* taps, int64_t k, float start, float* y, int64_t n);

}  // namespace grurun::kernels
