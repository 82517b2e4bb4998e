// Arithmetic of whole arrays of float or double: n elements, y may be one of the operands' arrays, otherwise
// must not overlap. A scalar operand stands for an array of it. Large arrays use the threads of parallel_for.
#pragma once

#include <cstdint>

namespace grurun::kernels {

template <class T>
void vec_add(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_add(const T* a, T b, T* y, int64_t n);
template <class T>
void vec_add(T a, const T* b, T* y, int64_t n);

template <class T>
void vec_sub(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_sub(const T* a, T b, T* y, int64_t n);
template <class T>
void vec_sub(T a, const T* b, T* y, int64_t n);

template <class T>
void vec_mul(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_mul(const T* a, T b, T* y, int64_t n);
template <class T>
void vec_mul(T a, const T* b, T* y, int64_t n);

/// Correctly rounded.
template <class T>
void vec_div(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_div(const T* a, T b, T* y, int64_t n);
template <class T>
void vec_div(T a, const T* b, T* y, int64_t n);

/// The larger, or smaller, of two: NaN where either is, b of equal ones (as of 0 and -0).
template <class T>
void vec_max(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_max(const T* a, T b, T* y, int64_t n);
template <class T>
void vec_max(T a, const T* b, T* y, int64_t n);
template <class T>
void vec_min(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_min(const T* a, T b, T* y, int64_t n);
template <class T>
void vec_min(T a, const T* b, T* y, int64_t n);

/// min(max(x, low), high) of each element: NaN if any of the three is, and high where low is above it.
template <class T>
void vec_clip(const T* x, T low, T high, T* y, int64_t n);

}  // namespace grurun::kernels
