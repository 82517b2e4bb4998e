// Rows that ask all nodes of a tree come to the leaves that they would walk to.
#include "engine/ops/traditionalml/mask_forest.h"

#include <algorithm>
#include <map>

#include "engine/ops/traditionalml/compact_forest.h"
#include "tests/engine/kernels/target_fixture.h"
#include "tests/engine/ops/traditionalml/classic_trees.h"
#include "tests/engine/ops/traditionalml/drawn_forest.h"

namespace grurun::engine::testing {
namespace {

class MaskForestOnTargets : public kernels::EveryTarget {};
GRURUN_FOR_EVERY_TARGET(MaskForestOnTargets);

TEST_P(MaskForestOnTargets, RowsComeToTheLeavesThatTheyWalkTo) {
  const DrawnForest drawn({1, 2, 3, 15, 31, 32, 33, 50, 64, 65, 96, 161, 192});
  const std::vector<float> x = drawn_rows(MaskRows::most * drawn_features);
  for (const bool nan_holds : {false, true}) {
    const MaskForest forest(drawn.nodes, drawn.branches, drawn.roots, nan_holds);
    ASSERT_EQ(forest.trees(), drawn.roots.size());
    for (const std::size_t rows : {1, 3, 8, 16, 17, 50, 64}) {
      const MaskRows features(x.data(), drawn_features, rows, forest.features());
      for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
        std::uint32_t leaves[MaskRows::most];
        forest.find_leaves(tree, features, leaves);
        for (std::size_t row = 0; row < rows; ++row) {
          EXPECT_EQ(leaves[row], drawn.walk(drawn.roots[tree], &x[row * drawn_features], nan_holds))
              << tree << ", " << row << " of " << rows;
        }
      }
    }
  }
}

TEST(MaskForest, IsOfTreesWithSoManyLeavesAtMost) {
  const auto trees_of = [](const std::vector<int>& leaves) {
    const DrawnForest drawn(leaves);
    return MaskForest(drawn.nodes, drawn.branches, drawn.roots, false).trees();
  };
  constexpr int most = MaskForest::most_leaves;
  EXPECT_EQ(trees_of({most, 5}), 2u);
  EXPECT_EQ(trees_of({5, most + 1}), 0u);
  // Where nodes share children, leaves are counted as often as ways lead there: 2^40 here.
  std::vector<Branch<float>> shared;
  for (std::uint32_t i = 0; i < 40; ++i) shared.push_back({0, 0, {i + 1, i + 1}});
  const std::uint32_t root = 0;
  EXPECT_EQ(MaskForest(shared, 40, {&root, 1}, false).trees(), 0u);
}

TEST(MaskForest, IsTakenForManyRowsOnly) {
  const DrawnForest drawn({31, 31, 31});
  const MaskForest forest(drawn.nodes, drawn.branches, drawn.roots, false);
  EXPECT_FALSE(forest.is_faster_for(1));
  EXPECT_EQ(forest.is_faster_for(64), kernels::mask_tree_lanes() > 1);
  EXPECT_FALSE(MaskForest().is_faster_for(64));
}

/// The outputs of a regressor of these trees, whose leaf i votes i / 8 for target i % 3, and, if there are
/// others, -1 for the next target.
std::vector<float> expected_of_trees(const DrawnForest& drawn, const std::vector<float>& x, bool others,
                                     bool least) {
  std::vector<float> y;
  for (std::size_t row = 0; row * drawn_features < x.size(); ++row) {
    std::map<std::uint32_t, std::vector<float>> votes;
    for (const std::uint32_t root : drawn.roots) {
      const std::uint32_t leaf = drawn.walk(root, &x[row * drawn_features], false);
      votes[leaf % 3].push_back(0.125F * static_cast<float>(leaf));
      if (others) votes[(leaf + 1) % 3].push_back(-1);
    }
    for (std::uint32_t target = 0; target < 3; ++target) {
      const std::vector<float>& of = votes[target];
      float sum = 0;
      for (const float vote : of) sum += vote;
      y.push_back(least && !of.empty() ? *std::ranges::min_element(of) : sum);
    }
  }
  return y;
}

TEST(MaskForest, OutputsAreThoseOfWalks) {
  for (const int largest : {20, 60, 150, 290}) {  // the last ones have too many leaves
    const DrawnForest drawn({largest, 9, largest - 5, 1, 2});
    std::vector<TreeNode> nodes;
    for (std::size_t tree = 0; tree < drawn.roots.size(); ++tree) {
      std::vector<std::uint32_t> ahead{drawn.roots[tree]};
      while (!ahead.empty()) {
        const std::uint32_t place = ahead.back();
        ahead.pop_back();
        const auto of_tree = static_cast<std::int64_t>(tree);
        if (place >= drawn.branches) {
          nodes.push_back({of_tree, place});
          continue;
        }
        const Branch<float>& branch = drawn.nodes[place];
        nodes.push_back(
            {of_tree, place, "BRANCH_LEQ", branch.feature, branch.at, branch.next[1], branch.next[0]});
        ahead.insert(ahead.end(), {branch.next[1], branch.next[0]});
      }
    }
    // The first node of a tree is its root.
    const std::vector<float> x = drawn_rows(150 * drawn_features);
    for (const bool others : {false, true}) {
      std::vector<VoteRow> votes;
      for (const TreeNode& node : nodes) {
        if (node.id < drawn.branches) continue;
        const std::int64_t leaf = node.id - drawn.branches;
        votes.push_back({node.tree, node.id, leaf % 3, 0.125F * static_cast<float>(leaf)});
        if (others) votes.push_back({node.tree, node.id, (leaf + 1) % 3, -1});
      }
      for (const bool least : {false, true}) {
        const std::vector<float> y = expected_of_trees(drawn, x, others, least);
        check_rows({{"a forest",
                     "ai.onnx.ml:TreeEnsembleRegressor",
                     1,
                     {Tensor::from<float>(Shape{150, drawn_features}, x)},
                     trees(nodes, votes, "target",
                           {attr("n_targets", 3), attr("aggregate_function", least ? "MIN" : "SUM")}),
                     {Tensor::from<float>(Shape{150, 3}, y)}}});
      }
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
