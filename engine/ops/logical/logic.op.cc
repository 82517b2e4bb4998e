// And, Or, Xor: C = A op B over bool; Not: Y = !X. BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot: the same on
// every bit. Version 1 of And, Or, Xor broadcasts B in the limited way.
#include <vector>

#include "engine/ops/shared/elementwise.h"

namespace grurun::engine {

namespace {

using Bools = TypeList<bool>;

struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  // As bytes, of which the compiler makes vector code.
  void run(const bool* x, bool* y, std::int64_t n) const {
    const auto* from = reinterpret_cast<const std::uint8_t*>(x);
    auto* to = reinterpret_cast<std::uint8_t*>(y);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] ^ 1;
  }
};
struct BitwiseNot {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

template <typename Op, typename List>
RunFunction prepare_logic(PrepareContext& node) {
  return binary_step<Op, List>(node, Op{});
}

}  // namespace

std::vector<OpRow> op_rows_logic() {
  return {{"", "And", {1, 7}, prepare_logic<And, Bools>},
          {"", "Or", {1, 7}, prepare_logic<Or, Bools>},
          {"", "Xor", {1, 7}, prepare_logic<Xor, Bools>},
          {"", "Not", {1}, prepare_unary<Not, Bools>},
          {"", "BitwiseAnd", {18}, prepare_logic<And, Integers>},
          {"", "BitwiseOr", {18}, prepare_logic<Or, Integers>},
          {"", "BitwiseXor", {18}, prepare_logic<Xor, Integers>},
          {"", "BitwiseNot", {18}, prepare_unary<BitwiseNot, Integers>}};
}

}  // namespace grurun::engine
