// Sums and greatest elements of windows, for many places at once.
#pragma once

#include <cstdint>

namespace grurun::kernels {

/// What becomes of a window: 0 + its elements, or the greatest of -infinity and its elements, NaN if one is.
enum class Fold { sum, max };

/// y[i] is the fold of x[i * stride + j * step] for j = 0 to taps - 1, in that order, for i in [0, n). stride
/// is 1 or 2. With stride 2, one element more than the last of them is read, too. x and y must not overlap.
/// Runs on the calling thread.
void vec_fold(Fold fold, const float* x, int64_t step, int64_t taps, int64_t stride, float* y, int64_t n);

}  // namespace grurun::kernels
