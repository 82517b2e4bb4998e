#include "engine/kernels/vec_fused.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec_fused.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// step(d, i) for whole vectors of d from i on, then for single elements.
template <class T, class Step>
HWY_INLINE void for_lanes(size_t n, const Step& step) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) step(d, i);
  for (; i < n; ++i) step(hn::CappedTag<T, 1>(), i);
}

void update_rows_f32(const float* scale, const float* a, const float* x, float* y, size_t rows, size_t n) {
  for (size_t r = 0; r < rows; ++r, y += n) {
    const float keep = scale[r], add = a[r];
    for_lanes<float>(n, [=](auto d, size_t i) HWY_ATTR {
      const auto kept = hn::Mul(hn::Set(d, keep), hn::LoadU(d, y + i));
      hn::StoreU(hn::MulAdd(hn::Set(d, add), hn::LoadU(d, x + i), kept), d, y + i);
    });
  }
}

void rotate_f32(const float* x1, const float* x2, const float* c, const float* s, float* y1, float* y2,
                size_t n) {
  for_lanes<float>(n, [=](auto d, size_t i) HWY_ATTR {
    const auto a = hn::LoadU(d, x1 + i), b = hn::LoadU(d, x2 + i);
    const auto cos = hn::LoadU(d, c + i), sin = hn::LoadU(d, s + i);
    hn::StoreU(hn::NegMulAdd(sin, b, hn::Mul(cos, a)), d, y1 + i);
    hn::StoreU(hn::MulAdd(sin, a, hn::Mul(cos, b)), d, y2 + i);
  });
}

void rotate_pairs_f32(const float* x, const float* c, const float* s, float* y, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d)> a, b;
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    const auto cos = hn::LoadU(d, c + i), sin = hn::LoadU(d, s + i);
    hn::StoreInterleaved2(hn::NegMulAdd(sin, b, hn::Mul(cos, a)), hn::MulAdd(sin, a, hn::Mul(cos, b)), d,
                          y + 2 * i);
  }
  for (; i < n; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    y[2 * i] = c[i] * a - s[i] * b;
    y[2 * i + 1] = s[i] * a + c[i] * b;
  }
}

void filter_f32(const float* x, const float* taps, size_t k, float start, float* y, size_t n) {
  for_lanes<float>(n, [=](auto d, size_t i) HWY_ATTR {
    auto sum = hn::Set(d, start);
    for (size_t j = 0; j < k; ++j) sum = hn::MulAdd(hn::Set(d, taps[j]), hn::LoadU(d, x + i + j), sum);
    hn::StoreU(sum, d, y + i);
  });
}

void quantize_f32(const float* x, float scale, float zero_point, uint8_t* y, size_t n) {
  for_lanes<float>(n, [=](auto d, size_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<uint8_t, decltype(d)> d8;
    const auto quotient = hn::Div(hn::LoadU(d, x + i), hn::Set(d, scale));
    const auto number = hn::IfThenElse(hn::IsNaN(quotient), hn::Zero(d), quotient);
    const auto moved = hn::Add(hn::Round(number), hn::Set(d, zero_point));
    const auto clamped = hn::Min(hn::Max(moved, hn::Zero(d)), hn::Set(d, 255.0f));
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(di, clamped)), d8, y + i);
  });
}

template <bool kDivides>
HWY_INLINE void requantize(const int32_t* x, const Requantization& by, uint8_t* y, size_t n) {
  const double zero_point = by.zero_point, least = by.least, scale = by.scale;
  for_lanes<double>(n, [=, factors = by.factors, step = by.step](auto d, size_t i) HWY_ATTR {
    const hn::Rebind<int32_t, decltype(d)> di;
    const hn::Rebind<uint8_t, decltype(d)> d8;
    const auto factor = step == 0 ? hn::Set(d, *factors) : hn::LoadU(d, factors + i);
    auto quotient = hn::Mul(hn::PromoteTo(d, hn::LoadU(di, x + i)), factor);
    if constexpr (kDivides) quotient = hn::Div(quotient, hn::Set(d, scale));
    const auto number = hn::IfThenElse(hn::IsNaN(quotient), hn::Zero(d), quotient);
    const auto moved = hn::Add(hn::Round(number), hn::Set(d, zero_point));
    const auto clamped = hn::Min(hn::Max(moved, hn::Set(d, least)), hn::Set(d, least + 255));
    const auto bits = hn::And(hn::DemoteTo(di, clamped), hn::Set(di, 255));
    hn::StoreU(hn::DemoteTo(d8, bits), d8, y + i);
  });
}

void requantize_i32(const int32_t* x, const Requantization& by, uint8_t* y, size_t n) {
  if (by.scale == 1) return requantize<false>(x, by, y, n);
  requantize<true>(x, by, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(update_rows_f32);
HWY_EXPORT(rotate_f32);
HWY_EXPORT(rotate_pairs_f32);
HWY_EXPORT(filter_f32);
HWY_EXPORT(quantize_f32);
HWY_EXPORT(requantize_i32);

namespace {
size_t count(int64_t n) {
  return static_cast<size_t>(std::max<int64_t>(n, 0));
}
}  // namespace

void vec_update_rows(const float* scale, const float* a, const float* x, float* y, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(update_rows_f32)(scale, a, x, y, count(rows), count(n));
}
void vec_rotate(const float* x1, const float* x2, const float* c, const float* s, float* y1, float* y2,
                int64_t n) {
  HWY_DYNAMIC_DISPATCH(rotate_f32)(x1, x2, c, s, y1, y2, count(n));
}
void vec_rotate_pairs(const float* x, const float* c, const float* s, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(rotate_pairs_f32)(x, c, s, y, count(n));
}
void vec_filter(const float* x, const float* taps, int64_t k, float start, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(filter_f32)(x, taps, count(k), start, y, count(n));
}
void vec_quantize(const float* x, float scale, int zero_point, uint8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(quantize_f32)(x, scale, static_cast<float>(zero_point), y, count(n));
}
void vec_requantize(const int32_t* x, const Requantization& by, uint8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(requantize_i32)(x, by, y, count(n));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
