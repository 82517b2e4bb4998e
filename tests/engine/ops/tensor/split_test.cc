#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

// "split: T, optional list of output lengths", and T is a floating-point type.
TEST(Split1, TakesLengthsAsAnInputOfFloats) {
  const auto run = [](Tensor x, Tensor lengths) {
    return run_node("Split", "", 1, {std::move(x), std::move(lengths)}, {attr("axis", 0)}, 2);
  };
  const auto parts = [](const std::vector<Value>& made) {
    return made[0].tensor().shape().to_string() + made[1].tensor().shape().to_string();
  };
  EXPECT_EQ(parts(run(vec<float>({1, 2, 3}), vec<float>({1, 2}))), "[1][2]");
  EXPECT_EQ(parts(run(vec<double>({1, 2, 3}), vec<double>({3, 0}))), "[3][0]");
  EXPECT_EQ(parts(run(vec<Float16>({1, 2, 3}), vec<Float16>({2, 1}))), "[2][1]");
  for (const double wrong : {0.5, -1.0, 1e300, inf, nan}) {
    EXPECT_THROW(run(vec<double>({1, 2, 3}), vec<double>({wrong, 2})), Error) << wrong;
  }
}

TEST(Split1, RefusesLengthsOfAnotherTypeAndASumThatIsNotTheAxis) {
  const Tensor x = vec<float>({1, 2, 3});
  check_errors({
      {"int64 is not T",
       "Split",
       1,
       {x, vec<std::int64_t>({1, 2})},
       {},
       ErrorKind::invalid_model,
       "input split is tensor(int64); Split-1 admits ",
       2},
      {"another sum", "Split", 1, {x, vec<float>({1, 1})}, {}, ErrorKind::invalid_model, "sum to 2", 2},
      {"stated twice",
       "Split",
       1,
       {x, vec<float>({1, 2})},
       {attr("split", std::vector<std::int64_t>{1, 2})},
       ErrorKind::invalid_model,
       "split is both an attribute and an input",
       2},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
