// Comparisons of whole arrays of float, double, a 16-bit float, int32_t or int64_t: n elements, y must not
// overlap the operands. A scalar operand stands for an array of it; that of 16-bit floats comes as a float,
// which holds one of them. A NaN is unequal to, and not less than, everything. All run on the calling thread.
#pragma once

#include <cstdint>

#include "tensor/dispatch.h"

namespace grurun::kernels {

/// y[i] = a[i] == b[i].
template <class T>
void vec_equal(const T* a, const T* b, bool* y, int64_t n);
template <class T>
void vec_equal(const T* a, ComputeType<T> b, bool* y, int64_t n);

/// y[i] = a[i] != b.
template <class T>
void vec_not_equal(const T* a, ComputeType<T> b, bool* y, int64_t n);

/// y[i] = whether x[i] is NaN, of float, double and 16-bit floats.
template <class T>
void vec_is_nan(const T* x, bool* y, int64_t n);

/// y[i] = a[i] < b[i].
template <class T>
void vec_less(const T* a, const T* b, bool* y, int64_t n);
template <class T>
void vec_less(const T* a, ComputeType<T> b, bool* y, int64_t n);
template <class T>
void vec_less(ComputeType<T> a, const T* b, bool* y, int64_t n);

/// y[i] = a[i] <= b[i].
template <class T>
void vec_less_equal(const T* a, const T* b, bool* y, int64_t n);
template <class T>
void vec_less_equal(const T* a, ComputeType<T> b, bool* y, int64_t n);
template <class T>
void vec_less_equal(ComputeType<T> a, const T* b, bool* y, int64_t n);

}  // namespace grurun::kernels
