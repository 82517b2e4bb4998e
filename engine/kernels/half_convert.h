// 16-bit floats to float and back, whole runs at a time.
#pragma once

#include <cstdint>

#include "tensor/element_types.h"

namespace grurun::kernels {

/// y[i] = x[i], exactly. x and y must not overlap.
void widen(const Float16* x, float* y, std::int64_t n);
void widen(const BFloat16* x, float* y, std::int64_t n);

/// y[i] = x[i] rounded to nearest, ties to even; beyond the largest value: infinity. NaN stays NaN. x and y
/// must not overlap.
void narrow(const float* x, Float16* y, std::int64_t n);
void narrow(const float* x, BFloat16* y, std::int64_t n);

}  // namespace grurun::kernels
