// Tensors without elements may have any dimensions beside the 0: what is computed from them must not
// overflow.
#include <gtest/gtest.h>

#include "tests/engine/graph/model_building.h"

namespace grurun::engine {
namespace {

using namespace testing;

constexpr std::int64_t huge = std::int64_t{1} << 62;

Tensor empty(Shape shape) {
  return {DType::float32, std::move(shape)};
}
Tensor ints(std::vector<std::int64_t> values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

struct Row {
  const char* what;
  const char* op;
  std::vector<Value> inputs;
  Attributes attributes;
  std::string outcome;  // the shape of the output, or "limit"
};

std::string outcome(const Row& row) {
  try {
    const Value made = run_node(row.op, "", 20, row.inputs, row.attributes)[0];
    return made.is_tensor() ? made.tensor().shape().to_string()
                            : "a sequence of " + std::to_string(made.sequence().items.size());
  } catch (const Error& error) {
    return error.kind() == ErrorKind::limit ? "limit" : error.what();
  }
}

TEST(HugeDimensions, AreCarriedOrRefused) {
  const std::vector<Row> table = {
      {"height beyond 63 bits", "DepthToSpace", {empty({0, 4, huge, 1})}, {attr("blocksize", 2)}, "limit"},
      {"width beyond 63 bits", "DepthToSpace", {empty({0, 4, 1, huge})}, {attr("blocksize", 2)}, "limit"},
      {"channels beyond 63 bits", "SpaceToDepth", {empty({0, huge, 2, 2})}, {attr("blocksize", 2)}, "limit"},
      {"depth to space",
       "DepthToSpace",
       {empty({0, huge, huge, 1})},
       {attr("blocksize", 1)},
       Shape{0, huge, huge, 1}.to_string()},
      {"space to depth",
       "SpaceToDepth",
       {empty({0, 1, huge, huge})},
       {attr("blocksize", 2)},
       Shape{0, 4, huge / 2, huge / 2}.to_string()},
      {"a signal beyond 63 bits",
       "DFT",
       {empty({0, huge + 1, 2})},
       {attr("inverse", 1), attr("onesided", 1)},
       "limit"},
      {"transposed", "Transpose", {empty({0, huge, 5, huge})}, {}, Shape{huge, 5, huge, 0}.to_string()},
      {"tiled", "Tile", {empty({0, huge, huge}), ints({3, 1, 1})}, {}, Shape{0, huge, huge}.to_string()},
      {"tiled beyond 63 bits", "Tile", {empty({0, huge}), ints({1, 4})}, {}, "limit"},
      {"split",
       "Split",
       {empty({0, huge, huge}), ints({huge})},
       {attr("axis", 1)},
       Shape{0, huge, huge}.to_string()},
      {"einsum",
       "Einsum",
       {empty({0, huge, huge})},
       {attr("equation", "abc->acb")},
       Shape{0, huge, huge}.to_string()},
      {"summed", "ReduceSum", {empty({0, huge, huge})}, {attr("keepdims", 0)}, Shape{}.to_string()},
      {"summed in part",
       "ReduceSum",
       {empty({0, huge, huge, 3}), ints({3})},
       {attr("keepdims", 0)},
       Shape{0, huge, huge}.to_string()},
      {"determinants", "Det", {empty({0, huge, huge})}, {}, Shape{0}.to_string()},
      {"slices of nothing",
       "SplitToSequence",
       {empty({huge, 3, 0})},
       {attr("axis", 1), attr("keepdims", 0)},
       "a sequence of 3"},
      {"a sequence of too many", "SplitToSequence", {empty({huge, 0})}, {}, "limit"},
      {"without their axis", "SplitToSequence", {empty({huge, 0})}, {attr("keepdims", 0)}, "limit"},
      {"two by two", "SplitToSequence", {empty({huge, 0}), Tensor::scalar<std::int64_t>(2)}, {}, "limit"},
  };
  for (const Row& row : table) {
    EXPECT_EQ(outcome(row), row.outcome) << row.what;
  }
}

TEST(SplitToSequence, CutsIntoEqualAndStatedParts) {
  const Tensor x = Tensor::from<float>({5, 1}, {1, 2, 3, 4, 5});
  struct Cut {
    Value split;
    int keepdims;
    std::vector<std::vector<float>> parts;
    std::size_t rank;
  };
  const std::vector<Cut> table = {
      {{}, 1, {{1}, {2}, {3}, {4}, {5}}, 2},
      {{}, 0, {{1}, {2}, {3}, {4}, {5}}, 1},
      {Tensor::scalar<std::int64_t>(2), 0, {{1, 2}, {3, 4}, {5}}, 2},
      {ints({4, 0, 1}), 0, {{1, 2, 3, 4}, {}, {5}}, 2},
  };
  for (const Cut& cut : table) {
    const Value made =
        run_node("SplitToSequence", "", 11, {x, cut.split}, {attr("keepdims", cut.keepdims)})[0];
    std::vector<std::vector<float>> parts;
    for (const Value& part : made.sequence().items) {
      parts.push_back(as_floats(part));
      EXPECT_EQ(part.tensor().rank(), cut.rank);
    }
    EXPECT_EQ(parts, cut.parts);
  }
}

}  // namespace
}  // namespace grurun::engine
