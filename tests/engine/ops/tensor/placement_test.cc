// Operators that put elements elsewhere: ReverseSequence, Scatter, TensorScatter.
#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Value int64_values(const std::vector<double>& values) {
  return vec<std::int64_t>(values);
}

TEST(ReverseSequence, TurnsTheFirstElementsOfEachRow) {
  const Tensor x = make<float>({3, 2}, {0, 1, 2, 3, 4, 5});
  const Tensor pairs = make<float>({1, 3, 2}, {0, 1, 2, 3, 4, 5});
  const Attributes batch_first = {attr("time_axis", 1), attr("batch_axis", 0)};
  check_rows({
      {"time first",
       "ReverseSequence",
       10,
       {x, int64_values({3, 2})},
       {},
       {make<float>({3, 2}, {4, 3, 2, 1, 0, 5})}},
      {"batch first",
       "ReverseSequence",
       10,
       {x, int64_values({2, 1, 0})},
       batch_first,
       {make<float>({3, 2}, {1, 0, 2, 3, 4, 5})}},
      {"whole vectors",
       "ReverseSequence",
       28,
       {pairs, int64_values({2})},
       batch_first,
       {make<float>({1, 3, 2}, {2, 3, 0, 1, 4, 5})}},
      {"no time",
       "ReverseSequence",
       10,
       {make<float>({0, 1}, {}), int64_values({0})},
       {},
       {make<float>({0, 1}, {})}},
  });
  constexpr auto invalid = ErrorKind::invalid_model;
  check_errors({
      {"too long",
       "ReverseSequence",
       10,
       {x, int64_values({4, 2})},
       {},
       invalid,
       "sequence_lens holds 4, but must lie in [0, 3]"},
      {"negative", "ReverseSequence", 10, {x, int64_values({-1, 2})}, {}, invalid, "sequence_lens holds -1"},
      {"a length too many",
       "ReverseSequence",
       10,
       {x, int64_values({1, 1, 1})},
       {},
       invalid,
       "sequence_lens is [3], but must be [2]: a length for each row of the batch [SHAPE001]"},
      {"one axis",
       "ReverseSequence",
       10,
       {vec<float>({1}), int64_values({1})},
       {},
       invalid,
       "ReverseSequence-10 takes [T,B,...] [SHAPE001]"},
      {"the same axis",
       "ReverseSequence",
       10,
       {x, int64_values({1, 1})},
       {attr("time_axis", 1)},
       invalid,
       "time_axis and batch_axis are 1 and 1; they must be 0 and 1, or 1 and 0 [SHAPE001]"},
  });
}

TEST(Scatter, WritesUpdatesWhereIndicesSay) {
  const Tensor data = make<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto places = [](Shape shape, const std::vector<double>& values) {
    return make<std::int64_t>(std::move(shape), values);
  };
  const Tensor updates = make<float>({1, 2}, {8, 9});
  check_rows({
      {"along axis 0",
       "Scatter",
       9,
       {data, places({1, 2}, {1, 0}), updates},
       {},
       {make<float>({2, 3}, {0, 9, 2, 8, 4, 5})}},
      {"along axis 1",
       "Scatter",
       9,
       {data, places({1, 2}, {2, 0}), updates},
       {attr("axis", 1)},
       {make<float>({2, 3}, {9, 1, 8, 3, 4, 5})}},
      {"nowhere", "Scatter", 9, {data, places({0, 2}, {}), make<float>({0, 2}, {})}, {}, {data}},
  });
  constexpr auto invalid = ErrorKind::invalid_model;
  check_errors({
      {"beyond the axis",
       "Scatter",
       9,
       {data, places({1, 2}, {2, 0}), updates},
       {},
       invalid,
       "indices holds 2, but must lie in [-n, n), where n is 2"},
      {"another shape",
       "Scatter",
       9,
       {data, places({2, 1}, {0, 0}), updates},
       {},
       invalid,
       "input updates is [1,2]; Scatter-9 takes [...], here [2,1] [SHAPE001]"},
      {"too wide",
       "Scatter",
       9,
       {data, places({1, 4}, {0, 0, 0, 0}), make<float>({1, 4}, {1, 2, 3, 4})},
       {},
       invalid,
       "indices is [1,4]: it reaches beyond data [2,3] on axis 1"},
  });
}

