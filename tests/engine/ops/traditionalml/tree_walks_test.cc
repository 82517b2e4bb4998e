// Walks that are taken together come to the leaves that each comes to alone.
#include "engine/ops/traditionalml/tree_walks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/ops/traditionalml/drawn_forest.h"

namespace grurun::engine::testing {
namespace {

TEST(TreeWalks, ComeToTheLeavesThatEachComesToAlone) {
  const DrawnForest drawn({1, 2, 300, 3, 40, 700});
  const std::vector<float> x = drawn_rows(most_walks * drawn_features);
  const auto next = [](const Branch<float>& node, float value) {
    return node.next[value <= node.at ? 1 : 0];
  };
  const std::vector<Branch<float>> nodes = drawn.with_leaves();
  for (const std::size_t rows : {1, 2, 3, 4, 5, 15, 16, 17, 20, 39, 64, 256}) {
    const std::size_t trees = std::min(drawn.roots.size(), most_walks / rows);
    for (std::size_t first = 0; first + trees <= drawn.roots.size(); ++first) {
      const Walks<float> walks{x.data(), drawn_features, rows,
                               std::span<const std::uint32_t>(drawn.roots).subspan(first, trees)};
      for (const std::size_t mean_depth : {0, 1, 9, 1000}) {
        std::uint32_t leaves[most_walks];
        walk_all<float>(nodes.data(), drawn.branches, mean_depth, walks, leaves, next);
        for (std::size_t i = 0; i < walks.count(); ++i) {
          ASSERT_EQ(leaves[i], drawn.walk(walks.roots[i / rows], &x[i % rows * drawn_features], false))
              << i << " of " << rows << " rows and " << trees << " trees, " << mean_depth;
        }
      }
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
