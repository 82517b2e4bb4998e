// The reductions of vec_reduce.h, for every instruction set. Included by sources that compile per target,
// after hwy/foreach_target.h.
#if defined(GRURUN_VEC_REDUCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_REDUCE_INL
#undef GRURUN_VEC_REDUCE_INL
#else
#define GRURUN_VEC_REDUCE_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "engine/kernels/machine/unroll.h"
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t way_count = 4;  // sums in flight, to hide the latency of an addition

/// Elements that a sum is taken of: whole(d, i) is a vector of those from i on, first(d, i, n) one of n of
/// them and zeros, asked for once each and in order.
template <class T>
struct Elements {
  const T* x;

  Elements from(size_t i) const { return {x + i}; }
  template <class D>
  HWY_INLINE hn::Vec<D> whole(D d, size_t i) const {
    return hn::LoadU(d, x + i);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> first(D d, size_t i, size_t n) const {
    return load_first(d, x + i, n);
  }
};

template <bool squares, class T, class Source>
double block_sum(const Source& x, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sum[way_count] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const auto take = [&](size_t way, auto v)
                        HWY_ATTR { sum[way] = squares ? hn::MulAdd(v, v, sum[way]) : hn::Add(sum[way], v); };
  size_t i = 0;
  for (; i + way_count * lanes <= n; i += way_count * lanes) {
    GRURUN_UNROLL
    for (size_t way = 0; way < way_count; ++way) take(way, x.whole(d, i + way * lanes));
  }
  for (; i + lanes <= n; i += lanes) take(0, x.whole(d, i));
  if (i < n) take(1, x.first(d, i, n - i));
  const auto total = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, total)));
}

template <bool squares, class T, class Source = Elements<T>>
double sum(const Source& x, size_t n) {
  double total = 0;
  for (size_t i = 0; i < n; i += reduce_block) {
    total += block_sum<squares, T>(x.from(i), std::min<size_t>(reduce_block, n - i));
  }
  return total;
}

/// The least lane, or the greatest. Highway's emulated vectors start from the least finite number: no
/// infinity comes out of them.
template <bool least, class D>
hn::TFromD<D> extreme_lane(D d, hn::Vec<D> v) {
#if HWY_TARGET == HWY_EMU128
  hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::StoreU(v, d, lanes);
  const auto end = lanes + hn::Lanes(d);
  return least ? *std::min_element(lanes, end) : *std::max_element(lanes, end);
#else
  return hn::GetLane(least ? hn::MinOfLanes(d, v) : hn::MaxOfLanes(d, v));
#endif
}

/// What no element is beyond.
template <bool least, class T>
constexpr T extreme_of_none() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) return least ? Limits::infinity() : -Limits::infinity();
  return least ? Limits::max() : Limits::lowest();
}

/// Where numbers are unordered; nowhere, of integers.
template <class D>
HWY_INLINE hn::Mask<D> unordered_lanes(D d, hn::Vec<D> v) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) return hn::IsNaN(v);
  return hn::MaskFromVec(hn::Zero(d));
}

/// The greatest, or the least as the greatest of negated elements.
template <bool least, class T, class C = ComputeType<T>>
C extreme(const T* x, size_t n) {
  const hn::ScalableTag<C> d;
  const size_t lanes = hn::Lanes(d);
  constexpr C start = extreme_of_none<least, C>();
  hn::Vec<decltype(d)> ways[way_count];
  GRURUN_UNROLL
  for (auto& best : ways) best = hn::Set(d, start);
  auto unordered = unordered_lanes(d, ways[0]);  // none so far
  const auto take = [&](size_t i, size_t way) HWY_ATTR {
    const auto v = load_elements(d, x + i);
    unordered = hn::Or(unordered, unordered_lanes(d, v));
    ways[way] = least ? hn::Min(ways[way], v) : hn::Max(ways[way], v);
  };
  size_t i = 0;
  for (; i + way_count * lanes <= n; i += way_count * lanes) {
    GRURUN_UNROLL
    for (size_t way = 0; way < way_count; ++way) take(i + way * lanes, way);
  }
  for (; i + lanes <= n; i += lanes) take(i, 0);
  const auto two = least ? hn::Min(ways[0], ways[1]) : hn::Max(ways[0], ways[1]);
  const auto others = least ? hn::Min(ways[2], ways[3]) : hn::Max(ways[2], ways[3]);
  const auto best = least ? hn::Min(two, others) : hn::Max(two, others);
  bool nan = !hn::AllFalse(d, unordered);
  C result = nan ? start : extreme_lane<least>(d, best);
  for (; i < n; ++i) {
    const C next = x[i];
    nan |= next != next;
    result = least ? std::min(result, next) : std::max(result, next);
  }
  return nan ? std::numeric_limits<C>::quiet_NaN() : result;
}

