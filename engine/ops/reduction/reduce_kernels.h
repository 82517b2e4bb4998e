// What the Reduce operators compute, one kernel each (the interface of reduction.h). Sums of floats are
// formed in double and rounded once; sums of integers wrap, but where another function follows (mean, root,
// logarithm) they are exact.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/math/float_functions.h"
#include "engine/ops/shared/wrapping.h"

namespace grurun::engine::reduce_kernels {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <typename T>
using SumType = std::conditional_t<std::is_floating_point_v<T>, double, T>;

/// Holds any sum of elements.
template <typename T>
using ExactSum = std::conditional_t<std::is_floating_point_v<T>, double, Int128>;

/// A real number as T: integers lose the fraction; what no T can be (NaN, infinities, out of range) is T's
/// lowest value.
template <typename T>
T from_real(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    constexpr auto low = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr double high = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    return value > low - 1 && value < high ? static_cast<T>(value) : std::numeric_limits<T>::lowest();
  }
}

template <typename T>
struct Sum {
  using Accumulator = SumType<T>;
  static constexpr kernels::SumOf sum_of = kernels::SumOf::values;
  static constexpr bool wraps = true;  // of integers, kernels::reduce_sum
  Accumulator start() const { return 0; }
  Accumulator step(Accumulator so_far, T x) const {
    return wrapping_add(so_far, static_cast<Accumulator>(x));
  }
  Accumulator merge(Accumulator a, Accumulator b) const { return wrapping_add(a, b); }
  T finish(Accumulator so_far, std::int64_t) const { return static_cast<T>(so_far); }
};

template <typename T>
struct L1 : Sum<T> {
  using Accumulator = SumType<T>;
  static constexpr kernels::SumOf sum_of = kernels::SumOf::magnitudes;
  static constexpr bool wraps = false;
  Accumulator step(Accumulator so_far, T x) const {
    const auto wide = static_cast<Accumulator>(x);
    return wrapping_add(so_far, x < 0 ? wrapping_neg(wide) : wide);
  }
};

template <typename T>
struct SumSquare : Sum<T> {
  using Accumulator = SumType<T>;
  static constexpr kernels::SumOf sum_of = kernels::SumOf::squares;
  static constexpr bool wraps = false;
  Accumulator step(Accumulator so_far, T x) const {
    const auto wide = static_cast<Accumulator>(x);
    return wrapping_add(so_far, wrapping_mul(wide, wide));
  }
};

template <typename T>
struct Prod {
  using Accumulator = SumType<T>;
  Accumulator start() const { return 1; }
  Accumulator step(Accumulator so_far, T x) const {
    return wrapping_mul(so_far, static_cast<Accumulator>(x));
  }
  Accumulator merge(Accumulator a, Accumulator b) const { return wrapping_mul(a, b); }
  T finish(Accumulator so_far, std::int64_t) const { return static_cast<T>(so_far); }
};

template <typename T>
struct ExactSumOf {
  using Accumulator = ExactSum<T>;
  static constexpr kernels::SumOf sum_of = kernels::SumOf::values;
  Accumulator start() const { return 0; }
  Accumulator step(Accumulator so_far, T x) const { return so_far + static_cast<Accumulator>(x); }
  Accumulator merge(Accumulator a, Accumulator b) const { return a + b; }
};

/// Of no elements: NaN, or 0 for integers; the standard leaves it undefined.
template <typename T>
struct Mean : ExactSumOf<T> {
  T finish(ExactSum<T> sum, std::int64_t count) const {
    if constexpr (std::is_integral_v<T>) {
      return count == 0 ? T{0} : static_cast<T>(sum / count);
    } else {
      return static_cast<T>(sum / static_cast<double>(count));
    }
  }
};

template <typename T>
struct LogSum : ExactSumOf<T> {
  T finish(ExactSum<T> sum, std::int64_t) const { return from_real<T>(std::log(static_cast<double>(sum))); }
};

