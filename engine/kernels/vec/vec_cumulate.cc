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
constexpr int64_t rows_together = 4;

/// The definition, of which the compiler makes vectors where Highway has none.
template <bool is_product, bool is_exclusive, int64_t row_count, class T>
HWY_INLINE void cumulate_scalar(const T* HWY_RESTRICT x, int64_t step, double* HWY_RESTRICT so_far,
                                T* HWY_RESTRICT y, int64_t n) {
  for (int64_t r = 0; r < row_count; ++r, x += step, y += step) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const double before = so_far[i], element = static_cast<double>(x[i]);
      so_far[i] = is_product ? before * element : before + element;
      y[i] = static_cast<T>(is_exclusive ? before : so_far[i]);
    }
  }
}

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
template <bool is_product, bool is_exclusive, int64_t row_count, class T>
HWY_INLINE void cumulate_rows(const T* x, int64_t step, double* so_far, T* y, int64_t n) {
  cumulate_scalar<is_product, is_exclusive, row_count>(x, step, so_far, y, n);
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

template <bool is_product, bool is_exclusive, int64_t row_count, class T>
HWY_INLINE void cumulate_rows(const T* x, int64_t step, double* so_far, T* y, int64_t n) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto before = hn::LoadU(d, so_far + i);
    GRURUN_UNROLL
    for (int64_t r = 0; r < row_count; ++r) {
      const auto element = load_as_double(d, x + i + r * step);
      const auto after = is_product ? hn::Mul(before, element) : hn::Add(before, element);
      store_as(is_exclusive ? before : after, d, y + i + r * step);
      before = after;
    }
    hn::StoreU(before, d, so_far + i);
  }
  cumulate_scalar<is_product, is_exclusive, row_count>(x + i, step, so_far + i, y + i, n - i);
}
#endif

template <bool is_product, bool is_exclusive, class T>
HWY_INLINE void cumulate(const T* x, int64_t rows, int64_t step, double* so_far, T* y, int64_t n) {
  for (; rows >= rows_together; rows -= rows_together, x += rows_together * step, y += rows_together * step)
    cumulate_rows<is_product, is_exclusive, rows_together>(x, step, so_far, y, n);
  for (; rows > 0; --rows, x += step, y += step)
    cumulate_rows<is_product, is_exclusive, 1>(x, step, so_far, y, n);
}

template <bool is_product, class T>
HWY_INLINE void cumulate(const T* x, int64_t rows, int64_t step, bool exclusive, double* so_far, T* y,
                         int64_t n) {
  if (exclusive) return cumulate<is_product, true>(x, rows, step, so_far, y, n);
  cumulate<is_product, false>(x, rows, step, so_far, y, n);
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
