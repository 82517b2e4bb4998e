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
void vec_sub(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_sub(const T* a, T b, T* y, int64_t n);
template <class T>
void vec_sub(T a, const T* b, T* y, int64_t n);

template <class T>
void vec_mul(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_mul(const T* a, T b, T* y, int64_t n);

/// Correctly rounded.
template <class T>
void vec_div(const T* a, const T* b, T* y, int64_t n);
template <class T>
void vec_div(const T* a, T b, T* y, int64_t n);
template <class T>
void vec_div(T a, const T* b, T* y, int64_t n);

/// min(max(x, low), high) of each element: NaN if any of the three is, and high where low is above it.
template <class T>
void vec_clip(const T* x, T low, T high, T* y, int64_t n);

}  // namespace grurun::kernels
