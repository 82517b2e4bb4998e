#include "engine/kernels/vec/vec_normalize.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_normalize.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "engine/kernels/vec/vec_reduce-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The elements of x without their mean, which are left in y.
template <class T>
struct Centered {
  const T* x;
  T mean;
  T* y;

  Centered from(size_t i) const { return {x + i, mean, y + i}; }
  template <class D>
  HWY_INLINE hn::Vec<D> whole(D d, size_t i) const {
    const auto v = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    hn::StoreU(v, d, y + i);
    return v;
  }
  template <class D>
  HWY_INLINE hn::Vec<D> first(D d, size_t i, size_t n) const {
    store_first(hn::Sub(load_first(d, x + i, n), hn::Set(d, mean)), d, y + i, n);
    return load_first(d, y + i, n);
  }
};

template <class Rounded, bool scale_steps, bool shift_steps, class T>
void scale_row(const T* x, const Scaling<T>& by, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, by.factor), one_scale = hn::Set(d, *by.scale);
  const auto one_shift = by.shift ? hn::Set(d, *by.shift) : hn::Zero(d);
  const bool is_shifted = by.shift != nullptr;
  const auto step = [&](auto v, auto scale, auto shift) HWY_ATTR {
    const auto scaled = hn::Mul(round_elements<Rounded>(d, hn::Mul(v, factor)), scale);
    return is_shifted ? hn::Add(scaled, shift) : scaled;
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto scale = scale_steps ? hn::LoadU(d, by.scale + i) : one_scale;
    const auto shift = shift_steps ? hn::LoadU(d, by.shift + i) : one_shift;
    hn::StoreU(step(hn::LoadU(d, x + i), scale, shift), d, y + i);
  }
  if (i == n) return;
  const auto scale = scale_steps ? load_first(d, by.scale + i, n - i) : one_scale;
  const auto shift = shift_steps ? load_first(d, by.shift + i, n - i) : one_shift;
  store_first(step(load_first(d, x + i, n - i), scale, shift), d, y + i, n - i);
}

template <class Rounded, class T>
void scale_rounded(const T* x, const Scaling<T>& by, T* y, size_t n) {
  const bool shift_steps = by.shift && by.shift_steps;
  if (by.scale_steps) {
    return shift_steps ? scale_row<Rounded, true, true>(x, by, y, n)
                       : scale_row<Rounded, true, false>(x, by, y, n);
  }
  return shift_steps ? scale_row<Rounded, false, true>(x, by, y, n)
                     : scale_row<Rounded, false, false>(x, by, y, n);
}

template <class T, class C = ComputeType<T>>
HWY_INLINE void standardize(const T* x, C mean, C factor, C shift, T* y, size_t n) {
  for_element_lanes<T>(n, [=](auto d, size_t i) HWY_ATTR {
    const auto centered = hn::Sub(load_elements(d, x + i), hn::Set(d, mean));
    store_elements(hn::Add(hn::Mul(centered, hn::Set(d, factor)), hn::Set(d, shift)), d, y + i);
  });
}
#define GRURUN_STANDARDIZE(T, NAME)                                                                     \
  void standardize_##NAME(const T* x, ComputeType<T> mean, ComputeType<T> factor, ComputeType<T> shift, \
                          T* y, size_t n) {                                                             \
    standardize(x, mean, factor, shift, y, n);                                                          \
  }
GRURUN_STANDARDIZE(float, f32)
GRURUN_STANDARDIZE(double, f64)
GRURUN_STANDARDIZE(Float16, f16)
GRURUN_STANDARDIZE(BFloat16, bf16)
#undef GRURUN_STANDARDIZE

double center_f32(const float* x, float mean, float* y, size_t n) {
  return sum<true, float>(Centered<float>{x, mean, y}, n);
}
double center_f64(const double* x, double mean, double* y, size_t n) {
  return sum<true, double>(Centered<double>{x, mean, y}, n);
}
void scale_f32(const float* x, const Scaling<float>& by, float* y, size_t n) {
  if (by.product == Rounding::float16) return scale_rounded<Float16>(x, by, y, n);
  if (by.product == Rounding::bfloat16) return scale_rounded<BFloat16>(x, by, y, n);
  scale_rounded<float>(x, by, y, n);
}
void scale_f64(const double* x, const Scaling<double>& by, double* y, size_t n) {
  scale_rounded<double>(x, by, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(center_f32);
HWY_EXPORT(center_f64);
HWY_EXPORT(scale_f32);
HWY_EXPORT(scale_f64);

template <>
double vec_center(const float* x, float mean, float* y, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(center_f32)(x, mean, y, static_cast<size_t>(std::max<int64_t>(n, 0)));
}
template <>
double vec_center(const double* x, double mean, double* y, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(center_f64)(x, mean, y, static_cast<size_t>(std::max<int64_t>(n, 0)));
}
template <>
void vec_scale(const float* x, const Scaling<float>& by, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(scale_f32)(x, by, y, static_cast<size_t>(std::max<int64_t>(n, 0)));
}
template <>
void vec_scale(const double* x, const Scaling<double>& by, double* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(scale_f64)(x, by, y, static_cast<size_t>(std::max<int64_t>(n, 0)));
}
#define GRURUN_STANDARDIZE(T, NAME)                                                                        \
  HWY_EXPORT(standardize_##NAME);                                                                          \
  template <>                                                                                              \
  void vec_standardize(const T* x, ComputeType<T> mean, ComputeType<T> factor, ComputeType<T> shift, T* y, \
                       int64_t n) {                                                                        \
    HWY_DYNAMIC_DISPATCH(standardize_##NAME)                                                               \
    (x, mean, factor, shift, y, static_cast<size_t>(std::max<int64_t>(n, 0)));                             \
  }
GRURUN_STANDARDIZE(float, f32)
GRURUN_STANDARDIZE(double, f64)
GRURUN_STANDARDIZE(Float16, f16)
GRURUN_STANDARDIZE(BFloat16, bf16)
#undef GRURUN_STANDARDIZE

}  // namespace grurun::kernels
#endif  // HWY_ONCE