// More updates than are placed at a time, several at one place, in their order.
TEST(Scatter, PlacesManyUpdatesInOrder) {
  constexpr std::int64_t rows = 3, updates = 1500, length = 40;
  std::vector<double> places, values, last(rows * length, -1), sums(rows * length, -1);
  for (std::int64_t i = 0; i < rows * updates; ++i) {
    const std::int64_t place = i * 7 % length;
    const auto at = static_cast<std::size_t>(i / updates * length + place);
    places.push_back(static_cast<double>(i % 2 == 0 ? place : place - length));
    values.push_back(static_cast<double>(i));
    last[at] = values.back();
    sums[at] += values.back();
  }
  const Tensor data = make<std::int64_t>({rows, length}, std::vector<double>(rows * length, -1));
  const Tensor indices = make<std::int64_t>({rows, updates}, places);
  const Tensor given = make<std::int64_t>({rows, updates}, values);
  check_rows({
      {"none",
       "ScatterElements",
       18,
       {data, indices, given},
       {attr("axis", 1)},
       {make<std::int64_t>({rows, length}, last)}},
      {"add",
       "ScatterElements",
       18,
       {data, indices, given},
       {attr("axis", 1), attr("reduction", "add")},
       {make<std::int64_t>({rows, length}, sums)}},
  });
}

TEST(TensorScatter, WritesStepsIntoACache) {
  const Tensor cache = make<float>({2, 3, 1}, {0, 1, 2, 3, 4, 5});
  const Tensor update = make<float>({2, 2, 1}, {6, 7, 8, 9});
  const Attributes circular = {attr("mode", "circular")};
  check_rows({
      {"at the beginning",
       "TensorScatter",
       24,
       {cache, update},
       {},
       {make<float>({2, 3, 1}, {6, 7, 2, 8, 9, 5})}},
      {"where told",
       "TensorScatter",
       24,
       {cache, update, int64_values({1, 0})},
       {},
       {make<float>({2, 3, 1}, {0, 6, 7, 8, 9, 5})}},
      {"around the end",
       "TensorScatter",
       24,
       {cache, update, int64_values({2, 4})},
       circular,
       {make<float>({2, 3, 1}, {7, 1, 6, 3, 8, 9})}},
      {"no step",
       "TensorScatter",
       24,
       {cache, make<float>({2, 0, 1}, {}), int64_values({3, 0})},
       {},
       {cache}},
  });
  constexpr auto invalid = ErrorKind::invalid_model;
  check_errors({
      {"past the end",
       "TensorScatter",
       24,
       {cache, update, int64_values({2, 0})},
       {},
       invalid,
       "write_indices holds 2, but 2 steps must fit into 3"},
      {"negative",
       "TensorScatter",
       24,
       {cache, update, int64_values({0, -1})},
       circular,
       invalid,
       "write_indices holds -1"},
      {"one for two rows",
       "TensorScatter",
       24,
       {cache, update, int64_values({0})},
       {},
       invalid,
       "input write_indices is [1]; TensorScatter-24 takes [B], here [2] [SHAPE001]"},
      {"too many steps",
       "TensorScatter",
       24,
       {cache, make<float>({2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8})},
       {},
       invalid,
       "does not fit into past_cache"},
      {"along the batch",
       "TensorScatter",
       24,
       {cache, update},
       {attr("axis", 0)},
       invalid,
       "axis of the batch"},
      {"another mode",
       "TensorScatter",
       24,
       {cache, update},
       {attr("mode", "wrap")},
       invalid,
       "mode is 'wrap'"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
