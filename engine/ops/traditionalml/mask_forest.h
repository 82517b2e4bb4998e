// Forests of small trees, of which many rows ask every node at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/kernels/vec/tree_masks.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

template <typename C>
struct Branch;

/// The features of some rows, of those that a forest asks for.
class MaskRows {
 public:
  static constexpr std::size_t most = 64;

  /// x of up to `most` rows, row_step apart; of each the given features.
  template <typename T>
  MaskRows(const T* x, std::ptrdiff_t row_step, std::size_t rows, std::span<const std::uint32_t> features)
      : rows_(rows), values_(features.size() * most, 0.0F) {
    for (std::size_t f = 0; f < features.size(); ++f) {
      float* const of_feature = values_.data() + f * most;
      const T* from = x + features[f];
      for (std::size_t row = 0; row < rows; ++row, from += row_step)
        of_feature[row] = static_cast<float>(*from);
    }
  }

  std::size_t count() const { return rows_; }
  const float* values() const { return values_.data(); }  // [features, most]

 private:
  std::size_t rows_;
  ScratchVector<float> values_;
};

class MaskForest {
 public:
  static constexpr std::size_t most_leaves = 192;  // of a tree: beyond, walks take about as long

  /// Without trees: where one has more leaves.
  MaskForest() = default;

  /// Of nodes as CompactForest has them, those from `branches` on being leaves. nan_holds: as of MaskTree.
  MaskForest(std::span<const Branch<float>> nodes, std::uint32_t branches,
             std::span<const std::uint32_t> roots, bool nan_holds);

  /// Whether so many rows ask all nodes in less time than they walk.
  bool is_faster_for(std::size_t rows) const;

  std::size_t trees() const { return trees_.size(); }
  std::span<const std::uint32_t> features() const { return features_; }  // that nodes ask for

  /// leaves[row] = number of the leaf, as they stand among the nodes, that each row comes to in a tree.
  /// leaves [MaskRows::most].
  void find_leaves(std::size_t tree, const MaskRows& rows, std::uint32_t* leaves) const;

 private:
  struct Tree {
    std::size_t first_node, first_word, words, first_leaf;
  };

  bool add_tree(std::span<const Branch<float>> nodes, std::uint32_t branches, std::uint32_t root);

  bool nan_holds_ = false;
  double walk_cost_ = 0, vector_cost_ = 0;  // in cycles: of a row, and of a vector of rows
  std::vector<Tree> trees_;
  std::vector<kernels::MaskNode> nodes_;  // whose features are places in features_
  std::vector<std::uint32_t> ends_;       // as of MaskTree, for the words of each tree
  std::vector<std::uint32_t> leaves_;     // of each tree's bits the leaves' numbers
  std::vector<std::uint32_t> features_;
};

}  // namespace grurun::engine
