// Weighted sums of a row's elements, as resampling along the innermost axis takes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/ops/shared/separable.h"

namespace grurun::engine {

/// y[2i], y[2i + 1] = sums of `count` elements from x[i] and from next[i] on.
template <std::int64_t count, typename C>
void sum_pairs(const C* x, const C* next, const C* weights, const C* next_weights, std::int64_t pairs,
               C* __restrict y) {
  C a[count], b[count];
  std::copy_n(weights, count, a);
  std::copy_n(next_weights, count, b);
  for (std::int64_t i = 0; i < pairs; ++i) {
    C even = a[0] * x[i], odd = b[0] * next[i];
    for (std::int64_t k = 1; k < count; ++k) {
      even += a[k] * x[i + k];
      odd += b[k] * next[i + k];
    }
    y[2 * i] = even;
    y[2 * i + 1] = odd;
  }
}

/// y[i] = the sum of `count` elements from x[2i] on.
template <std::int64_t count, typename C>
void sum_to_half(const C* x, const C* weights, std::int64_t n, C* __restrict y) {
  C a[count];
  std::copy_n(weights, count, a);
  for (std::int64_t i = 0; i < n; ++i) {
    C sum = a[0] * x[2 * i];
    for (std::int64_t k = 1; k < count; ++k) sum += a[k] * x[2 * i + k];
    y[i] = sum;
  }
}

/// Weighs elements along the innermost axis. To twice or half the length, as most that change it go, all
/// groups of outputs (pairs, or single ones) but those at the ends have the same weights, which need not be
/// looked up.
template <typename C>
class RowSums {
 public:
  /// weights: those of the taps.
  RowSums(const AxisTaps& taps, std::span<const C> weights) : taps_(taps), weights_(weights) {
    const bool doubles = taps.output == 2 * taps.input, halves = taps.input == 2 * taps.output;
    if (!doubles && !halves) return;
    outputs_ = doubles ? 2 : 1;
    inputs_ = doubles ? 1 : 2;
    const std::int64_t groups = taps.output / outputs_, middle = groups / 2, o = middle * outputs_;
    if ((count(o) != 2 && count(o) != 4) || count(o) != count(o + outputs_ - 1)) return;
    first_ = last_ = middle;
    while (first_ > 0 && are_alike(first_ - 1, middle)) --first_;
    while (last_ < groups && are_alike(last_, middle)) ++last_;
  }
  /// Outputs [begin, end) of the row x to y[0], y[1]...
  void operator()(const C* x, std::int64_t begin, std::int64_t end, C* __restrict y) const {
    const std::int64_t first = outputs_ * first_, last = outputs_ * last_;
    if (begin > first || end < last) return one_by_one(x, begin, end, y - begin);
    one_by_one(x, begin, first, y - begin);
    if (first < last) groups(x, y - begin + first);
    one_by_one(x, last, end, y - begin);
  }

 private:
  std::int64_t count(std::int64_t o) const { return taps_.start[o + 1] - taps_.start[o]; }
  bool are_alike(std::int64_t group, std::int64_t other) const {
    for (std::int64_t o = outputs_ * group; o < outputs_ * (group + 1); ++o) {
      const std::int64_t same = o + outputs_ * (other - group);
      const C* weight = weights_.data() + taps_.start[o];
      if (count(o) != count(same) || taps_.first[same] - taps_.first[o] != inputs_ * (other - group) ||
          !std::equal(weight, weight + count(o), weights_.data() + taps_.start[same])) {
        return false;
      }
    }
    return true;
  }
  void groups(const C* x, C* __restrict y) const {
    const std::int64_t o = outputs_ * first_, n = last_ - first_, next = o + outputs_ - 1;
    const C* const from = x + taps_.first[o];
    const C* const weights = weights_.data() + taps_.start[o];
    if (outputs_ == 1) return (count(o) == 2 ? sum_to_half<2, C> : sum_to_half<4, C>)(from, weights, n, y);
    (count(o) == 2 ? sum_pairs<2, C> : sum_pairs<4, C>)(from, x + taps_.first[next], weights,
                                                        weights_.data() + taps_.start[next], n, y);
  }
  void one_by_one(const C* x, std::int64_t begin, std::int64_t end, C* __restrict y) const {
    for (std::int64_t o = begin; o < end; ++o) {
      const C* weight = weights_.data() + taps_.start[o];
      const C* element = x + taps_.first[o];
      C sum = weight[0] * element[0];
      for (std::int64_t k = 1; k < count(o); ++k) sum += weight[k] * element[k];
      y[o] = sum;
    }
  }

  const AxisTaps& taps_;
  const std::span<const C> weights_;
  std::int64_t outputs_ = 1, inputs_ = 1;  // of a group, and to the next
  std::int64_t first_ = 0, last_ = 0;      // groups that are alike
};

}  // namespace grurun::engine
