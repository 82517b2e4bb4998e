#include "engine/kernels/vec_cumulate.h"

#include "engine/kernels/simd_targets.h"

// Compiled once for each instruction set, whose vectors the compiler makes of this loop.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec_cumulate.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {

template <bool kProduct, bool kExclusive, class T>
HWY_INLINE void cumulate(const T* HWY_RESTRICT x, double* HWY_RESTRICT so_far, T* HWY_RESTRICT y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double before = so_far[i], element = static_cast<double>(x[i]);
    const double after = kProduct ? before * element : before + element;
    so_far[i] = after;
    y[i] = static_cast<T>(kExclusive ? before : after);
  }
}

template <bool kProduct, class T>
HWY_INLINE void cumulate(const T* x, bool exclusive, double* so_far, T* y, int64_t n) {
  if (exclusive) return cumulate<kProduct, true>(x, so_far, y, n);
  cumulate<kProduct, false>(x, so_far, y, n);
}

void add_up_f32(const float* x, bool exclusive, double* so_far, float* y, int64_t n) {
  cumulate<false>(x, exclusive, so_far, y, n);
}
void add_up_f64(const double* x, bool exclusive, double* so_far, double* y, int64_t n) {
  cumulate<false>(x, exclusive, so_far, y, n);
}
void multiply_up_f32(const float* x, bool exclusive, double* so_far, float* y, int64_t n) {
  cumulate<true>(x, exclusive, so_far, y, n);
}
void multiply_up_f64(const double* x, bool exclusive, double* so_far, double* y, int64_t n) {
  cumulate<true>(x, exclusive, so_far, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(add_up_f32);
HWY_EXPORT(add_up_f64);
HWY_EXPORT(multiply_up_f32);
HWY_EXPORT(multiply_up_f64);

void vec_add_up(const float* x, bool exclusive, double* so_far, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_up_f32)(x, exclusive, so_far, y, n);
}
void vec_add_up(const double* x, bool exclusive, double* so_far, double* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_up_f64)(x, exclusive, so_far, y, n);
}
void vec_multiply_up(const float* x, bool exclusive, double* so_far, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(multiply_up_f32)(x, exclusive, so_far, y, n);
}
void vec_multiply_up(const double* x, bool exclusive, double* so_far, double* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(multiply_up_f64)(x, exclusive, so_far, y, n);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
