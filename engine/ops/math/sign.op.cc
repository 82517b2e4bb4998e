// Abs, Neg, Sign: Y = |X|, -X, and -1, 0 or 1 by X's sign (NaN stays NaN). The lowest signed integer is its
// own absolute and negated value. IsNaN, IsInf: whether X is; IsInf looks at the signs that detect_negative
// and detect_positive name.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <vector>

#include "engine/kernels/vec/vec_abs.h"
#include "engine/kernels/vec/vec_compare.h"
#include "engine/ops/shared/elementwise.h"
#include "engine/ops/shared/wrapping.h"

namespace grurun::engine {

namespace {

// Of 16-bit floats by their bits.
struct Abs {
  static constexpr bool takes_halves = true;
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else if constexpr (std::is_integral_v<T>) {
      return x < 0 ? wrapping_neg(x) : x;
    } else if constexpr (sizeof(T) == 2) {
      return T::from_bits(x.bits & 0x7fff);
    } else {
      return std::fabs(x);
    }
  }
  template <std::same_as<std::int64_t> T>
  void run(const T* x, T* y, std::int64_t n) const {
    kernels::vec_abs(x, y, n);
  }
};
struct Neg {
  static constexpr bool takes_halves = true;
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return wrapping_neg(x);
    } else if constexpr (sizeof(T) == 2) {
      return T::from_bits(x.bits ^ 0x8000);
    } else {
      return -x;
    }
  }
};
struct Sign {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>((x > 0) - (x < 0));
    } else {
      return x > 0 ? T{1} : x < 0 ? T{-1} : x;
    }
  }
};
struct IsNaN {
  static constexpr bool takes_halves = true;
  template <typename T>
  bool operator()(T x) const {
    return std::isnan(static_cast<ComputeType<T>>(x));
  }
  template <typename T>
  requires is_compute_float<T>
  void run(const T* x, bool* y, std::int64_t n) const { kernels::vec_is_nan(x, y, n); }
};
struct IsInf {
  bool negative = true;
  bool positive = true;
  template <typename T>
  bool operator()(T x) const {
    const auto value = static_cast<ComputeType<T>>(x);
    return std::isinf(value) && (value < 0 ? negative : positive);
  }
};

using AllFloats = Join<Floats, Float8s>;

RunFunction prepare_is_nan(PrepareContext&) {
  return unary_step<IsNaN, AllFloats, DType::boolean>(IsNaN{});
}

RunFunction prepare_is_inf(PrepareContext& node) {
  const IsInf op{node.int_attribute("detect_negative", 1) != 0,
                 node.int_attribute("detect_positive", 1) != 0};
  return unary_step<IsInf, AllFloats, DType::boolean>(op);
}

}  // namespace

std::vector<OpRow> op_rows_sign() {
  return {{"", "Abs", {1, 6, 13}, prepare_unary<Abs, Numbers>},
          {"", "Neg", {1, 6, 13}, prepare_unary<Neg, Join<Floats, SignedIntegers>>},
          {"", "Sign", {9, 13}, prepare_unary<Sign, Numbers>},
          {"", "IsNaN", {9, 13, 20}, prepare_is_nan},
          {"", "IsInf", {10, 20}, prepare_is_inf}};
}

}  // namespace grurun::engine
