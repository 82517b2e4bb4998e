// Conversions of whole arrays that Cast has beyond those of vec_convert.h: n elements, each rounded once.
// x and y must not overlap. All run on the calling thread.
#pragma once

#include <cstdint>

#include "tensor/element_types.h"

namespace grurun::kernels {

void vec_convert(const double* x, float* y, int64_t n);
void vec_convert(const float* x, double* y, int64_t n);
void vec_convert(const Float16* x, BFloat16* y, int64_t n);
void vec_convert(const BFloat16* x, Float16* y, int64_t n);

#define GRURUN_DECLARE_TO_HALVES(T)                    \
  void vec_convert(const T* x, Float16* y, int64_t n); \
  void vec_convert(const T* x, BFloat16* y, int64_t n);
GRURUN_DECLARE_TO_HALVES(double)
GRURUN_DECLARE_TO_HALVES(int8_t)
GRURUN_DECLARE_TO_HALVES(uint8_t)
GRURUN_DECLARE_TO_HALVES(int16_t)
GRURUN_DECLARE_TO_HALVES(uint16_t)
GRURUN_DECLARE_TO_HALVES(int32_t)
GRURUN_DECLARE_TO_HALVES(int64_t)
#undef GRURUN_DECLARE_TO_HALVES

/// Towards zero; NaN and what lies outside becomes the least integer of 64 bits, of which others are the low
/// bits.
void vec_truncate(const double* x, int64_t* y, int64_t n);
void vec_truncate(const double* x, int8_t* y, int64_t n);
void vec_truncate(const double* x, uint8_t* y, int64_t n);
void vec_truncate(const double* x, int16_t* y, int64_t n);
void vec_truncate(const double* x, uint16_t* y, int64_t n);

}  // namespace grurun::kernels
