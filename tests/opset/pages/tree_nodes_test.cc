// Where nodes of trees stand in the lists that name them.
#include "opset/pages/tree_nodes.h"

#include <gtest/gtest.h>

#include <limits>

namespace grurun::opset {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();

TEST(TreeNodes, AreFoundWhereverTheyAreListed) {
  // Ids that follow each other, with gaps, from any number on; trees in any order, and mixed.
  const std::vector<std::int64_t> trees{7, 7, 7, -2, -2, -2, 7, most, least, least, least};
  const std::vector<std::int64_t> ids{0, 1, 2, 9, -4, 5, 30, 3, most, least, 0};
  const TreeNodes table(trees, ids);
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(table.find(trees[i], ids[i]), i) << i;
  EXPECT_EQ(table.find_twice(), nullptr);
}

TEST(TreeNodes, OfOthersThereAreNone) {
  const std::vector<std::int64_t> trees{1, 1, 1, 3, 3}, ids{0, 1, 4, 2, least};
  const TreeNodes table(trees, ids);
  for (const std::int64_t tree : {least, std::int64_t{0}, std::int64_t{2}, most})
    EXPECT_EQ(table.find(tree, 0), std::nullopt) << tree;
  for (const std::int64_t id :
       {least, std::int64_t{-1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{5}, most})
    EXPECT_EQ(table.find(1, id), std::nullopt) << id;
  for (const std::int64_t id : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{3}, most})
    EXPECT_EQ(table.find(3, id), std::nullopt) << id;
  EXPECT_EQ(TreeNodes({}, {}).find(0, 0), std::nullopt);
}

TEST(TreeNodes, ThatAreListedTwiceAreTold) {
  const std::vector<std::int64_t> trees{1, 2, 1}, ids{5, 5, 5};
  const TreeNodes table(trees, ids);
  ASSERT_NE(table.find_twice(), nullptr);
  EXPECT_EQ(table.find_twice()->tree, 1);
  EXPECT_EQ(table.find_twice()->id, 5);
}

}  // namespace
}  // namespace grurun::opset
