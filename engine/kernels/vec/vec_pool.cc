#include "engine/kernels/vec/vec_pool.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_pool.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <Fold fold, class T>
constexpr T start = fold == Fold::sum ? 0 : -std::numeric_limits<T>::infinity();

template <Fold fold, class V>
HWY_INLINE V take(V so_far, V next) {
  if constexpr (fold == Fold::sum) {
    return hn::Add(so_far, next);
  } else {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
    // maxps gives its second operand where they are equal or one is NaN.
    return hn::IfThenElse(hn::IsNaN(next), next, hn::Max(next, so_far));
#else
    return hn::IfThenElse(hn::Or(hn::Ge(so_far, next), hn::IsNaN(so_far)), so_far, next);
#endif
  }
}

// One window: a vector of one element has no branches that depend on it.
template <class T>
using One = hn::CappedTag<T, 1>;

/// Window i of n, its first element x[i * stride]: tap_count elements, or `taps` where tap_count is 0. With
/// stride 2, two adjacent taps lie in the same vectors.
template <Fold fold, size_t stride, size_t tap_count, bool adjacent, class T>
HWY_INLINE void fold_windows(const T* x, size_t step, size_t taps, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d), count = tap_count != 0 ? tap_count : taps;
  const auto at = [=](size_t i) HWY_ATTR {
    auto so_far = hn::Set(d, start<fold, T>);
    const auto with = [&](size_t j, auto next) HWY_ATTR {
      // Of the greatest the first element is itself what is so far.
      return tap_count != 0 && fold == Fold::max && j == 0 ? next : take<fold>(so_far, next);
    };
    if constexpr (stride == 1) {
      GRURUN_UNROLL_PIECES
      for (size_t j = 0; j < count; ++j) so_far = with(j, hn::LoadU(d, x + i + j * step));
    } else {
      GRURUN_UNROLL_PIECES
      for (size_t j = 0; j < count; j += adjacent ? 2 : 1) {
        // A last tap is the odd one of vectors that begin before it, and so end with it.
        const bool last = j + 1 == count && j > 0;
        auto even = so_far, odd = so_far;
        hn::LoadInterleaved2(d, x + 2 * i + j * step - (last ? 1 : 0), even, odd);
        so_far = with(j, last ? odd : even);
        if (adjacent && j + 1 < count) so_far = take<fold>(so_far, odd);
      }
    }
    hn::StoreU(so_far, d, y + i);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) at(i);
  if (i < n && n >= lanes) return at(n - lanes);  // some for the second time
  for (; i < n; ++i) {
    auto so_far = hn::Set(One<T>(), start<fold, T>);
    for (size_t j = 0; j < count; ++j)
      so_far = take<fold>(so_far, hn::Set(One<T>(), x[i * stride + j * step]));
    y[i] = hn::GetLane(so_far);
  }
}

/// Window i of a row, by those of its taps that lie inside.
template <Fold fold, class T>
HWY_INLINE T fold_at_edge(const T* row, const RowWindows& w, int64_t i) {
  auto so_far = hn::Set(One<T>(), start<fold, T>);
  for (int64_t j = 0, at = i * w.stride - w.pad; j < w.taps; ++j, at += w.dilation) {
    if (at >= 0 && at < w.width) so_far = take<fold>(so_far, hn::Set(One<T>(), row[at]));
  }
  return hn::GetLane(so_far);
}

template <Fold fold, size_t stride, size_t tap_count, bool adjacent, class T>
void fold_rows_by(const T* x, int64_t rows, const RowWindows& w, T* y) {
  const int64_t first = w.first_inside(), end = w.end_inside();
  for (int64_t r = 0; r < rows; ++r, x += w.width, y += w.n) {
    for (int64_t i = 0; i < first; ++i) y[i] = fold_at_edge<fold>(x, w, i);
    for (int64_t i = end; i < w.n; ++i) y[i] = fold_at_edge<fold>(x, w, i);
    if (first == end) continue;
    fold_windows<fold, stride, tap_count, adjacent>(
        x + first * w.stride - w.pad, static_cast<size_t>(w.dilation), static_cast<size_t>(w.taps), y + first,
        static_cast<size_t>(end - first));
  }
}

template <Fold fold, size_t stride, class T>
void fold_strided_rows(const T* x, int64_t rows, const RowWindows& w, T* y) {
  if (w.dilation != 1 && stride != 1) return fold_rows_by<fold, stride, 0, false>(x, rows, w, y);
  if (w.taps == 2) return fold_rows_by<fold, stride, 2, true>(x, rows, w, y);
  if (w.taps == 3) return fold_rows_by<fold, stride, 3, true>(x, rows, w, y);
  fold_rows_by<fold, stride, 0, true>(x, rows, w, y);
}

template <Fold fold, class T>
HWY_INLINE void fold_columns_by(const T* x, int64_t step, int64_t taps, T* y, int64_t n) {
  const auto apart = static_cast<size_t>(step), count = static_cast<size_t>(taps),
             columns = static_cast<size_t>(n);
  if (taps == 2) return fold_windows<fold, 1, 2, true>(x, apart, count, y, columns);
  if (taps == 3) return fold_windows<fold, 1, 3, true>(x, apart, count, y, columns);
  fold_windows<fold, 1, 0, true>(x, apart, count, y, columns);
}

#define GRURUN_FOLD(NAME, FOLD, TYPE)                                                                      \
  void fold_rows_##NAME(const TYPE* x, int64_t rows, const RowWindows& w, TYPE* y) {                       \
    w.stride == 1 ? fold_strided_rows<FOLD, 1>(x, rows, w, y) : fold_strided_rows<FOLD, 2>(x, rows, w, y); \
  }                                                                                                        \
  void fold_columns_##NAME(const TYPE* x, int64_t step, int64_t taps, TYPE* y, int64_t n) {                \
    fold_columns_by<FOLD>(x, step, taps, y, n);                                                            \
  }
GRURUN_FOLD(sum_f32, Fold::sum, float)
GRURUN_FOLD(max_f32, Fold::max, float)
GRURUN_FOLD(sum_f64, Fold::sum, double)
GRURUN_FOLD(max_f64, Fold::max, double)
#undef GRURUN_FOLD

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

#define GRURUN_FOLD(TYPE, BITS)                                                                        \
  HWY_EXPORT(fold_rows_sum_f##BITS);                                                                   \
  HWY_EXPORT(fold_rows_max_f##BITS);                                                                   \
  HWY_EXPORT(fold_columns_sum_f##BITS);                                                                \
  HWY_EXPORT(fold_columns_max_f##BITS);                                                                \
  void vec_fold_rows(Fold fold, const TYPE* x, int64_t rows, const RowWindows& windows, TYPE* y) {     \
    if (fold == Fold::sum) return HWY_DYNAMIC_DISPATCH(fold_rows_sum_f##BITS)(x, rows, windows, y);    \
    HWY_DYNAMIC_DISPATCH(fold_rows_max_f##BITS)(x, rows, windows, y);                                  \
  }                                                                                                    \
  void vec_fold(Fold fold, const TYPE* x, int64_t step, int64_t taps, TYPE* y, int64_t n) {            \
    if (fold == Fold::sum) return HWY_DYNAMIC_DISPATCH(fold_columns_sum_f##BITS)(x, step, taps, y, n); \
    HWY_DYNAMIC_DISPATCH(fold_columns_max_f##BITS)(x, step, taps, y, n);                               \
  }
GRURUN_FOLD(float, 32)
GRURUN_FOLD(double, 64)
#undef GRURUN_FOLD

}  // namespace grurun::kernels
#endif  // HWY_ONCE
