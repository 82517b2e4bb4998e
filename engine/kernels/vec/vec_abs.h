// Sizes of 64-bit integers, which no instruction of the least instruction set compares.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// y[i] = |x[i]| for n elements, the least integer for itself. x and y may be the same array, otherwise must
/// not overlap. Runs on the calling thread.
void vec_abs(const int64_t* x, int64_t* y, int64_t n);

}  // namespace grurun::kernels
