#include "engine/kernels/vec_pool.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engine/kernels/simd_targets.h"
#include "engine/kernels/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec_pool.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <Fold fold>
constexpr float kStart = fold == Fold::sum ? 0 : -std::numeric_limits<float>::infinity();

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

template <Fold fold>
float take_one(float so_far, float next) {
  if constexpr (fold == Fold::sum) {
    return so_far + next;
  } else {
    return so_far >= next || std::isnan(so_far) ? so_far : next;
  }
}

/// Windows of kTaps elements, or of `taps` where kTaps is 0. With stride 2, two adjacent taps lie in the same
/// vectors.
template <Fold fold, size_t stride, size_t kTaps, bool adjacent>
void fold_windows(const float* x, size_t step, size_t taps, float* y, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d), count = kTaps != 0 ? kTaps : taps;
  const auto at = [=](size_t i) HWY_ATTR {
    auto so_far = hn::Set(d, kStart<fold>);
    if constexpr (stride == 1) {
      GRURUN_UNROLL_PIECES
      for (size_t j = 0; j < count; ++j) so_far = take<fold>(so_far, hn::LoadU(d, x + i + j * step));
    } else {
      GRURUN_UNROLL_PIECES
      for (size_t j = 0; j < count; j += adjacent ? 2 : 1) {
        auto even = so_far, odd = so_far;
        hn::LoadInterleaved2(d, x + 2 * i + j * step, even, odd);
        so_far = take<fold>(so_far, even);
        if (adjacent && j + 1 < count) so_far = take<fold>(so_far, odd);
      }
    }
    hn::StoreU(so_far, d, y + i);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) at(i);
  if (i < n && n >= lanes) return at(n - lanes);  // some for the second time
  for (; i < n; ++i) {
    float so_far = kStart<fold>;
    for (size_t j = 0; j < count; ++j) so_far = take_one<fold>(so_far, x[i * stride + j * step]);
    y[i] = so_far;
  }
}

template <Fold fold, size_t stride>
void fold_windows(const float* x, size_t step, size_t taps, float* y, size_t n) {
  if (step != 1 && stride != 1) return fold_windows<fold, stride, 0, false>(x, step, taps, y, n);
  if (taps == 2) return fold_windows<fold, stride, 2, true>(x, step, taps, y, n);
  if (taps == 3) return fold_windows<fold, stride, 3, true>(x, step, taps, y, n);
  fold_windows<fold, stride, 0, true>(x, step, taps, y, n);
}

void fold_sum_1(const float* x, size_t step, size_t taps, float* y, size_t n) {
  fold_windows<Fold::sum, 1>(x, step, taps, y, n);
}
void fold_sum_2(const float* x, size_t step, size_t taps, float* y, size_t n) {
  fold_windows<Fold::sum, 2>(x, step, taps, y, n);
}
void fold_max_1(const float* x, size_t step, size_t taps, float* y, size_t n) {
  fold_windows<Fold::max, 1>(x, step, taps, y, n);
}
void fold_max_2(const float* x, size_t step, size_t taps, float* y, size_t n) {
  fold_windows<Fold::max, 2>(x, step, taps, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(fold_sum_1);
HWY_EXPORT(fold_sum_2);
HWY_EXPORT(fold_max_1);
HWY_EXPORT(fold_max_2);

void vec_fold(Fold fold, const float* x, int64_t step, int64_t taps, int64_t stride, float* y, int64_t n) {
  const auto loop = fold == Fold::sum
                        ? (stride == 1 ? HWY_DYNAMIC_DISPATCH(fold_sum_1) : HWY_DYNAMIC_DISPATCH(fold_sum_2))
                        : (stride == 1 ? HWY_DYNAMIC_DISPATCH(fold_max_1) : HWY_DYNAMIC_DISPATCH(fold_max_2));
  loop(x, static_cast<size_t>(step), static_cast<size_t>(taps), y,
       static_cast<size_t>(std::max<int64_t>(n, 0)));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
