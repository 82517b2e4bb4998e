// Functions of whole arrays: n elements from x to y. x and y may be the same array, otherwise must not
// overlap.
//
// Results are at most 2 units in the last place from the true value (tests/engine/ops/math/accuracy_test.cc).
// float: vector code for every instruction set. double: the C library, and the definitions of
// vec_math_scalar.h. In both: NaN gives NaN, infinities give limits, the sign of zero is kept by the odd
// functions, subnormal arguments and results are not flushed. Large arrays use the threads of parallel_for.
#pragma once

#include <cstdint>

#include "tensor/element_types.h"

namespace grurun::kernels {

void vec_exp(const float* x, float* y, int64_t n);
void vec_exp(const double* x, double* y, int64_t n);

void vec_expm1(const float* x, float* y, int64_t n);
void vec_expm1(const double* x, double* y, int64_t n);

/// The natural logarithm: -infinity at either zero, NaN below.
void vec_log(const float* x, float* y, int64_t n);
void vec_log(const double* x, double* y, int64_t n);

void vec_log1p(const float* x, float* y, int64_t n);
void vec_log1p(const double* x, double* y, int64_t n);

void vec_tanh(const float* x, float* y, int64_t n);
void vec_tanh(const double* x, double* y, int64_t n);

/// 1 / (1 + exp(-x))
void vec_sigmoid(const float* x, float* y, int64_t n);
void vec_sigmoid(const double* x, double* y, int64_t n);

/// x times what vec_sigmoid makes of it, bit for bit: of two operators that run as one.
void vec_times_sigmoid(const float* x, float* y, int64_t n);

/// log(1 + exp(x))
void vec_softplus(const float* x, float* y, int64_t n);
void vec_softplus(const double* x, double* y, int64_t n);

void vec_erf(const float* x, float* y, int64_t n);
void vec_erf(const double* x, double* y, int64_t n);

/// x / 2 (1 + erf(x / sqrt(2)))
void vec_gelu(const float* x, float* y, int64_t n);
void vec_gelu(const double* x, double* y, int64_t n);

/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
void vec_gelu_tanh(const float* x, float* y, int64_t n);
void vec_gelu_tanh(const double* x, double* y, int64_t n);

/// x tanh(ln(1 + e^x))
void vec_mish(const float* x, float* y, int64_t n);
void vec_mish(const double* x, double* y, int64_t n);

/// max(0, min(1, alpha x + beta)), the product and the sum rounded together
void vec_hard_sigmoid(const float* x, float alpha, float beta, float* y, int64_t n);
void vec_hard_sigmoid(const double* x, double alpha, double beta, double* y, int64_t n);
void vec_hard_sigmoid(const Float16* x, float alpha, float beta, Float16* y, int64_t n);
void vec_hard_sigmoid(const BFloat16* x, float alpha, float beta, BFloat16* y, int64_t n);

/// x max(0, min(1, x / 6 + 0.5))
void vec_hard_swish(const float* x, float* y, int64_t n);
void vec_hard_swish(const double* x, double* y, int64_t n);
void vec_hard_swish(const Float16* x, Float16* y, int64_t n);
void vec_hard_swish(const BFloat16* x, BFloat16* y, int64_t n);

/// x / (1 + e^(-alpha x))
void vec_swish(const float* x, float alpha, float* y, int64_t n);
void vec_swish(const double* x, double alpha, double* y, int64_t n);

void vec_sin(const float* x, float* y, int64_t n);
void vec_sin(const double* x, double* y, int64_t n);

void vec_cos(const float* x, float* y, int64_t n);
void vec_cos(const double* x, double* y, int64_t n);

void vec_tan(const float* x, float* y, int64_t n);
void vec_tan(const double* x, double* y, int64_t n);

/// NaN beyond 1, as acos and atanh.
void vec_asin(const float* x, float* y, int64_t n);
void vec_asin(const double* x, double* y, int64_t n);

void vec_acos(const float* x, float* y, int64_t n);
void vec_acos(const double* x, double* y, int64_t n);

void vec_atan(const float* x, float* y, int64_t n);
void vec_atan(const double* x, double* y, int64_t n);

void vec_sinh(const float* x, float* y, int64_t n);
void vec_sinh(const double* x, double* y, int64_t n);

void vec_cosh(const float* x, float* y, int64_t n);
void vec_cosh(const double* x, double* y, int64_t n);

void vec_asinh(const float* x, float* y, int64_t n);
void vec_asinh(const double* x, double* y, int64_t n);

/// NaN below 1.
void vec_acosh(const float* x, float* y, int64_t n);
void vec_acosh(const double* x, double* y, int64_t n);

void vec_atanh(const float* x, float* y, int64_t n);
void vec_atanh(const double* x, double* y, int64_t n);

#define GRURUN_DECLARE_ROUNDING(T)             \
  void vec_floor(const T* x, T* y, int64_t n); \
  void vec_ceil(const T* x, T* y, int64_t n);  \
  void vec_round(const T* x, T* y, int64_t n);
/// To integers, exactly; vec_round: to the nearest one, ties to even. The sign of zero and of what becomes
/// zero is kept.
GRURUN_DECLARE_ROUNDING(float)
GRURUN_DECLARE_ROUNDING(double)
GRURUN_DECLARE_ROUNDING(Float16)
GRURUN_DECLARE_ROUNDING(BFloat16)
#undef GRURUN_DECLARE_ROUNDING

}  // namespace grurun::kernels
