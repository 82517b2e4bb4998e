#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(Normalization, Layer) {
  const double root = std::sqrt(1.25);  // deviation of 1, 2, 3, 4
  const Tensor x = make<float>({2, 4}, {1, 2, 3, 4, 1e4, 1e4 + 1, 1e4 + 2, 1e4 + 3});
  const Attributes exact = {attr("epsilon", 0.0f)};
  check_rows({
      {"a large mean costs no digits; all outputs",
       "LayerNormalization",
       17,
       {x, vec<float>({1, 1, 1, 2}), vec<float>({0, 0, 0, 5})},
       exact,
       {make<float>({2, 4}, {-1.5 / root, -.5 / root, .5 / root, 5 + 3 / root, -1.5 / root, -.5 / root,
                             .5 / root, 5 + 3 / root}),
        make<float>({2, 1}, {2.5, 1e4 + 1.5}), make<float>({2, 1}, {1 / root, 1 / root})}},
      {"Scale and B broadcast from any axis",
       "LayerNormalization",
       17,
       {x, make<float>({2, 1}, {1, 10}), make<float>({}, {0.5})},
       exact,
       {make<float>({2, 4}, {.5 - 1.5 / root, .5 - .5 / root, .5 + .5 / root, .5 + 1.5 / root, .5 - 15 / root,
                             .5 - 5 / root, .5 + 5 / root, .5 + 15 / root})}},
      {"double in stage one of float, moments of float",
       "LayerNormalization",
       17,
       {make<double>({4}, {1, 2, 3, 4 + 1e-12}), make<double>({1}, {1 + 0x1p-40})},
       exact,
       {make<double>({4}, {-1.5f * static_cast<float>(1 / root) * (1 + 0x1p-40),
                           -.5f * static_cast<float>(1 / root) * (1 + 0x1p-40),
                           .5f * static_cast<float>(1 / root) * (1 + 0x1p-40),
                           1.5f * static_cast<float>(1 / root) * (1 + 0x1p-40)}),
        make<float>({1}, {2.5}), make<float>({1}, {1 / root})}},
      {"no rows",
       "LayerNormalization",
       17,
       {make<float>({0, 3}, {}), vec<float>({1, 1, 1})},
       {},
       {make<float>({0, 3}, {}), make<float>({0, 1}, {})}},
      {"rows of no elements",
       "LayerNormalization",
       17,
       {make<float>({2, 0}, {}), make<float>({0}, {})},
       {},
       {make<float>({2, 0}, {}), make<float>({2, 1}, {nan, nan}), make<float>({2, 1}, {nan, nan})}},
      {"bfloat16 as stash type gives moments of it",
       "LayerNormalization",
       17,
       {vec<float>({1, 2, 3, 4}), make<float>({}, {1})},
       {attr("epsilon", 0.0f), attr("stash_type", 16)},
       {make<float>({4}, {-1.34375, -.4472656, .4472656, 1.34375}), make<BFloat16>({1}, {2.5}),
        make<BFloat16>({1}, {1 / root})}},
  });
  check_errors({
      {"axis out of range",
       "LayerNormalization",
       17,
       {x, x},
       {attr("axis", 2)},
       ErrorKind::invalid_model,
       "axis"},
      {"Scale does not broadcast",
       "LayerNormalization",
       17,
       {x, vec<float>({1, 2})},
       {},
       ErrorKind::invalid_model,
       "Scale is [2], which does not broadcast to [2,4]"},
      {"B of higher rank",
       "LayerNormalization",
       17,
       {x, x, make<float>({1, 2, 4}, std::vector<double>(8))},
       {},
       ErrorKind::invalid_model,
       "B is [1,2,4], which does not broadcast to [2,4]"},
      {"stash_type that U does not admit",
       "LayerNormalization",
       17,
       {x, x},
       {attr("stash_type", 11)},
       ErrorKind::invalid_model,
       "stash_type is 11 (double), but Mean and InvStdDev, which are of that type, must be float or bfloat16",
       3},
      {"a scalar has no axis",
       "LayerNormalization",
       17,
       {make<float>({}, {1}), make<float>({}, {1})},
       {},
       ErrorKind::invalid_model,
       "axis"},
  });
}

TEST(Normalization, RootMeanSquare) {
  check_rows({
      {"last axis",
       "RMSNormalization",
       23,
       {make<float>({2, 2}, {3, 4, 0, 2}), vec<float>({1, 10})},
       {attr("epsilon", 0.0f)},
       {make<float>({2, 2}, {3 / std::sqrt(12.5), 40 / std::sqrt(12.5), 0, 10 * std::sqrt(2.0)})}},
      {"Y is of the type of scale",
       "RMSNormalization",
       23,
       {vec<Float16>({3, 4}), vec<double>({1, 10})},
       {attr("epsilon", 0.0f)},
       {vec<double>({static_cast<double>(static_cast<float>(Float16(3 / std::sqrt(12.5)))),
                     10 * static_cast<double>(static_cast<float>(Float16(4 / std::sqrt(12.5))))})}},
  });
}

