#include "engine/ops/shared/broadcast.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(Broadcast, LimitedInOldVersions) {
  const Tensor a = make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  check_rows({
      {"same shape, legacy attribute of version 1",
       "Add",
       1,
       {a, a},
       {attr("consumed_inputs", std::vector<std::int64_t>{0, 0})},
       {make<float>({2, 3}, {2, 4, 6, 8, 10, 12})}},
      {"suffix",
       "Mul",
       6,
       {a, vec<float>({1, 10, 100})},
       {attr("broadcast", 1)},
       {make<float>({2, 3}, {1, 20, 300, 4, 50, 600})}},
      {"axis 0",
       "Sub",
       6,
       {a, vec<float>({1, 4})},
       {attr("broadcast", 1), attr("axis", 0)},
       {make<float>({2, 3}, {0, 1, 2, 0, 1, 2})}},
      {"one element of rank 2",
       "Div",
       1,
       {a, make<float>({1, 1}, {2})},
       {attr("broadcast", 1)},
       {make<float>({2, 3}, {0.5, 1, 1.5, 2, 2.5, 3})}},
      {"ones expand",
       "Add",
       6,
       {a, make<float>({2, 1}, {10, 20})},
       {attr("broadcast", 1)},
       {make<float>({2, 3}, {11, 12, 13, 24, 25, 26})}},
      {"comparison",
       "Less",
       1,
       {a, vec<float>({2, 2, 9})},
       {attr("broadcast", 1)},
       {make<bool>({2, 3}, {1, 0, 1, 0, 0, 1})}},
      {"Pow",
       "Pow",
       1,
       {a, make<float>({}, {2})},
       {attr("broadcast", 1)},
       {make<float>({2, 3}, {1, 4, 9, 16, 25, 36})}},
  });
  check_errors({
      {"no broadcast without the attribute",
       "Add",
       6,
       {a, vec<float>({1, 2, 3})},
       {},
       ErrorKind::invalid_model,
       "broadcast is not set"},
      {"B is no part of A",
       "Add",
       6,
       {a, make<float>({2, 2}, {1, 2, 3, 4})},
       {attr("broadcast", 1)},
       ErrorKind::invalid_model,
       "no contiguous part"},
      {"axis beyond",
       "Add",
       6,
       {a, vec<float>({1, 2, 3})},
       {attr("broadcast", 1), attr("axis", 2)},
       ErrorKind::invalid_model,
       "no contiguous part"},
  });
}

// Every pair of shapes against the definition, index by index.
TEST(Broadcast, AgreesWithDefinition) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    const std::int64_t rank = pick(5);
    Shape full, a_shape, b_shape;
    for (std::int64_t d = 0; d < rank; ++d) full.push_back(1 + pick(4));
    for (const std::int64_t dim : full) a_shape.push_back(pick(3) == 0 ? 1 : dim);
    for (const std::int64_t dim : full) b_shape.push_back(pick(3) == 0 ? 1 : dim);
    for (std::int64_t drop = pick(static_cast<int>(rank) + 1); drop > 0; --drop) b_shape.erase(0);
    Tensor a(DType::int64, a_shape), b(DType::int64, b_shape);
    for (std::int64_t i = 0; i < a.size(); ++i) a.mutable_data<std::int64_t>()[i] = i;
    for (std::int64_t i = 0; i < b.size(); ++i) b.mutable_data<std::int64_t>()[i] = 1000 * i;
    const Tensor got = run_node("Add", "", 14, {a, b})[0].tensor();
    const Shape shape = broadcast_shape(a_shape, b_shape);
    ASSERT_EQ(got.shape(), shape);
    for (std::int64_t i = 0; i < got.size(); ++i) {
      std::int64_t rest = i, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
      for (std::size_t back = 0; back < shape.rank(); ++back) {
        const std::int64_t index = rest % shape[shape.rank() - 1 - back];
        rest /= shape[shape.rank() - 1 - back];
        const std::int64_t dim_a = back < a_shape.rank() ? a_shape[a_shape.rank() - 1 - back] : 1;
        const std::int64_t dim_b = back < b_shape.rank() ? b_shape[b_shape.rank() - 1 - back] : 1;
        if (dim_a > 1) at_a += index * step_a;
        if (dim_b > 1) at_b += index * step_b;
        step_a *= dim_a;
        step_b *= dim_b;
      }
      ASSERT_EQ(got.data<std::int64_t>()[i], at_a + 1000 * at_b)
          << a_shape.to_string() << " + " << b_shape.to_string() << " at " << i;
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
