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

constexpr size_t kRowsTogether = 16, kElementsTogether = 4096;

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
  float greatest = extreme_lane<false>(d, hn::Max(hn::Max(ways[0], ways[1]), hn::Max(ways[2], ways[3])));
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
  float rest = 0;
  const size_t left = n - i;
  if (keep_powers) {
    map_vectors(x + i, y + i, left, [=](V v) HWY_ATTR { return vector_exp(d, hn::Sub(v, m)); });
    for (size_t k = i; k < n; ++k) rest += y[k];
  } else {
    HWY_ALIGN float last[kWays * hn::MaxLanes(d)];
    map_vectors(x + i, y + i, left, [=](V v) HWY_ATTR { return hn::Sub(v, m); });
    map_vectors(y + i, last, left, [=](V v) HWY_ATTR { return vector_exp(d, v); });
    for (size_t k = 0; k < left; ++k) rest += last[k];
  }
  if (i == 0) return static_cast<double>(rest);
  const V total = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total))) + static_cast<double>(rest);
}

/// The sums of e^(x - m) of some rows; y becomes e^(x - m), or x - m. The rows take each step together: while
/// one waits for its last sum, the next one's are on their way.
template <bool keep_powers>
void powers(const float* x, float* y, size_t rows, size_t n, double* sums) {
  float greatest[kRowsTogether];
  for (size_t r = 0; r < rows; ++r)
    greatest[r] = greatest_of(x + r * n, n);  // a NaN makes the sum one, whatever this is
  for (size_t r = 0; r < rows; ++r) {
    sums[r] = 0;
    for (size_t i = 0; i < n; i += kReduceBlock) {
      sums[r] += powers_of_block<keep_powers>(x + r * n + i, greatest[r], y + r * n + i,
                                              std::min<size_t>(kReduceBlock, n - i));
    }
  }
}

/// some(x, y, rows) for as many rows at a time as stay in L1.
template <class Some>
HWY_INLINE void for_rows_together(const float* x, float* y, size_t rows, size_t n, const Some& some) {
  const size_t most = std::clamp<size_t>(kElementsTogether / n, 1, kRowsTogether);
  for (size_t r = 0; r < rows; r += most) some(x + r * n, y + r * n, std::min(most, rows - r));
}

void softmax_rows(const float* x, float* y, size_t rows, size_t n) {
  for_rows_together(x, y, rows, n, [n](const float* from, float* to, size_t count) HWY_ATTR {
    double sums[kRowsTogether];
    powers<true>(from, to, count, n, sums);
    for (size_t r = 0; r < count; ++r, to += n) {
      const Divisor by_sum(static_cast<float>(sums[r]));
      map_vectors(to, to, n, [&](V v) HWY_ATTR { return by_sum(v); });
    }
  });
}

void log_softmax_rows(const float* x, float* y, size_t rows, size_t n) {
  for_rows_together(x, y, rows, n, [n](const float* from, float* to, size_t count) HWY_ATTR {
    const D d;
    double sums[kRowsTogether];
    powers<false>(from, to, count, n, sums);
    for (size_t r = 0; r < count; ++r, to += n) {
      const V log = hn::Set(d, static_cast<float>(std::log(sums[r])));
      map_vectors(to, to, n, [=](V v) HWY_ATTR { return hn::Sub(v, log); });
    }
  });
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
