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

/// kTaps: `taps`, or 0 for any number.
template <Fold fold, size_t kTaps>
void fold_places(const float* x, size_t step, size_t taps, float* y, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d), count = kTaps != 0 ? kTaps : taps;
  const auto at = [=](size_t i) HWY_ATTR {
    auto so_far = hn::Set(d, kStart<fold>);
    GRURUN_UNROLL_PIECES
    for (size_t j = 0; j < count; ++j) so_far = take<fold>(so_far, hn::LoadU(d, x + i + j * step));
    hn::StoreU(so_far, d, y + i);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) at(i);
  if (i < n && n >= lanes) return at(n - lanes);  // some for the second time
  for (; i < n; ++i) {
    float so_far = kStart<fold>;
    for (size_t j = 0; j < count; ++j) so_far = take_one<fold>(so_far, x[i + j * step]);
    y[i] = so_far;
  }
}

template <Fold fold>
void fold_places(const float* x, size_t step, size_t taps, float* y, size_t n) {
  if (taps == 2) return fold_places<fold, 2>(x, step, taps, y, n);
  if (taps == 3) return fold_places<fold, 3>(x, step, taps, y, n);
  fold_places<fold, 0>(x, step, taps, y, n);
}

void fold_sum(const float* x, size_t step, size_t taps, float* y, size_t n) {
  fold_places<Fold::sum>(x, step, taps, y, n);
}
void fold_max(const float* x, size_t step, size_t taps, float* y, size_t n) {
  fold_places<Fold::max>(x, step, taps, y, n);
}

/// row[at] and what follows; `outside` for elements that are not in [0, width).
template <class D, class V>
HWY_INLINE V load_within(D d, const float* row, int64_t width, int64_t at, V outside) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
#if HWY_MEM_OPS_MIGHT_FAULT || HWY_TARGET == HWY_SCALAR
  HWY_ALIGN float read[hn::MaxLanes(D())];
  hn::Store(outside, d, read);
  for (int64_t i = 0; i < lanes; ++i) {
    if (at + i >= 0 && at + i < width) read[i] = row[at + i];
  }
  return hn::Load(d, read);
#else
  const auto first = [=](int64_t n) HWY_ATTR {
    return hn::FirstN(d, static_cast<size_t>(std::clamp<int64_t>(n, 0, lanes)));
  };
  const auto inside = hn::AndNot(first(-at), first(width - at));
  return hn::IfThenElse(inside, hn::MaskedLoad(inside, d, row + at), outside);
#endif
}

/// Every other element of two vectors that follow each other, from the first, and from the second, on.
template <class D, class V>
HWY_INLINE V evens([[maybe_unused]] D d, V low, [[maybe_unused]] V high) {
#if HWY_TARGET == HWY_SCALAR
  return low;
#else
  return hn::ConcatEven(d, high, low);
#endif
}
template <class D, class V>
HWY_INLINE V odds([[maybe_unused]] D d, [[maybe_unused]] V low, V high) {
#if HWY_TARGET == HWY_SCALAR
  return high;
#else
  return hn::ConcatOdd(d, high, low);
#endif
}

/// The windows from the one that begins at `first`. kWithin: what the vectors read is in the row.
template <Fold fold, size_t stride, size_t kTaps, bool kWithin>
HWY_INLINE auto fold_vector(const float* row, const RowWindows& w, int64_t first) {
  const hn::ScalableTag<float> d;
  const auto start = hn::Set(d, kStart<fold>);
  const auto load = [&](int64_t at) HWY_ATTR {
    if constexpr (kWithin) return hn::LoadU(d, row + at);
    return load_within(d, row, w.width, at, start);
  };
  const int64_t taps = kTaps != 0 ? kTaps : w.taps, dilation = kTaps != 0 ? 1 : w.dilation;
  auto so_far = start;
  GRURUN_UNROLL_PIECES
  for (int64_t j = 0; j < taps; ++j) {
    const int64_t at = first + j * dilation;
    if constexpr (stride == 1) {
      so_far = take<fold>(so_far, load(at));
    } else {
      const auto low = load(at), high = load(at + static_cast<int64_t>(hn::Lanes(d)));
      so_far = take<fold>(so_far, evens(d, low, high));
      if (kTaps == 0 || j + 1 == taps) continue;
      so_far = take<fold>(so_far, odds(d, low, high));  // the next tap of all windows
      ++j;
    }
  }
  return so_far;
}

template <Fold fold, size_t stride, size_t kTaps>
void fold_rows(const float* x, int64_t rows, const RowWindows& w, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t step = static_cast<int64_t>(stride) * lanes, reach = (w.taps - 1) * w.dilation + step;
  for (int64_t r = 0; r < rows; ++r, x += w.width, y += w.pitch()) {
    for (int64_t i = 0, first = -w.pad; i < w.n; i += lanes, first += step) {
      const bool within = first >= 0 && first + reach <= w.width;
      hn::StoreU(within ? fold_vector<fold, stride, kTaps, true>(x, w, first)
                        : fold_vector<fold, stride, kTaps, false>(x, w, first),
                 d, y + i);
    }
  }
}

template <Fold fold, size_t stride>
void fold_rows(const float* x, int64_t rows, const RowWindows& w, float* y) {
  if (w.dilation == 1 && w.taps == 2) return fold_rows<fold, stride, 2>(x, rows, w, y);
  if (w.dilation == 1 && w.taps == 3) return fold_rows<fold, stride, 3>(x, rows, w, y);
  fold_rows<fold, stride, 0>(x, rows, w, y);
}

void fold_rows_sum(const float* x, int64_t rows, const RowWindows& w, float* y) {
  w.stride == 1 ? fold_rows<Fold::sum, 1>(x, rows, w, y) : fold_rows<Fold::sum, 2>(x, rows, w, y);
}
void fold_rows_max(const float* x, int64_t rows, const RowWindows& w, float* y) {
  w.stride == 1 ? fold_rows<Fold::max, 1>(x, rows, w, y) : fold_rows<Fold::max, 2>(x, rows, w, y);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(fold_sum);
HWY_EXPORT(fold_max);
HWY_EXPORT(fold_rows_sum);
HWY_EXPORT(fold_rows_max);

void vec_fold(Fold fold, const float* x, int64_t step, int64_t taps, float* y, int64_t n) {
  const auto loop = fold == Fold::sum ? HWY_DYNAMIC_DISPATCH(fold_sum) : HWY_DYNAMIC_DISPATCH(fold_max);
  loop(x, static_cast<size_t>(step), static_cast<size_t>(taps), y,
       static_cast<size_t>(std::max<int64_t>(n, 0)));
}

void vec_fold_rows(Fold fold, const float* x, int64_t rows, const RowWindows& windows, float* y) {
  const auto loop =
      fold == Fold::sum ? HWY_DYNAMIC_DISPATCH(fold_rows_sum) : HWY_DYNAMIC_DISPATCH(fold_rows_max);
  loop(x, rows, windows, y);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