/// The root of a sum of squares. Integers: exact, cut off, at most T's highest value.
template <typename T>
struct L2 {
  using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, UInt128>;
  static constexpr kernels::SumOf sum_of = kernels::SumOf::squares;
  Accumulator start() const { return 0; }
  Accumulator step(Accumulator so_far, T x) const {
    if constexpr (std::is_integral_v<T>) {
      const auto wide = static_cast<Int128>(x);
      const auto magnitude = static_cast<UInt128>(wide < 0 ? -wide : wide);
      return merge(so_far, magnitude * magnitude);
    } else {
      return so_far + static_cast<double>(x) * static_cast<double>(x);
    }
  }
  Accumulator merge(Accumulator a, Accumulator b) const {
    const Accumulator sum = a + b;
    if constexpr (std::is_integral_v<T>) {
      if (sum < a) return ~UInt128{0};
    }
    return sum;
  }
  T finish(Accumulator sum, std::int64_t) const {
    if constexpr (std::is_integral_v<T>) {
      auto root = static_cast<UInt128>(std::sqrt(static_cast<long double>(sum)));
      while (root > 0 && root > sum / root) --root;
      while (root + 1 <= sum / (root + 1)) ++root;
      constexpr auto highest = static_cast<UInt128>(std::numeric_limits<T>::max());
      return static_cast<T>(root < highest ? root : highest);
    } else {
      return static_cast<T>(std::sqrt(sum));
    }
  }
};

template <typename T>
struct Max {
  using Accumulator = T;
  static constexpr bool greatest = true;
  T start() const {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }
  T step(T so_far, T x) const { return larger(so_far, x); }
  T merge(T a, T b) const { return larger(a, b); }
  T finish(T so_far, std::int64_t) const { return so_far; }
};

template <typename T>
struct Min {
  using Accumulator = T;
  static constexpr bool greatest = false;
  T start() const {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }
  T step(T so_far, T x) const { return smaller(so_far, x); }
  T merge(T a, T b) const { return smaller(a, b); }
  T finish(T so_far, std::int64_t) const { return so_far; }
};

/// log(sum(e^x)) as highest + log(sum(e^(x - highest))): nothing overflows.
template <typename T>
struct LogSumExp {
  struct Accumulator {
    T highest;
    double sum;  // of e^(x - highest); 0 when empty
  };
  Accumulator start() const { return {Max<T>{}.start(), 0}; }
  Accumulator step(Accumulator so_far, T x) const { return merge(so_far, {x, 1}); }
  Accumulator merge(Accumulator a, Accumulator b) const {
    if (a.sum == 0) return b;
    if (b.sum == 0) return a;
    if (a.highest == b.highest) return {a.highest, a.sum + b.sum};
    if (a.highest < b.highest) std::swap(a, b);
    return {a.highest, a.sum + b.sum * std::exp(difference(b.highest, a.highest))};
  }
  T finish(Accumulator so_far, std::int64_t) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(static_cast<double>(so_far.highest) + std::log(so_far.sum));
    } else {
      if (so_far.sum == 0) return std::numeric_limits<T>::lowest();
      // The sum is at least 1, its logarithm not negative; the fraction is cut off towards zero.
      const double more = std::log(so_far.sum);
      const Int128 floor = static_cast<Int128>(so_far.highest) + static_cast<Int128>(std::floor(more));
      const Int128 cut = floor < 0 && more != std::floor(more) ? floor + 1 : floor;
      constexpr auto highest = static_cast<Int128>(std::numeric_limits<T>::max());
      return static_cast<T>(cut < highest ? cut : highest);
    }
  }

 private:
  static double difference(T below, T above) {
    if constexpr (std::is_integral_v<T>) {
      return -static_cast<double>(static_cast<Int128>(above) - static_cast<Int128>(below));
    } else {
      return static_cast<double>(below) - static_cast<double>(above);
    }
  }
};

}  // namespace grurun::engine::reduce_kernels