/// Both of floats, in one pass; NaN both where an element is.
HWY_INLINE void both_extremes(const float* x, size_t n, float* least, float* most) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  constexpr float inf = std::numeric_limits<float>::infinity();
  hn::Vec<decltype(d)> low[way_count], high[way_count];
  GRURUN_UNROLL
  for (size_t way = 0; way < way_count; ++way) low[way] = hn::Set(d, inf), high[way] = hn::Set(d, -inf);
  auto unordered = hn::IsNaN(low[0]);  // none so far
  const auto take = [&](size_t i, size_t way) HWY_ATTR {
    const auto v = hn::LoadU(d, x + i);
    unordered = hn::Or(unordered, hn::IsNaN(v));
    low[way] = hn::Min(low[way], v), high[way] = hn::Max(high[way], v);
  };
  size_t i = 0;
  for (; i + way_count * lanes <= n; i += way_count * lanes) {
    GRURUN_UNROLL
    for (size_t way = 0; way < way_count; ++way) take(i + way * lanes, way);
  }
  for (; i + lanes <= n; i += lanes) take(i, 0);
  bool nan = !hn::AllFalse(d, unordered);
  const auto lowest = hn::Min(hn::Min(low[0], low[1]), hn::Min(low[2], low[3]));
  const auto highest = hn::Max(hn::Max(high[0], high[1]), hn::Max(high[2], high[3]));
  *least = nan ? inf : extreme_lane<true>(d, lowest);
  *most = nan ? -inf : extreme_lane<false>(d, highest);
  for (; i < n; ++i) {
    nan |= std::isnan(x[i]);
    *least = std::min(*least, x[i]), *most = std::max(*most, x[i]);
  }
  if (nan) *least = *most = std::numeric_limits<float>::quiet_NaN();
}

/// As raise_to_max and lower_to_min, for `vectors` vectors at a time from column i on; where it ends.
template <bool least, size_t vectors, class T, class C = ComputeType<T>>
HWY_INLINE size_t extreme_columns(const T* x, size_t rows, size_t step, C* best, size_t i, size_t n) {
  const hn::ScalableTag<C> d;
  using V = hn::Vec<decltype(d)>;
  const size_t lanes = hn::Lanes(d);
  const V nan = hn::Set(d, std::numeric_limits<C>::quiet_NaN());
  for (; i + vectors * lanes <= n; i += vectors * lanes) {
    V extreme[vectors];
    hn::Mask<decltype(d)> unordered[vectors];
    GRURUN_UNROLL
    for (size_t v = 0; v < vectors; ++v) {
      extreme[v] = hn::LoadU(d, best + i + v * lanes);
      unordered[v] = unordered_lanes(d, extreme[v]);
    }
    for (size_t r = 0; r < rows; ++r) {
      GRURUN_UNROLL
      for (size_t v = 0; v < vectors; ++v) {
        const V next = load_elements(d, x + r * step + i + v * lanes);
        unordered[v] = hn::Or(unordered[v], unordered_lanes(d, next));
        extreme[v] = least ? hn::Min(extreme[v], next) : hn::Max(extreme[v], next);
      }
    }
    GRURUN_UNROLL
    for (size_t v = 0; v < vectors; ++v)
      hn::StoreU(hn::IfThenElse(unordered[v], nan, extreme[v]), d, best + i + v * lanes);
  }
  return i;
}

template <bool least, class T, class C = ComputeType<T>>
void extreme_columns(const T* x, size_t rows, size_t step, C* best, size_t n) {
  size_t i = extreme_columns<least, way_count>(x, rows, step, best, 0, n);
  i = extreme_columns<least, 1>(x, rows, step, best, i, n);
  for (; i < n; ++i) {
    for (size_t r = 0; r < rows; ++r) {
      const C next = x[r * step + i];
      if (next != next || (least ? next < best[i] : next > best[i])) best[i] = next;
    }
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
