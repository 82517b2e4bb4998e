// Sums and greatest elements of windows, for many places at once.
#pragma once

#include <algorithm>
#include <cstdint>

namespace grurun::kernels {

/// What becomes of a window: 0 + its elements, or the greatest of -infinity and its elements, NaN if one is.
enum class Fold { sum, max };

/// y[i] is the fold of x[i + j * step] for j = 0 to taps - 1, in that order, for i in [0, n). x and y must
/// not overlap. Runs on the calling thread.
void vec_fold(Fold fold, const float* x, int64_t step, int64_t taps, float* y, int64_t n);
void vec_fold(Fold fold, const double* x, int64_t step, int64_t taps, double* y, int64_t n);

/// Windows along rows of `width` elements: window i in [0, n) holds elements i * stride - pad + j * dilation
/// for j = 0 to taps - 1, of which those outside of the row do not count. stride is 1 or 2, taps at least 1.
struct RowWindows {
  int64_t width, pad, taps, dilation, stride, n;

  /// Windows [first_inside(), end_inside()) are computed by vectors, which read the row alone.
  int64_t first_inside() const { return std::min(n, pad <= 0 ? 0 : (pad + stride - 1) / stride); }
  int64_t end_inside() const {
    const int64_t reach = std::max((taps - 1) * dilation + 1, stride), last = width + pad - reach;
    return std::max(first_inside(), last < 0 ? 0 : std::min(n, last / stride + 1));
  }
};

/// y[r * n + i] is the fold of window i of row r of x [rows, width], in the order of j. x and y must not
/// overlap. Runs on the calling thread.
void vec_fold_rows(Fold fold, const float* x, int64_t rows, const RowWindows& windows, float* y);
void vec_fold_rows(Fold fold, const double* x, int64_t rows, const RowWindows& windows, double* y);

}  // namespace grurun::kernels
