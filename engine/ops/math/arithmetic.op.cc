// Add, Sub, Mul, Div: C = A op B, element by element.
// Versions 1 and 6 broadcast B in the limited way (attributes axis and broadcast), 7 on as numpy does.
// Integers keep the low bits of a result that does not fit; Div of integers truncates.
#include <vector>

#include "engine/kernels/vec/vec_arith.h"
#include "engine/ops/shared/elementwise.h"
#include "engine/ops/shared/wrapping.h"

namespace grurun::engine {

namespace {

// Of a and b, one may be a single number, the other or both an array.
struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return wrapping_add(a, b);
  }
  template <typename A, typename B, kernels::Arithmetic T>
  void run(A a, B b, T* y, std::int64_t n) const {
    kernels::vec_add(a, b, y, n);
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return wrapping_sub(a, b);
  }
  template <typename A, typename B, kernels::Arithmetic T>
  void run(A a, B b, T* y, std::int64_t n) const {
    kernels::vec_sub(a, b, y, n);
  }
};
struct Mul {
  static constexpr bool is_product = true;
  template <typename T>
  T operator()(T a, T b) const {
    return wrapping_mul(a, b);
  }
  template <typename A, typename B, kernels::Arithmetic T>
  void run(A a, B b, T* y, std::int64_t n) const {
    kernels::vec_mul(a, b, y, n);
  }
};
struct Div {
  static constexpr bool divides = true;
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return checked_div(a, b);
    } else {
      return a / b;
    }
  }
  template <typename A, typename B, kernels::ArithmeticFloat T>
  void run(A a, B b, T* y, std::int64_t n) const {
    kernels::vec_div(a, b, y, n);
  }
};

template <typename Op>
RunFunction prepare_arithmetic(PrepareContext& node) {
  return binary_step<Op, Numbers>(node, Op{});
}

}  // namespace

std::vector<OpRow> op_rows_arithmetic() {
  const std::vector<int> versions{1, 6, 7, 13, 14};
  return {{"", "Add", versions, prepare_arithmetic<Add>},
          {"", "Sub", versions, prepare_arithmetic<Sub>},
          {"", "Mul", versions, prepare_arithmetic<Mul>},
          {"", "Div", versions, prepare_arithmetic<Div>}};
}

}  // namespace grurun::engine
