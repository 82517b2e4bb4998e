#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Value place(double position) {
  return make<std::int64_t>({}, {position});
}

// A sequence of lists of one number each.
Value sequence_of(const std::vector<double>& numbers) {
  Sequence made{ValueType::tensor(DType::float32), {}};
  for (const double number : numbers) made.items.emplace_back(vec<float>({number}));
  return made;
}

std::vector<double> numbers_of(const Value& value) {
  std::vector<double> numbers;
  for (const Value& item : value.sequence().items)
    numbers.push_back(static_cast<double>(*item.tensor().data<float>()));
  return numbers;
}

TEST(Sequence, ItemsAreInsertedAndErased) {
  struct Row {
    const char* op;
    std::vector<Value> inputs;
    std::vector<double> left;
  };
  const Value nine = vec<float>({9});
  const std::vector<Row> table = {
      {"SequenceInsert", {sequence_of({1, 2}), nine}, {1, 2, 9}},
      {"SequenceInsert", {sequence_of({1, 2}), nine, place(0)}, {9, 1, 2}},
      {"SequenceInsert", {sequence_of({1, 2}), nine, place(2)}, {1, 2, 9}},
      {"SequenceInsert", {sequence_of({1, 2}), nine, place(-1)}, {1, 9, 2}},
      {"SequenceInsert", {sequence_of({}), nine, place(0)}, {9}},
      {"SequenceErase", {sequence_of({1, 2, 3})}, {1, 2}},
      {"SequenceErase", {sequence_of({1, 2, 3}), place(0)}, {2, 3}},
      {"SequenceErase", {sequence_of({1, 2, 3}), place(-2)}, {1, 3}},
  };
  for (const Row& row : table) {
    EXPECT_EQ(numbers_of(run_node(row.op, "", 11, row.inputs)[0]), row.left)
        << row.op << " of " << row.inputs.size() << " inputs";
  }
}

TEST(Sequence, ItemsAreFoundAndJoined) {
  const Value three = sequence_of({1, 2, 3});
  const auto along = [](int axis, int new_axis) {
    return Attributes{attr("axis", axis), attr("new_axis", new_axis)};
  };
  check_rows({
      {"the first", "SequenceAt", 11, {three, place(0)}, {}, {vec<float>({1})}},
      {"the last", "SequenceAt", 11, {three, place(-1)}, {}, {vec<float>({3})}},
      {"int32", "SequenceAt", 11, {three, make<std::int32_t>({}, {1})}, {}, {vec<float>({2})}},
      {"how many", "SequenceLength", 11, {three}, {}, {make<std::int64_t>({}, {3})}},
      {"end to end", "ConcatFromSequence", 11, {three}, {attr("axis", 0)}, {vec<float>({1, 2, 3})}},
      {"stacked", "ConcatFromSequence", 11, {three}, along(0, 1), {make<float>({3, 1}, {1, 2, 3})}},
      {"stacked last", "ConcatFromSequence", 11, {three}, along(-1, 1), {make<float>({1, 3}, {1, 2, 3})}},
  });
}

TEST(Sequence, RefusesPositionsAndTypesThatDoNotFit) {
  const Value two = sequence_of({1, 2}), nine = vec<float>({9});
  const Value mixed =
      Sequence{ValueType::tensor(DType::float32), {vec<float>({1}), make<float>({1, 1}, {2})}};
  const Attributes joined = {attr("axis", 0)}, stacked = {attr("axis", 0), attr("new_axis", 1)};
  constexpr auto invalid = ErrorKind::invalid_model;
  check_errors({
      {"insert past the end",
       "SequenceInsert",
       11,
       {two, nine, place(3)},
       {},
       invalid,
       "position is 3, but must lie in [-2, 2] for a sequence of 2"},
      {"insert another type",
       "SequenceInsert",
       11,
       {two, vec<double>({9})},
       {},
       invalid,
       "cannot go into a sequence of"},
      {"erase past the end", "SequenceErase", 11, {two, place(2)}, {}, invalid, "must lie in [-2, 1]"},
      {"erase from nothing",
       "SequenceErase",
       11,
       {sequence_of({})},
       {},
       invalid,
       "cannot erase from an empty sequence"},
      {"find past the end", "SequenceAt", 11, {two, place(2)}, {}, invalid, "must lie in [-2, 1]"},
      {"find before the beginning", "SequenceAt", 11, {two, place(-3)}, {}, invalid, "position is -3"},
      {"two positions",
       "SequenceAt",
       11,
       {two, vec<std::int64_t>({0, 1})},
       {},
       invalid,
       "SequenceAt-11 takes a scalar"},
      {"join nothing", "ConcatFromSequence", 11, {sequence_of({})}, joined, invalid, "the sequence is empty"},
      {"join other ranks", "ConcatFromSequence", 11, {mixed}, joined, invalid, "cannot be joined"},
      {"stack other shapes", "ConcatFromSequence", 11, {mixed}, stacked, invalid, "cannot be joined with"},
      {"no such axis", "ConcatFromSequence", 11, {two}, {attr("axis", 1)}, invalid, "axis is 1"},
      {"new_axis of 2",
       "ConcatFromSequence",
       11,
       {two},
       {attr("axis", 0), attr("new_axis", 2)},
       invalid,
       "new_axis is 2, but ConcatFromSequence-11 knows 0, 1 [SCHEMA013]"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
