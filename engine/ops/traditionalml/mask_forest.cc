#include "engine/ops/traditionalml/mask_forest.h"

#include <algorithm>

#include "engine/ops/traditionalml/compact_forest.h"

namespace grurun::engine {

namespace {

constexpr std::size_t bits = 32;  // of a word

/// Those of a word that are from `begin` on, before `end`.
std::uint32_t bits_of(std::size_t word, std::size_t begin, std::size_t end) {
  const auto below = [&](std::size_t place) {
    const std::size_t count = std::clamp(place, word * bits, (word + 1) * bits) - word * bits;
    return static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
  };
  return below(end) & ~below(begin);
}

}  // namespace

MaskForest::MaskForest(std::span<const Branch<float>> nodes, std::uint32_t branches,
                       std::span<const std::uint32_t> roots, bool nan_holds)
    : nan_holds_(nan_holds) {
  for (const std::uint32_t root : roots) {
    if (!add_tree(nodes, branches, root)) {
      *this = {};
      return;
    }
  }
  for (const kernels::MaskNode& node : nodes_) features_.push_back(node.feature);
  std::ranges::sort(features_);
  features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
  for (kernels::MaskNode& node : nodes_) {
    const auto place = std::ranges::lower_bound(features_, node.feature) - features_.begin();
    node.feature = static_cast<std::uint32_t>(place);
  }
}

/// False where the tree has too many leaves; a child that nodes share counts for each.
bool MaskForest::add_tree(std::span<const Branch<float>> nodes, std::uint32_t branches, std::uint32_t root) {
  /// A node, and the leaves that are behind its next[0].
  struct Passed {
    const Branch<float>* node;
    std::size_t begin, end;
  };
  /// A child still to be gone down to, and the place of the node that it is next[1] of, if it is.
  struct Child {
    std::uint32_t node;
    std::ptrdiff_t after;
    std::size_t depth;
  };
  std::vector<Passed> passed;
  std::vector<Child> ahead{{root, -1, 0}};
  std::size_t leaves = 0, depths = 0;
  const Tree tree{nodes_.size(), ends_.size(), 0, leaves_.size()};
  while (!ahead.empty()) {
    const Child child = ahead.back();
    ahead.pop_back();
    if (child.after >= 0) passed[static_cast<std::size_t>(child.after)].end = leaves;
    if (child.node >= branches) {
      if (++leaves > most_leaves) return false;
      leaves_.push_back(child.node - branches);
      depths += child.depth;
      continue;
    }
    const Branch<float>& branch = nodes[child.node];
    ahead.push_back({branch.next[1], static_cast<std::ptrdiff_t>(passed.size()), child.depth + 1});
    ahead.push_back({branch.next[0], -1, child.depth + 1});
    passed.push_back({&branch, leaves, 0});
  }
  for (std::size_t word = 0; word * bits < leaves; ++word) {
    for (const Passed& of : passed) {
      const std::uint32_t mask = bits_of(word, of.begin, of.end);
      if (mask != 0) nodes_.push_back({of.node->at, of.node->feature, mask});
    }
    ends_.push_back(static_cast<std::uint32_t>(nodes_.size() - tree.first_node));
  }
  trees_.push_back(tree);
  trees_.back().words = ends_.size() - tree.first_word;
  // As measured on an EPYC (Zen 4).
  constexpr double of_step = 3.5, of_walk = 4, of_node = 3, of_word = 10, of_tree = 50;
  walk_cost_ += of_walk + of_step * static_cast<double>(depths) / static_cast<double>(leaves);
  vector_cost_ += of_tree + of_word * static_cast<double>(trees_.back().words) +
                  of_node * static_cast<double>(nodes_.size() - tree.first_node);
  return true;
}

bool MaskForest::is_faster_for(std::size_t rows) const {
  constexpr double of_four = 2.2;  // vectors that go together take as long as so many that do not
  const std::size_t lanes = kernels::mask_tree_lanes(), vectors = (rows + lanes - 1) / lanes;
  const double cost =
      (of_four * static_cast<double>(vectors / 4) + static_cast<double>(vectors % 4)) * vector_cost_;
  return !trees_.empty() && cost < static_cast<double>(rows) * walk_cost_;
}

void MaskForest::find_leaves(std::size_t tree, const MaskRows& rows, std::uint32_t* leaves) const {
  static_assert(MaskRows::most % kernels::mask_tree_step == 0);
  const Tree& of = trees_[tree];
  kernels::find_leaves({nodes_.data() + of.first_node, ends_.data() + of.first_word, of.words, nan_holds_},
                       rows.values(), MaskRows::most, rows.count(), leaves);
  const std::uint32_t* const numbers = leaves_.data() + of.first_leaf;
  for (std::size_t row = 0; row < rows.count(); ++row) leaves[row] = numbers[leaves[row]];
}

}  // namespace grurun::engine
