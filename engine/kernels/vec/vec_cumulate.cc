#include "engine/kernels/vec/vec_cumulate.h"

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_cumulate.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Sums stay in registers for so many rows: of more, at a distance that is a power of 2, lines would drive
/// each other out of the cache.
constexpr int64_t kRowsTogether = 4;

/// The definition, of which the compiler makes vectors where Highway has none.
template <bool kProduct, bool kExclusive, int64_t kRows, class T>
HWY_INLINE void cumulate_scalar(const T* HWY_RESTRICT x, int64_t step, double* HWY_RESTRICT so_far,
                                T* HWY_RESTRICT y, int64_t n) {
  for (int64_t r = 0; r < kRows; ++r, x += step, y += step) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const double before = so_far[i], element = static_cast<double>(x[i]);
      so_far[i] = kProduct ? before * element : before + element;
      y[i] = static_cast<T>(kExclusive ? before : so_far[i]);
    }
  }
}

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
template <bool kProduct, bool kExclusive, int64_t kRows, class T>
HWY_INLINE void cumulate_rows(const T* x, int64_t step, double* so_far, T* y, int64_t n) {
  cumulate_scalar<kProduct, kExclusive, kRows>(x, step, so_far, y, n);
}
#else
template <class D>
HWY_INLINE hn::Vec<D> load_as_double(D d, const double* x) {
  return hn::LoadU(d, x);
}
template <class D>
HWY_INLINE hn::Vec<D> load_as_double(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}

template <class D>
HWY_INLINE void store_as(hn::Vec<D> v, D d, double* y) {
  hn::StoreU(v, d, y);
}
template <class D>
HWY_INLINE void store_as(hn::Vec<D> v, D, float* y) {
  const hn::Rebind<float, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, v), narrow, y);
}

template <bool kProduct, bool kExclusive, int64_t kRows, class T>
HWY_INLINE void cumulate_rows(const T* x, int64_t step, double* so_far, T* y, int64_t n) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto before = hn::LoadU(d, so_far + i);
    GRURUN_UNROLL
    for (int64_t r = 0; r < kRows; ++r) {
      const auto element = load_as_double(d, x + i + r * step);
      const auto after = kProduct ? hn::Mul(before, element) : hn::Add(before, element);
      store_as(kExclusive ? before : after, d, y + i + r * step);
      before = after;
    }
    hn::StoreU(before, d, so_far + i);
  }
  cumulate_scalar<kProduct, kExclusive, kRows>(x + i, step, so_far + i, y + i, n - i);
}
#endif

template <bool kProduct, bool kExclusive, class T>
HWY_INLINE void cumulate(const T* x, int64_t rows, int64_t step, double* so_far, T* y, int64_t n) {
  for (; rows >= kRowsTogether; rows -= kRowsTogether, x += kRowsTogether * step, y += kRowsTogether * step)
    cumulate_rows<kProduct, kExclusive, kRowsTogether>(x, step, so_far, y, n);
  for (; rows > 0; --rows, x += step, y += step)
    cumulate_rows<kProduct, kExclusive, 1>(x, step, so_far, y, n);
}

template <bool kProduct, class T>
HWY_INLINE void cumulate(const T* x, int64_t rows, int64_t step, bool exclusive, double* so_far, T* y,
                         int64_t n) {
  if (exclusive) return cumulate<kProduct, true>(x, rows, step, so_far, y, n);
  cumulate<kProduct, false>(x, rows, step, so_far, y, n);
}

void add_up_f32(const float* x, int64_t rows, int64_t step, bool exclusive, double* so_far, float* y,
                int64_t n) {
  cumulate<false>(x, rows, step, exclusive, so_far, y, n);
}
void add_up_f64(const double* x, int64_t rows, int64_t step, bool exclusive, double* so_far, double* y,
                int64_t n) {
  cumulate<false>(x, rows, step, exclusive, so_far, y, n);
}
void multiply_up_f32(const float* x, int64_t rows, int64_t step, bool exclusive, double* so_far, float* y,
                     int64_t n) {
  cumulate<true>(x, rows, step, exclusive, so_far, y, n);
}
void multiply_up_f64(const double* x, int64_t rows, int64_t step, bool exclusive, double* so_far, double* y,
                     int64_t n) {
  cumulate<true>(x, rows, step, exclusive, so_far, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(add_up_f32);
HWY_EXPORT(add_up_f64);
HWY_EXPORT(multiply_up_f32);
HWY_EXPORT(multiply_up_f64);

void vec_add_up(const float* x, int64_t rows, int64_t step, bool exclusive, double* so_far, float* y,
                int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_up_f32)(x, rows, step, exclusive, so_far, y, n);
}
void vec_add_up(const double* x, int64_t rows, int64_t step, bool exclusive, double* so_far, double* y,
                int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_up_f64)(x, rows, step, exclusive, so_far, y, n);
}
void vec_multiply_up(const float* x, int64_t rows, int64_t step, bool exclusive, double* so_far, float* y,
                     int64_t n) {
  HWY_DYNAMIC_DISPATCH(multiply_up_f32)(x, rows, step, exclusive, so_far, y, n);
}
void vec_multiply_up(const double* x, int64_t rows, int64_t step, bool exclusive, double* so_far, double* y,
                     int64_t n) {
  HWY_DYNAMIC_DISPATCH(multiply_up_f64)(x, rows, step, exclusive, so_far, y, n);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