TEST(Normalization, GroupAndInstance) {
  const Tensor x = make<float>({1, 4, 2}, {1, 2, 3, 4, 10, 20, 30, 40});
  const double root = std::sqrt(1.25);
  check_rows({
      {"scale for each channel",
       "GroupNormalization",
       21,
       {x, vec<float>({1, 2, 1, 1}), vec<float>({0, 0, 0, 3})},
       {attr("num_groups", 2), attr("epsilon", 0.0f)},
       {make<float>({1, 4, 2}, {-1.5 / root, -.5 / root, 1 / root, 3 / root, -1.5 / root, -.5 / root,
                                3 + .5 / root, 3 + 1.5 / root})}},
      {"scale for each group in version 18",
       "GroupNormalization",
       18,
       {x, vec<float>({1, 2}), vec<float>({0, 3})},
       {attr("num_groups", 2), attr("epsilon", 0.0f)},
       {make<float>({1, 4, 2}, {-1.5 / root, -.5 / root, .5 / root, 1.5 / root, 3 - 3 / root, 3 - 1 / root,
                                3 + 1 / root, 3 + 3 / root})}},
      {"planes of their own",
       "InstanceNormalization",
       22,
       {make<BFloat16>({1, 2, 2}, {1, 2, 10, 30}), vec<BFloat16>({1, 2}), vec<BFloat16>({0, 0.5})},
       {attr("epsilon", 0.0f)},
       {make<BFloat16>({1, 2, 2}, {-1, 1, -1.5, 2.5})}},
      {"empty",
       "InstanceNormalization",
       22,
       {make<float>({0, 2, 3}, {}), vec<float>({1, 1}), vec<float>({0, 0})},
       {},
       {make<float>({0, 2, 3}, {})}},
  });
  const Tensor list = vec<float>({1, 1, 1, 1});
  check_errors({
      {"groups that do not divide",
       "GroupNormalization",
       21,
       {x, list, list},
       {attr("num_groups", 3)},
       ErrorKind::invalid_model,
       "num_groups 3"},
      {"no groups",
       "GroupNormalization",
       21,
       {x, list, list},
       {attr("num_groups", 0)},
       ErrorKind::invalid_model,
       "num_groups"},
      {"a scale too short",
       "GroupNormalization",
       21,
       {x, vec<float>({1, 1}), list},
       {attr("num_groups", 2)},
       ErrorKind::invalid_model,
       "scale is [2]; GroupNormalization-21 takes [C], here [4]"},
      {"a bias for each channel in version 18",
       "GroupNormalization",
       18,
       {x, vec<float>({1, 1}), list},
       {attr("num_groups", 2)},
       ErrorKind::invalid_model,
       "bias is [4], but must be [2]: a number for each group"},
  });
}

TEST(Normalization, BatchOfOneAxis) {
  const auto one = [](double value) { return vec<float>({value}); };
  const Tensor x = vec<float>({1, 2, 3, 4, 5});
  std::vector<OpRowCase> rows;
  for (const std::int64_t opset : {9, 14, 15}) {
    rows.push_back({"N elements of one channel",
                    "BatchNormalization",
                    opset,
                    {x, one(2), one(0.5), one(3), one(2)},
                    {attr("epsilon", 0.f)},
                    {vec<float>({0.5 - 2 * std::sqrt(2.), 0.5 - std::sqrt(2.), 0.5, 0.5 + std::sqrt(2.),
                                 0.5 + 2 * std::sqrt(2.)})}});
  }
  rows.push_back({"trained: mean 3, variance 2",
                  "BatchNormalization",
                  15,
                  {x, one(2), one(0.5), one(0), one(0)},
                  {attr("epsilon", 0.f), attr("training_mode", 1), attr("momentum", 0.f)},
                  {vec<float>({0.5 - 2 * std::sqrt(2.), 0.5 - std::sqrt(2.), 0.5, 0.5 + std::sqrt(2.),
                               0.5 + 2 * std::sqrt(2.)}),
                   one(3), one(2)}});
  const Tensor five = vec<float>({1, 1, 1, 1, 1});
  rows.push_back({"channels of one element before",
                  "BatchNormalization",
                  7,
                  {x, five, five, vec<float>({1, 2, 3, 4, 5}), five},
                  {attr("epsilon", 0.f)},
                  {five}});
  rows.push_back({"of float, with double statistics",
                  "BatchNormalization",
                  15,
                  {vec<float>({1, 3}), one(2), one(0.5), vec<double>({1}), vec<double>({4})},
                  {attr("epsilon", 0.f)},
                  {vec<float>({0.5, 2.5})}});
  rows.push_back({"of double, with a float scale",
                  "BatchNormalization",
                  15,
                  {vec<double>({1, 3}), one(2), one(0.5), vec<double>({1}), vec<double>({4})},
                  {attr("epsilon", 0.f)},
                  {vec<double>({0.5, 2.5})}});
  check_rows(rows);
  check_errors({{"statistics of five channels",
                 "BatchNormalization",
                 15,
                 {x, five, five, five, five},
                 {},
                 ErrorKind::invalid_model,
                 "scale is [5], but must be [1]: a number for each channel"}});
}

// At inference nothing is dropped, and the mask says so: docs/ambiguities.md.
TEST(Dropout, MaskIsOnesAtInference) {
  const Tensor x = vec<float>({1, -2, 3});
  check_rows({
      {"of X's type", "Dropout", 7, {x}, {}, {x, vec<float>({1, 1, 1})}},
      {"of booleans", "Dropout", 10, {x}, {}, {x, vec<bool>({1, 1, 1})}},
      {"and later", "Dropout", 13, {x}, {}, {x, vec<bool>({1, 1, 1})}},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
