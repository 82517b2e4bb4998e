// What normalisations do to a row, in as few passes as it takes. All run on the calling thread, for float and
// double.
#pragma once

#include <cstdint>

#include "tensor/dispatch.h"

namespace grurun::kernels {

/// y = x - mean for n elements; y may be x. Returns the sum of y * y, with the bits of reduce_sum_squares.
template <class T>
double vec_center(const T* x, T mean, T* y, int64_t n);

enum class Rounding { none, float16, bfloat16 };

/// What a row is multiplied by and what is added to it. An array that does not step is one element for all.
template <class T>
struct Scaling {
  T factor;
  const T* scale;
  bool scale_steps;
  const T* shift;  // null: none
  bool shift_steps;
  Rounding product = Rounding::none;  // of x * factor
};

/// y = (x * factor) * scale + shift for n elements, each operation rounded by itself; y may be x. The first
/// product of floats is rounded once more where `product` says to what.
template <class T>
void vec_scale(const T* x, const Scaling<T>& by, T* y, int64_t n);

/// y = (x - mean) * factor + shift for n elements, each operation rounded by itself; y may be x. 16-bit
/// floats are computed in float.
template <class T>
void vec_standardize(const T* x, ComputeType<T> mean, ComputeType<T> factor, ComputeType<T> shift, T* y,
                     int64_t n);

}  // namespace grurun::kernels
