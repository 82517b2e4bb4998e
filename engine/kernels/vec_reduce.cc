#include "engine/kernels/vec_reduce.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec_reduce.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec_reduce-inl.h"
#include "hwy/highway.h"

#ifndef GRURUN_VEC_REDUCE_TERM
#define GRURUN_VEC_REDUCE_TERM
namespace grurun::kernels {

template <SumOf of>
double term(float x) {
  const double wide = x;
  return of == SumOf::values ? wide : of == SumOf::magnitudes ? std::fabs(wide) : wide * wide;
}

}  // namespace grurun::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Each of kSumsInDouble sums takes every kSumsInDouble-th element.
template <SumOf of>
double wide_sum(const float* x, size_t n) {
  using D = hn::CappedTag<double, kSumsInDouble>;
  using H = hn::Rebind<float, D>;
  const D d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN double sums[kSumsInDouble] = {};
  size_t i = 0;
  if constexpr (hn::MaxLanes(D()) >= 4) {
    constexpr size_t kVectors = kSumsInDouble / hn::MaxLanes(D());
    hn::Vec<D> sum[kVectors];
    for (auto& each : sum) each = hn::Zero(d);
    for (; i + kSumsInDouble <= n; i += kSumsInDouble) {
      for (size_t v = 0; v < kVectors; ++v) {
        const auto wide = hn::PromoteTo(d, hn::LoadU(H(), x + i + v * lanes));
        if constexpr (of == SumOf::values) sum[v] = hn::Add(sum[v], wide);
        if constexpr (of == SumOf::magnitudes) sum[v] = hn::Add(sum[v], hn::Abs(wide));
        if constexpr (of == SumOf::squares) sum[v] = hn::MulAdd(wide, wide, sum[v]);  // the product is exact
      }
    }
    for (size_t v = 0; v < kVectors; ++v) hn::Store(sum[v], d, sums + v * lanes);
  }
  for (size_t k = 0; i < n; ++i, k = (k + 1) % kSumsInDouble) sums[k] += term<of>(x[i]);
  for (size_t half = kSumsInDouble / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

/// sums[i] += x[i], of magnitudes or squares
template <SumOf of>
void add_wide(const float* x, double* sums, size_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> h;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  if constexpr (hn::MaxLanes(hn::ScalableTag<double>()) >= 2) {
    for (; i + lanes <= n; i += lanes) {
      const auto wide = hn::PromoteTo(d, hn::LoadU(h, x + i));
      const auto sum = hn::LoadU(d, sums + i);
      if constexpr (of == SumOf::values) hn::StoreU(hn::Add(sum, wide), d, sums + i);
      if constexpr (of == SumOf::magnitudes) hn::StoreU(hn::Add(sum, hn::Abs(wide)), d, sums + i);
      if constexpr (of == SumOf::squares) hn::StoreU(hn::MulAdd(wide, wide, sum), d, sums + i);
    }
  }
  for (; i < n; ++i) sums[i] += term<of>(x[i]);
}

double wide_sum_of(SumOf of, const float* x, size_t n) {
  switch (of) {
    case SumOf::values:
      return wide_sum<SumOf::values>(x, n);
    case SumOf::magnitudes:
      return wide_sum<SumOf::magnitudes>(x, n);
    case SumOf::squares:
      return wide_sum<SumOf::squares>(x, n);
  }
  return 0;
}
void add_wide_of(SumOf of, const float* x, double* sums, size_t n) {
  switch (of) {
    case SumOf::values:
      return add_wide<SumOf::values>(x, sums, n);
    case SumOf::magnitudes:
      return add_wide<SumOf::magnitudes>(x, sums, n);
    case SumOf::squares:
      return add_wide<SumOf::squares>(x, sums, n);
  }
}

double sum_f32(const float* x, size_t n) {
  return sum<false>(x, n);
}
double sum_f64(const double* x, size_t n) {
  return sum<false>(x, n);
}
double squares_f32(const float* x, size_t n) {
  return sum<true>(x, n);
}
double squares_f64(const double* x, size_t n) {
  return sum<true>(x, n);
}
float max_f32(const float* x, size_t n) {
  return extreme<false>(x, n);
}
double max_f64(const double* x, size_t n) {
  return extreme<false>(x, n);
}
float min_f32(const float* x, size_t n) {
  return extreme<true>(x, n);
}
double min_f64(const double* x, size_t n) {
  return extreme<true>(x, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(sum_f32);
HWY_EXPORT(sum_f64);
HWY_EXPORT(squares_f32);
HWY_EXPORT(squares_f64);
HWY_EXPORT(max_f32);
HWY_EXPORT(max_f64);
HWY_EXPORT(min_f32);
HWY_EXPORT(min_f64);
HWY_EXPORT(wide_sum_of);
HWY_EXPORT(add_wide_of);

#define GRURUN_REDUCE(RESULT, NAME, T, KERNEL)                                            \
  RESULT NAME(const T* x, int64_t n) {                                                    \
    return HWY_DYNAMIC_DISPATCH(KERNEL)(x, static_cast<size_t>(std::max<int64_t>(n, 0))); \
  }

GRURUN_REDUCE(double, reduce_sum, float, sum_f32)
GRURUN_REDUCE(double, reduce_sum, double, sum_f64)
GRURUN_REDUCE(double, reduce_sum_squares, float, squares_f32)
GRURUN_REDUCE(double, reduce_sum_squares, double, squares_f64)
GRURUN_REDUCE(float, reduce_max, float, max_f32)
GRURUN_REDUCE(double, reduce_max, double, max_f64)
GRURUN_REDUCE(float, reduce_min, float, min_f32)
GRURUN_REDUCE(double, reduce_min, double, min_f64)
#undef GRURUN_REDUCE

double sum_in_double(SumOf of, const float* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(wide_sum_of)(of, x, static_cast<size_t>(std::max<int64_t>(n, 0)));
}

void add_in_double(SumOf of, const float* x, double* sums, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_wide_of)(of, x, sums, static_cast<size_t>(std::max<int64_t>(n, 0)));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
