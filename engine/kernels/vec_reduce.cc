#include "engine/kernels/vec_reduce.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec_reduce.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kWays = 4;  // sums in flight, to hide the latency of an addition

template <bool squares, class T>
double block_sum(const T* x, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sum[kWays] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + kWays * lanes <= n; i += kWays * lanes) {
    for (size_t w = 0; w < kWays; ++w) {
      const auto v = hn::LoadU(d, x + i + w * lanes);
      sum[w] = squares ? hn::MulAdd(v, v, sum[w]) : hn::Add(sum[w], v);
    }
  }
  T rest = 0;
  for (; i < n; ++i) rest += squares ? x[i] * x[i] : x[i];
  const auto total = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total))) + static_cast<double>(rest);
}

template <bool squares, class T>
double sum(const T* x, size_t n) {
  double total = 0;
  for (size_t i = 0; i < n; i += kReduceBlock) {
    total += block_sum<squares>(x + i, std::min<size_t>(kReduceBlock, n - i));
  }
  return total;
}

/// The greatest, or the least as the greatest of negated elements.
template <bool least, class T>
T extreme(const T* x, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const T start = least ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  auto best = hn::Set(d, start);
  auto unordered = hn::IsNaN(best);  // none so far
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    unordered = hn::Or(unordered, hn::IsNaN(v));
    best = least ? hn::Min(best, v) : hn::Max(best, v);
  }
  bool nan = !hn::AllFalse(d, unordered);
  T result = nan ? start : hn::GetLane(least ? hn::MinOfLanes(d, best) : hn::MaxOfLanes(d, best));
  for (; i < n; ++i) {
    nan |= std::isnan(x[i]);
    result = least ? std::min(result, x[i]) : std::max(result, x[i]);
  }
  return nan ? std::numeric_limits<T>::quiet_NaN() : result;
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

}  // namespace grurun::kernels
#endif  // HWY_ONCE
