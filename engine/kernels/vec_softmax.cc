#include "engine/kernels/vec_softmax.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec_softmax.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec_divide-inl.h"
#include "engine/kernels/vec_map-inl.h"
#include "engine/kernels/vec_math-inl.h"
#include "engine/kernels/vec_reduce-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

/// The greatest of n elements, if none is NaN.
float greatest_of(const float* x, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V ways[kWays];
  for (V& way : ways) way = hn::Set(d, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kWays * lanes <= n; i += kWays * lanes) {
    for (size_t w = 0; w < kWays; ++w) ways[w] = hn::Max(ways[w], hn::LoadU(d, x + i + w * lanes));
  }
  for (; i + lanes <= n; i += lanes) ways[0] = hn::Max(ways[0], hn::LoadU(d, x + i));
  float greatest =
      hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(ways[0], ways[1]), hn::Max(ways[2], ways[3]))));
  for (; i < n; ++i) greatest = std::max(greatest, x[i]);
  return greatest;
}

/// The sum of e^(x - m) for n <= kReduceBlock elements, in the order of reduce_sum. y becomes e^(x - m), or x
/// - m.
template <bool keep_powers>
double powers_of_block(const float* x, float greatest, float* y, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const V m = hn::Set(d, greatest);
  V sum[kWays] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + kWays * lanes <= n; i += kWays * lanes) {
    for (size_t w = 0; w < kWays; ++w) {
      const V less = hn::Sub(hn::LoadU(d, x + i + w * lanes), m);
      const V power = vector_exp(d, less);
      hn::StoreU(keep_powers ? power : less, d, y + i + w * lanes);
      sum[w] = hn::Add(sum[w], power);
    }
  }
  HWY_ALIGN float last[kWays * hn::MaxLanes(d)];
  const size_t left = n - i;
  map_vectors(x + i, y + i, left, [=](V v) HWY_ATTR { return hn::Sub(v, m); });
  map_vectors(y + i, last, left, [=](V v) HWY_ATTR { return vector_exp(d, v); });
  if (keep_powers) std::copy_n(last, left, y + i);
  float rest = 0;
  for (size_t k = 0; k < left; ++k) rest += last[k];
  const V total = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total))) + static_cast<double>(rest);
}

template <bool keep_powers>
double powers(const float* x, float* y, size_t n) {
  const float greatest = greatest_of(x, n);  // a NaN makes the sum one, whatever this is
  double sum = 0;
  for (size_t i = 0; i < n; i += kReduceBlock)
    sum += powers_of_block<keep_powers>(x + i, greatest, y + i, std::min<size_t>(kReduceBlock, n - i));
  return sum;
}

void softmax_rows(const float* x, float* y, size_t rows, size_t n) {
  for (size_t r = 0; r < rows; ++r, x += n, y += n) {
    const Divisor by_sum(static_cast<float>(powers<true>(x, y, n)));
    map_vectors(y, y, n, [&](V v) HWY_ATTR { return by_sum(v); });
  }
}

void log_softmax_rows(const float* x, float* y, size_t rows, size_t n) {
  const D d;
  for (size_t r = 0; r < rows; ++r, x += n, y += n) {
    const V log = hn::Set(d, static_cast<float>(std::log(powers<false>(x, y, n))));
    map_vectors(y, y, n, [=](V v) HWY_ATTR { return hn::Sub(v, log); });
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(softmax_rows);
HWY_EXPORT(log_softmax_rows);

void vec_softmax(const float* x, float* y, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(softmax_rows)(x, y, static_cast<size_t>(rows), static_cast<size_t>(n));
}
void vec_log_softmax(const float* x, float* y, int64_t rows, int64_t n) {
  HWY_DYNAMIC_DISPATCH(log_softmax_rows)(x, y, static_cast<size_t>(rows), static_cast<size_t>(n));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
