// What the normalisations share: a row of contiguous elements brought to mean 0 and deviation 1, by the
// vector kernels.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/kernels/vec_arith.h"
#include "engine/kernels/vec_reduce.h"

namespace grurun::engine {

template <typename C>
struct Moments {
  C mean;
  double variance;  // of the population: over n, not n - 1
};

/// y = x - mean; n > 0. The variance is taken of the differences, so a large mean costs no digits.
template <typename C>
Moments<C> subtract_mean(const C* x, std::int64_t n, C* y) {
  const auto mean = static_cast<C>(kernels::reduce_sum(x, n) / static_cast<double>(n));
  kernels::vec_sub(x, mean, y, n);
  return {mean, kernels::reduce_sum_squares(y, n) / static_cast<double>(n)};
}

}  // namespace grurun::engine
