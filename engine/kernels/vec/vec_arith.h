// Arithmetic of whole arrays: n elements of float, double, a 16-bit float, int32_t or int64_t; y may be one
// of the operands' arrays, otherwise must not overlap. A scalar operand stands for an array of it. 16-bit
// floats are computed in float, as which their scalars come, and rounded once; integers wrap. Large arrays
// use the threads of parallel_for.
#pragma once

#include <concepts>
#include <cstdint>

#include "tensor/dispatch.h"

namespace grurun::kernels {

template <class T>
concept ArithmeticFloat = is_compute_float<T>;
template <class T>
concept Arithmetic = ArithmeticFloat<T> || std::same_as<T, int32_t> || std::same_as<T, int64_t>;

#define GRURUN_DECLARE(NAME, TYPES)                               \
  template <TYPES T>                                              \
  void vec_##NAME(const T* a, const T* b, T* y, int64_t n);       \
  template <TYPES T>                                              \
  void vec_##NAME(const T* a, ComputeType<T> b, T* y, int64_t n); \
  template <TYPES T>                                              \
  void vec_##NAME(ComputeType<T> a, const T* b, T* y, int64_t n)

GRURUN_DECLARE(add, Arithmetic);
GRURUN_DECLARE(sub, Arithmetic);
GRURUN_DECLARE(mul, Arithmetic);

/// Correctly rounded.
GRURUN_DECLARE(div, ArithmeticFloat);

/// The larger, or smaller, of two: NaN where either is, b of equal ones (as of 0 and -0).
GRURUN_DECLARE(max, Arithmetic);
GRURUN_DECLARE(min, Arithmetic);

/// b * a where a < 0, else a.
GRURUN_DECLARE(prelu, Arithmetic);

/// a where a > b, else 0.
GRURUN_DECLARE(above, Arithmetic);
#undef GRURUN_DECLARE

/// min(max(x, low), high) of each element: NaN if any of the three is, and high where low is above it. Of
/// equal ones it is x, so that a bound of 0 leaves -0.
template <Arithmetic T>
void vec_clip(const T* x, ComputeType<T> low, ComputeType<T> high, T* y, int64_t n);

}  // namespace grurun::kernels
