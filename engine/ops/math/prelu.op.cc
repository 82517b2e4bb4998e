// PRelu: Y = X for X >= 0, slope X for X < 0.
// Version 7 on: slope broadcasts to X's shape as the last dimensions align. Versions 1 and 6 know a slope for
// each channel, dimension 1 of X, or a single one shared by all.
#include <vector>

#include "engine/graph/refusal.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/ops/shared/elementwise.h"
#include "engine/ops/shared/wrapping.h"

namespace grurun::engine {

namespace {

struct PRelu {
  template <typename T>
  T operator()(T x, T slope) const {
    const T product = wrapping_mul(slope, x);  // of every x: loops of it become vector code
    return x < 0 ? product : x;
  }
  template <typename A, typename B, kernels::Arithmetic T>
  void run(A x, B slope, T* y, std::int64_t n) const {
    kernels::vec_prelu(x, slope, y, n);
  }
};

Shape by_channel(const Shape& x, const Shape& slope, const void*) {
  Shape out = x;
  for (std::size_t i = 0; i < out.rank(); ++i) out[i] = 1;
  const std::int64_t count = slope.element_count();
  if (count == 1) return out;
  if (slope == x) return slope;
  if (x.rank() < 2 || count != x[1]) refuse();
  out[1] = count;
  return out;
}

Shape unidirectional(const Shape& x, const Shape& slope, const void*) {
  require_broadcastable_to(slope, x);
  return slope;
}

RunFunction prepare_prelu(PrepareContext& node) {
  static constexpr BinaryTable table = make_binary_table<PRelu>(
      Join<Floats, TypeList<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>{});
  const ShapeRule rule = node.since_version() < 7 ? by_channel : unidirectional;
  return [rule](RunContext& run) {
    const PRelu op;
    apply_binary(run, table, &op, rule, nullptr);
  };
}

}  // namespace

std::vector<OpRow> op_rows_prelu() {
  return {{"", "PRelu", {1, 6, 7, 9, 16}, prepare_prelu}};
}

}  // namespace grurun::engine
