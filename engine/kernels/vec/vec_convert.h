// float to and from the 16-bit floats, and from 64-bit integers, whole arrays, n elements. Rounds to nearest,
// ties to even; what is beyond the largest finite value becomes infinity; NaN stays NaN, its payload
// unspecified. Same results as the constructors and operators of Float16 and BFloat16, and static_cast. x and
// y must not overlap. Large arrays use the threads of parallel_for.
#pragma once

#include <cstdint>

#include "tensor/element_types.h"

namespace grurun::kernels {

void vec_convert(const Float16* x, float* y, int64_t n);
void vec_convert(const BFloat16* x, float* y, int64_t n);
void vec_convert(const float* x, Float16* y, int64_t n);
void vec_convert(const float* x, BFloat16* y, int64_t n);
void vec_convert(const int64_t* x, float* y, int64_t n);

/// To integers, towards zero; NaN and what lies outside becomes the least integer. The same otherwise.
void vec_truncate(const float* x, int32_t* y, int64_t n);
void vec_truncate(const float* x, int64_t* y, int64_t n);
void vec_truncate(const double* x, int32_t* y, int64_t n);

/// The low bits of the 64-bit integer.
void vec_truncate(const float* x, int8_t* y, int64_t n);
void vec_truncate(const float* x, uint8_t* y, int64_t n);
void vec_truncate(const float* x, int16_t* y, int64_t n);
void vec_truncate(const float* x, uint16_t* y, int64_t n);

}  // namespace grurun::kernels
