// Weighted sums of what a few taps read, for many places of a plane: the products of a depthwise convolution.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// y[r * ldy + i] = start + sum over k of w[k] * x[r * ldx + offset[k] + i] for rows r in [0, rows) and
/// columns i in [0, columns), added in an order that depends on neither. x is readable up to `columns`
/// rounded up to a multiple of columns_of_vector (gemm_tile.h) from each row's and tap's beginning; y must
/// not overlap it. Runs on the calling thread.
template <class T>
struct TapSums {
  int64_t rows, columns, taps;
  /// Taps one above the other that read rows which follow each other: offset[d * (taps / down) + k] =
  /// d * ldx + offset[k] for d in [0, down). Each row is read less often then.
  int64_t down;
  const T* w;
  const int64_t* offset;
  T start;
  const T* x;
  int64_t ldx;
  T* y;
  int64_t ldy;
};
void sum_taps(const TapSums<float>& p);
void sum_taps(const TapSums<double>& p);

}  // namespace grurun::kernels
