// Runs of n floating-point elements between the types that are computed with: float, double and the 16-bit
// floats.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace grurun::engine {

/// y[i] = x[i] as an element of `to`, rounded once. x and y must not overlap. Throws Error(unsupported) for
/// other types.
void convert_floats(DType from, const void* x, DType to, void* y, std::int64_t n);

/// Rounds each element to float16 or bfloat16 and back; any other dtype leaves them.
void round_floats(DType dtype, float* x, std::int64_t n);
void round_floats(DType dtype, double* x, std::int64_t n);

}  // namespace grurun::engine
