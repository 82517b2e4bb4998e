#include "engine/kernels/vec/vec_fused.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_fused.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void update_rows_f32(const float* scale, const float* a, const float* x, float* y, size_t rows, size_t n) {
  for (size_t r = 0; r < rows; ++r, y += n) {
    const float keep = scale[r], add = a[r];
    for_lanes<float>(n, [=](auto d, size_t i) HWY_ATTR {
      const auto kept = hn::Mul(hn::Set(d, keep), hn::LoadU(d, y + i));
      hn::StoreU(hn::MulAdd(hn::Set(d, add), hn::LoadU(d, x + i), kept), d, y + i);
    });
  }
}

template <class T>
HWY_INLINE void rotate(const T* x1, const T* x2, const float* c, const float* s, T* y1, T* y2, size_t n) {
  for_element_lanes<T>(n, [=](auto d, size_t i) HWY_ATTR {
    const auto a = load_elements(d, x1 + i), b = load_elements(d, x2 + i);
    const auto cos = hn::LoadU(d, c + i), sin = hn::LoadU(d, s + i);
    store_elements(hn::NegMulAdd(sin, b, hn::Mul(cos, a)), d, y1 + i);
    store_elements(hn::MulAdd(sin, a, hn::Mul(cos, b)), d, y2 + i);
  });
}
#define GRURUN_ROTATE(T, NAME)                                                                           \
  void rotate_##NAME(const T* x1, const T* x2, const float* c, const float* s, T* y1, T* y2, size_t n) { \
    rotate(x1, x2, c, s, y1, y2, n);                                                                     \
  }
GRURUN_ROTATE(float, f32)
GRURUN_ROTATE(Float16, f16)
GRURUN_ROTATE(BFloat16, bf16)
#undef GRURUN_ROTATE

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

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(update_rows_f32);
HWY_EXPORT(rotate_pairs_f32);
HWY_EXPORT(filter_f32);

namespace {
size_t count(int64_t n) {
  return static_cast<size_t>(std::max<int64_t>(n, 0));
}
}  // namespace

void vec_update_rows(const float* scale, const float* a, const float* x, float* y, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(update_rows_f32)(scale, a, x, y, count(rows), count(n));
}
#define GRURUN_ROTATE(T, NAME)                                                                         \
  HWY_EXPORT(rotate_##NAME);                                                                           \
  void vec_rotate(const T* x1, const T* x2, const float* c, const float* s, T* y1, T* y2, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(rotate_##NAME)(x1, x2, c, s, y1, y2, count(n));                               \
  }
GRURUN_ROTATE(float, f32)
GRURUN_ROTATE(Float16, f16)
GRURUN_ROTATE(BFloat16, bf16)
#undef GRURUN_ROTATE
void vec_rotate_pairs(const float* x, const float* c, const float* s, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(rotate_pairs_f32)(x, c, s, y, count(n));
}
void vec_filter(const float* x, const float* taps, int64_t k, float start, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(filter_f32)(x, taps, count(k), start, y, count(n));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
