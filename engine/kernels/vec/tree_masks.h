// The leaves that rows come to in a small tree, by asking every node instead of walking.
#pragma once

#include <cstddef>
#include <cstdint>

namespace grurun::kernels {

/// The leaves of a tree are bits of some words, those behind where a node's test does not hold before those
/// behind where it holds. Where it holds of a row, the row passes by the former. Of all leaves that no node
/// passes by, the first is where the row comes to: those before it stand behind a node on the way that the
/// row passed by.
struct MaskNode {
  float at;
  std::uint32_t feature;
  std::uint32_t passed;  // of a word; a node has one of these for each word where it passes by leaves
};

struct MaskTree {
  const MaskNode* nodes;
  const std::uint32_t* ends;  // [words]: the nodes of a word end there, and those of the next one begin
  std::size_t words;
  bool nan_holds;  // the test is !(x > at), and not x <= at
};

/// leaves[row] = number of the leaf that each row comes to. x [features, x_step], leaves [x_step]: whole
/// vectors are touched of both, and x_step is a multiple of mask_tree_step.
void find_leaves(const MaskTree& tree, const float* x, std::ptrdiff_t x_step, std::size_t rows,
                 std::uint32_t* leaves);
inline constexpr std::size_t mask_tree_step = 16;  // the widest vector

/// Rows that find_leaves takes together.
std::size_t mask_tree_lanes();

}  // namespace grurun::kernels
