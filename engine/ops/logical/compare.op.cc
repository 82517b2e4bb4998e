// Equal, Less, Greater, LessOrEqual, GreaterOrEqual: C = A op B as bool, element by element. A NaN compares
// false. Equal and Less, Greater broadcast B in the limited way before version 7.
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/kernels/vec/vec_compare.h"
#include "engine/ops/shared/elementwise.h"

namespace grurun::engine {

namespace {

// An array, or an element that stands for one, of a type that kernels compare.
template <typename A, typename T = std::remove_cv_t<std::remove_pointer_t<A>>>
concept Vectorized =
    is_compute_float<T> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

struct Equal {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  template <Vectorized A, Vectorized B>
  void run(A a, B b, bool* y, std::int64_t n) const {
    if constexpr (std::is_pointer_v<A>) {
      kernels::vec_equal(a, b, y, n);
    } else {
      kernels::vec_equal(b, a, y, n);
    }
  }
};
struct Less {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
  template <Vectorized A, Vectorized B>
  void run(A a, B b, bool* y, std::int64_t n) const {
    kernels::vec_less(a, b, y, n);
  }
};
struct Greater {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
  template <Vectorized A, Vectorized B>
  void run(A a, B b, bool* y, std::int64_t n) const {
    kernels::vec_less(b, a, y, n);
  }
};
struct LessOrEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
  template <Vectorized A, Vectorized B>
  void run(A a, B b, bool* y, std::int64_t n) const {
    kernels::vec_less_equal(a, b, y, n);
  }
};
struct GreaterOrEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
  template <Vectorized A, Vectorized B>
  void run(A a, B b, bool* y, std::int64_t n) const {
    kernels::vec_less_equal(b, a, y, n);
  }
};

using Comparable = Join<Numbers, TypeList<bool, std::string>>;

RunFunction prepare_equal(PrepareContext& node) {
  return binary_step<Equal, Comparable, DType::boolean>(node, Equal{});
}

template <typename Op>
RunFunction prepare_compare(PrepareContext& node) {
  return binary_step<Op, Numbers, DType::boolean>(node, Op{});
}

}  // namespace

std::vector<OpRow> op_rows_compare() {
  return {{"", "Equal", {1, 7, 11, 13, 19}, prepare_equal},
          {"", "Less", {1, 7, 9, 13}, prepare_compare<Less>},
          {"", "Greater", {1, 7, 9, 13}, prepare_compare<Greater>},
          {"", "LessOrEqual", {12, 16}, prepare_compare<LessOrEqual>},
          {"", "GreaterOrEqual", {12, 16}, prepare_compare<GreaterOrEqual>}};
}

}  // namespace grurun::engine
