// One of two arrays' elements by a condition.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// y[i] = condition[i] ? a[i] : b[i] for n elements of 1, 2, 4 or 8 bytes, taken as unsigned; an operand that
/// does not step stands for an array of its element. y overlaps none of them. Runs on the calling thread.
template <class T>
void vec_select(const bool* condition, const T* a, bool a_steps, const T* b, bool b_steps, T* y, int64_t n);

}  // namespace grurun::kernels
