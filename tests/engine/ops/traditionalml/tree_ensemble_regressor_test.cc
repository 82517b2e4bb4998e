// TreeEnsembleRegressor.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/engine/ops/traditionalml/classic_trees.h"

namespace grurun::engine::testing {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

Attributes regressor(const std::vector<TreeNode>& nodes, const std::vector<VoteRow>& votes,
                     Attributes more = {}) {
  more.insert(more.begin(), attr("n_targets", 1));
  return trees(nodes, votes, "target", std::move(more));
}

// x0 <= 0.5 ? node 1 : (x1 > 2 ? node 3 : node 4)
const std::vector<TreeNode> two_levels{
    {0, 0, "BRANCH_LEQ", 0, 0.5F, 1, 2}, {0, 1}, {0, 2, "BRANCH_GT", 1, 2, 3, 4}, {0, 3}, {0, 4}};
const std::vector<VoteRow> one_two_three{{0, 1, 0, 1}, {0, 3, 0, 2}, {0, 4, 0, 3}};

OpRowCase regression(const char* name, std::int64_t opset, Tensor x, Attributes attributes, Tensor y) {
  return {name,          "ai.onnx.ml:TreeEnsembleRegressor", opset, {std::move(x)}, std::move(attributes),
          {std::move(y)}};
}

TEST(TreeEnsembleRegressor, Walks) {
  const Attributes model = regressor(two_levels, one_two_three);
  const std::vector<double> x{0.5, 9, 0.6, 2, 0.6, 2.1};
  const Tensor y = make<float>({3, 1}, {1, 3, 2});
  std::vector<TreeNode> leaf_first = two_levels;
  std::rotate(leaf_first.begin(), leaf_first.begin() + 1, leaf_first.end());
  check_rows({
      regression("float", 1, make<float>({3, 2}, x), model, y),
      regression("double", 3, make<double>({3, 2}, x), model, y),
      regression("version 5", 5, make<double>({3, 2}, x), model, y),
      regression("int64", 1, make<std::int64_t>({3, 2}, {0, 9, 1, 2, 1, 3}), model, y),
      regression("int32", 1, make<std::int32_t>({3, 2}, {0, 9, 1, 2, 1, 3}), model, y),
      regression("a row alone", 1, vec<float>({0.6, 3}), model, make<float>({1, 1}, {2})),
      regression("no row", 1, make<float>({0, 2}, {}), model, make<float>({0, 1}, {})),
      regression("a root that is not listed first", 1, make<float>({3, 2}, x),
                 regressor(leaf_first, one_two_three), y),
      regression("a tree of one leaf", 1, vec<float>({7}), regressor({{0, 0}}, {{0, 0, 0, 4}}),
                 make<float>({1, 1}, {4})),
      regression("a leaf without a vote", 1, vec<float>({-1}), regressor(stump(0), {{0, 2, 0, 4}}),
                 make<float>({1, 1}, {0})),
      regression(
          "ids of any order and size", 1, vec<float>({1}),
          regressor({{9, -5, "BRANCH_LT", 0, 2, 70, 3}, {9, 3}, {9, 70}}, {{9, 70, 0, 4}, {9, 3, 0, 5}}),
          make<float>({1, 1}, {4})),
  });
}

/// What a row of two features comes to in many stumps of all modes, added up as the standard says it.
float sum_of_stumps(const std::vector<TreeNode>& stumps, const float* x) {
  float sum = 0;
  for (std::size_t i = 0; i < stumps.size(); i += 3) {
    const TreeNode& node = stumps[i];
    const float value = x[node.feature], split = node.split;
    const std::string mode = node.mode;
    const bool holds = std::isnan(value)      ? node.tracks != 0
                       : mode == "BRANCH_LEQ" ? value <= split
                       : mode == "BRANCH_LT"  ? value < split
                       : mode == "BRANCH_GTE" ? value >= split
                       : mode == "BRANCH_GT"  ? value > split
                       : mode == "BRANCH_EQ"  ? value == split
                                              : value != split;
    sum += holds ? static_cast<float>(i + 1) : -0.1F * static_cast<float>(i);
  }
  return sum;
}

// Few rows go through several trees at a time, many through one; forests of one mode have nodes of their own.
TEST(TreeEnsembleRegressor, AnyNumberOfRowsThroughForestsOfOneModeAndOfAll) {
  const std::vector<const char*> all{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                     "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  std::vector<std::vector<const char*>> forests{all};
  for (const char* mode : all) forests.push_back({mode});
  std::vector<OpRowCase> rows;
  for (const auto& modes : forests) {
    for (const std::int64_t tracks : {0, 1, 2}) {  // 2: of some nodes
      std::vector<TreeNode> nodes;
      std::vector<VoteRow> votes;
      for (std::int64_t tree = 0; tree < 70; ++tree) {
        std::vector<TreeNode> made = stump(tree, modes[static_cast<std::size_t>(tree) % modes.size()],
                                           0.5F * static_cast<float>(tree % 7 - 3),
                                           tracks == 2 ? static_cast<std::int64_t>(tree % 3 == 0) : tracks);
        made[0].feature = tree % 2;
        votes.push_back({tree, 1, 0, static_cast<float>(nodes.size() + 1)});
        votes.push_back({tree, 2, 0, -0.1F * static_cast<float>(nodes.size())});
        nodes.insert(nodes.end(), made.begin(), made.end());
      }
      for (const std::int64_t count : {1, 5, 13, 70, 150}) {
        const std::int64_t without_nan = count == 150 ? 100 : 0;
        Floats x, y;
        for (std::int64_t n = 0; n < count; ++n) {
          x.push_back(n % 11 == 10 && n >= without_nan ? static_cast<float>(nan)
                                                       : 0.25F * static_cast<float>(n % 17 - 8));
          x.push_back(n % 13 == 12 ? std::numeric_limits<float>::infinity()
                                   : 0.5F * static_cast<float>(n % 7));
          y.push_back(sum_of_stumps(nodes, &x[x.size() - 2]));
        }
        rows.push_back(regression(modes.size() == 1 ? modes[0] : "all modes", 3,
                                  Tensor::from<float>(Shape{count, 2}, x), regressor(nodes, votes),
                                  Tensor::from<float>(Shape{count, 1}, y)));
      }
    }
  }
  check_rows(rows);
}

// Walks do not ask whether they have ended before the least depth of all leaves.
TEST(TreeEnsembleRegressor, CompleteTreesAndThoseWithLeavesAboveOthers) {
  constexpr std::int64_t depth = 5, leaves = 1 << depth;
  std::vector<TreeNode> nodes;
  std::vector<VoteRow> votes;
  for (std::int64_t i = 1; i < leaves; ++i) {  // node i has children 2 i and 2 i + 1
    const auto level = std::bit_width(static_cast<std::uint64_t>(i)) - 1;
    const std::int64_t width = leaves >> level, first = (i - (std::int64_t{1} << level)) * width;
    nodes.push_back({0, i, "BRANCH_LT", 0, static_cast<float>(first + width / 2), 2 * i, 2 * i + 1});
  }
  for (std::int64_t i = leaves; i < 2 * leaves; ++i) {
    nodes.push_back({0, i});
    votes.push_back({0, i, 0, static_cast<float>(i - leaves)});
  }
  Floats x, floors, floors_and_one;
  for (int n = 0; n < 37; ++n) {
    x.push_back(0.85F * static_cast<float>(n));
    floors.push_back(std::floor(x.back()));
    floors_and_one.push_back(floors.back() + 1);
  }
  const Shape shape{static_cast<std::int64_t>(x.size()), 1};
  std::vector<TreeNode> with_leaf = nodes;
  std::vector<VoteRow> votes_with_leaf = votes;
  with_leaf.push_back({1, 0});
  votes_with_leaf.push_back({1, 0, 0, 1});
  check_rows({regression("complete", 3, Tensor::from<float>(shape, x), regressor(nodes, votes),
                         Tensor::from<float>(shape, floors)),
              regression("and a leaf", 3, Tensor::from<float>(shape, x),
                         regressor(with_leaf, votes_with_leaf), Tensor::from<float>(shape, floors_and_one))});
}

TEST(TreeEnsembleRegressor, EveryMode) {
  const std::vector<VoteRow> votes{{0, 1, 0, 1}, {0, 2, 0, 0}};
  const Tensor x = make<float>({4, 1}, {-1, 0, 1, nan});
  const auto row = [&](const char* mode, std::int64_t tracks, const std::vector<double>& y) {
    return regression(mode, 3, x, regressor(stump(0, mode, 0, tracks), votes), make<float>({4, 1}, y));
  };
  // A NaN goes where the node says, also where the comparison with it would hold.
  check_rows({
      row("BRANCH_LEQ", 0, {1, 1, 0, 0}),
      row("BRANCH_LEQ", 1, {1, 1, 0, 1}),
      row("BRANCH_LT", 0, {1, 0, 0, 0}),
      row("BRANCH_LT", 1, {1, 0, 0, 1}),
      row("BRANCH_GTE", 0, {0, 1, 1, 0}),
      row("BRANCH_GTE", 1, {0, 1, 1, 1}),
      row("BRANCH_GT", 0, {0, 0, 1, 0}),
      row("BRANCH_GT", 1, {0, 0, 1, 1}),
      row("BRANCH_EQ", 0, {0, 1, 0, 0}),
      row("BRANCH_EQ", 1, {0, 1, 0, 1}),
      row("BRANCH_NEQ", 0, {1, 0, 1, 0}),
      row("BRANCH_NEQ", 1, {1, 0, 1, 1}),
  });
}

TEST(TreeEnsembleRegressor, Precision) {
  const std::vector<VoteRow> votes{{0, 1, 0, 1}, {0, 2, 0, 0}};
  const Tensor large =
      Tensor::from<std::int64_t>(Shape{2, 1}, Ints{(std::int64_t{1} << 53) + 1, std::int64_t{1} << 53});
  const Tensor tenth = make<double>({1, 1}, {static_cast<double>(0.1F)});  // a little above 0.1
  const std::vector<TreeNode> three{{0, 0}, {1, 0}, {2, 0}};
  const std::vector<VoteRow> cancelling{{0, 0, 0, 1e8F}, {1, 0, 0, 1}, {2, 0, 0, -1e8F}};
  const Attributes split_in_double{without("nodes_values"),
                                   attr("nodes_values_as_tensor", vec<double>({0.1, 0, 0}))};
  const Attributes weights_in_double{without("target_weights"),
                                     attr("target_weights_as_tensor", vec<double>({1e8, 1, -1e8}))};
  check_rows({
      regression("integers beyond a double's", 1, large, regressor(stump(0, "BRANCH_LEQ", 0x1p53F), votes),
                 make<float>({2, 1}, {0, 1})),
      regression("a split in float", 3, tenth, regressor(stump(0, "BRANCH_LEQ", 0.1F), votes),
                 make<float>({1, 1}, {1})),
      regression("a split in double", 3, tenth, regressor(stump(0), votes, split_in_double),
                 make<float>({1, 1}, {0})),
      regression("a sum in float", 3, make<float>({1, 1}, {0}), regressor(three, cancelling),
                 make<float>({1, 1}, {0})),
      regression("a sum in double for weights in double", 3, make<float>({1, 1}, {0}),
                 regressor(three, cancelling, weights_in_double), make<float>({1, 1}, {1})),
      regression("a sum in double for X in double", 1, vec<double>({0}), regressor(three, cancelling),
                 make<float>({1, 1}, {1})),
  });
}

TEST(TreeEnsembleRegressor, Aggregates) {
  std::vector<TreeNode> nodes = stump(0);
  for (const TreeNode& node : stump(1, "BRANCH_GT", 5)) nodes.push_back(node);
  // At x = 0 tree 0 votes 1 and 5 for target 0 and -2 for target 1, tree 1 votes 3 for target 0.
  const std::vector<VoteRow> votes{{0, 1, 0, 1}, {0, 1, 1, -2}, {0, 1, 0, 5}, {1, 2, 0, 3}};
  const auto row = [&](const char* function, const char* transform, const Floats& base,
                       const std::vector<double>& y) {
    Attributes more{attr("n_targets", 3), attr("aggregate_function", function),
                    attr("post_transform", transform)};
    if (!base.empty()) more.push_back(attr("base_values", base));
    return regression(function, 1, vec<float>({0}), trees(nodes, votes, "target", more),
                      make<float>({1, 3}, y));
  };
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double e = std::exp(1.0);
  check_rows({
      row("SUM", "NONE", {}, {9, -2, 0}),
      row("AVERAGE", "NONE", {}, {4.5, -1, 0}),
      row("MIN", "NONE", {}, {1, -2, 0}),
      row("MAX", "NONE", {}, {5, -2, 0}),
      row("AVERAGE", "NONE", {10, 20, 30}, {14.5, 19, 30}),
      row("MIN", "NONE", {10, 20, 30}, {11, 18, 30}),
      row("MIN", "LOGISTIC", {}, {logistic(1), logistic(-2), 0.5}),
      row("MIN", "SOFTMAX", {0, 3, 0}, {e / (2 * e + 1), e / (2 * e + 1), 1 / (2 * e + 1)}),
      row("MIN", "SOFTMAX_ZERO", {0, 3, 0}, {0.5, 0.5, 0}),
      row("SUM", "PROBIT", {-8.75F, 2.5F, 0.75F}, {-0.6744897501960817, 0, 0.6744897501960817}),
      regression("one target is transformed, too", 1, vec<float>({0}),
                 regressor(stump(0), {{0, 1, 0, 2}}, {attr("post_transform", "LOGISTIC")}),
                 make<float>({1, 1}, {logistic(2)})),
  });
}

OpErrorCase refused(const char* name, Attributes attributes, const char* text, std::int64_t opset = 3) {
  return {name,
          "ai.onnx.ml:TreeEnsembleRegressor",
          opset,
          {make<float>({1, 1}, {0})},
          std::move(attributes),
          ErrorKind::invalid_model,
          text};
}

TEST(TreeEnsembleRegressor, MalformedTrees) {
  const auto tree = [](const char* name, const std::vector<TreeNode>& nodes, const char* text) {
    return refused(name, regressor(nodes, {}), text);
  };
  check_errors({
      tree("a cycle", {{0, 0, "BRANCH_LT", 0, 0, 1, 2}, {0, 1, "BRANCH_LT", 0, 0, 0, 2}, {0, 2}}, "cycle"),
      tree("a cycle apart", {{0, 0}, {0, 1, "BRANCH_LT", 0, 0, 2, 0}, {0, 2, "BRANCH_LT", 0, 0, 1, 0}},
           "cycle"),
      tree("a node its own child", {{0, 0, "BRANCH_LT", 0, 0, 0, 1}, {0, 1}}, "cycle"),
      tree("no such child", {{0, 0, "BRANCH_LT", 0, 0, 1, 7}, {0, 1}}, "child 7"),
      tree("a child of another tree", {{0, 0, "BRANCH_LT", 0, 0, 1, 2}, {0, 1}, {1, 2}}, "child 2"),
      tree("a negative child", {{0, 0, "BRANCH_LT", 0, 0, 1, -1}, {0, 1}}, "child -1"),
      tree("a node twice", {{0, 0}, {0, 0}}, "twice"),
      tree("no node", {}, "nodes_nodeids is empty"),
      tree("a feature too far", {{0, 0, "BRANCH_LT", 1, 0, 1, 2}, {0, 1}, {0, 2}}, "feature 1"),
      tree("a feature below 0", {{0, 0, "BRANCH_LT", -1, 0, 1, 2}, {0, 1}, {0, 2}}, "feature -1"),
      tree("a mode", {{0, 0, "BRANCH_MEMBER", 0, 0, 1, 2}, {0, 1}, {0, 2}}, "BRANCH_MEMBER"),
      refused("a vote at no node", regressor(stump(0), {{0, 3, 0, 1}}), "not listed"),
      refused("a vote in no tree", regressor(stump(0), {{1, 1, 0, 1}}), "not listed"),
      refused("a vote above the leaves", regressor(stump(0), {{0, 0, 0, 1}}), "no leaf"),
      refused("a vote for no target", regressor(stump(0), {{0, 1, 1, 1}}), "[0, 1)"),
      refused("a vote below target 0", regressor(stump(0), {{0, 1, -1, 1}}), "-1"),
  });
}

TEST(TreeEnsembleRegressor, MalformedLists) {
  const auto with = [](const char* name, Attributes more, const char* text, std::int64_t opset = 3) {
    return refused(name, regressor(stump(0), {{0, 1, 0, 1}}, std::move(more)), text, opset);
  };
  const Attributes tensor_weights{without("target_weights"),
                                  attr("target_weights_as_tensor", vec<double>({1}))};
  const Attributes float_tensor{without("target_weights"), attr("target_weights_as_tensor", vec<float>({1}))};
  check_errors({
      with("splits", {attr("nodes_values", Floats{0})}, "nodes_values has 1"),
      with("modes", {attr("nodes_modes", Words{"LEAF"})}, "nodes_modes has 1"),
      with("features", {attr("nodes_featureids", Ints{0})}, "nodes_featureids has 1"),
      with("children", {attr("nodes_truenodeids", Ints{0})}, "nodes_truenodeids has 1"),
      with("other children", {without("nodes_falsenodeids")}, "nodes_falsenodeids has 0"),
      with("tracks", {attr("nodes_missing_value_tracks_true", Ints{1})}, "tracks_true has 1"),
      with("hitrates", {attr("nodes_hitrates", Floats{1})}, "nodes_hitrates has 1"),
      with("no tree ids", {without("nodes_treeids")}, "nodes_treeids has 0"),
      with("weights", {attr("target_weights", Floats{1, 2})}, "target_weights has 2"),
      with("targets", {attr("target_ids", Ints{})}, "target_ids has 0"),
      with("trees of votes", {attr("target_treeids", Ints{0, 0})}, "target_treeids has 2"),
      with("base_values", {attr("base_values", Floats{1, 2})}, "base_values has 2"),
      with("no target", {attr("n_targets", 0)}, "n_targets"),
      with("function", {attr("aggregate_function", "MEAN")}, "MEAN"),
      with("transform", {attr("post_transform", "SIGMOID")}, "SIGMOID"),
      with("a list twice", {attr("target_weights_as_tensor", vec<double>({1}))}, "both given"),
      with("a tensor of float", float_tensor, "target_weights_as_tensor is float, but must be double"),
      with("a tensor in version 1", tensor_weights, "target_weights", 1),
  });
}

}  // namespace
}  // namespace grurun::engine::testing
