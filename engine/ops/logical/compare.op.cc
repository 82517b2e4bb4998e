// Equal, Less, Greater, LessOrEqual, GreaterOrEqual: C = A op B as bool, element by element. A NaN compares
// false. Equal and Less, Greater broadcast B in the limited way before version 7.
#include <string>
#include <vector>

#include "engine/ops/elementwise.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_compare();

namespace {

struct Equal {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
struct Less {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Greater {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct LessOrEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct GreaterOrEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
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
