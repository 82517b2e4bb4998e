// The nodes of a forest as walks read them: few bytes each, one comparison for all modes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "engine/ops/traditionalml/forest.h"
#include "engine/ops/traditionalml/mask_forest.h"
#include "engine/ops/traditionalml/tree_walks.h"
#include "tensor/dtype.h"

namespace grurun::engine {

/// Features are compared as numbers of a type C that holds them, and every split is brought to C so that no
/// comparison changes: x <= 0.1 of floats is x <= the greatest float up to 0.1. A range of C says all modes
/// but member: below a split, from it on (what is outside of what is below), or at it. Leaves are nodes, too,
/// behind all that branch: from one of them a walk goes to itself.

/// A node that sends x to next[1] where a test, the same for all nodes of the forest, holds of it and `at`.
template <typename C>
struct Branch {
  C at;
  std::uint32_t feature;
  std::uint32_t next[2];
};

/// A node of any mode: next[0] outside of the range, next[1] within, next[2] for NaN. `set`, if not 0, is one
/// more than the place of the set of members that takes the range's place.
template <typename C>
struct RangeBranch {
  C least, most;
  std::uint32_t feature;
  std::uint32_t next[3];
  std::uint32_t set;
};

/// The members of a node's set, sorted. If `bits` is not 0, they are integers from the first on, of which it
/// has a bit each.
struct MemberSet {
  std::vector<double> members;
  std::uint64_t bits = 0;

  explicit MemberSet(std::span<const double> sorted);
  bool holds(double x) const;
};

/// A leaf's votes among those of the forest.
struct VoteRange {
  std::uint32_t begin, end;
};

template <typename C>
class CompactForest {
 public:
  /// Throws Error(unsupported) for more nodes, votes or features than 32 bits count.
  explicit CompactForest(const Forest& forest);

  std::span<const std::uint32_t> roots() const { return roots_; }
  std::span<const VoteRange> leaves() const { return leaves_; }

  /// The vote of each leaf, where each has one; else nothing.
  std::span<const Vote> only_votes() const { return only_votes_; }

  /// Whether every node asks for one of so many features.
  bool fits(std::int64_t width) const { return least_feature_ >= 0 && most_feature_ < width; }

  /// Whether rows that hold no NaN come to their leaves in less time than any.
  bool is_faster_without_nan() const { return test_ == Test::range && !plain_.empty(); }

  /// The same forest for rows that ask all nodes, for floats and trees of few leaves; without trees where
  /// that is not possible. `no_nan`: no feature of theirs is NaN.
  const MaskForest& masks(bool no_nan) const {
    static const MaskForest none;
    return no_nan || test_ != Test::range ? masks_ : none;
  }

  /// leaves[i] = number of the leaf that walk i comes to, as they stand among the nodes. The rows must fit.
  /// `no_nan`: no feature of theirs is NaN.
  template <typename T>
  void walk(const Walks<T>& walks, bool no_nan, std::uint32_t* leaves) const;

 private:
  /// What holds of x and a Branch's number; for nodes of any mode, `range`.
  enum class Test : std::uint8_t { up_to, not_above, equal, equal_or_nan, range };

  void add(const Forest& forest, const TreeNode& node, const std::vector<std::uint32_t>& places);
  void add_leaf(const TreeNode& node);
  bool is_said_by(Test test, bool no_nan, const RangeBranch<C>& node) const;
  void make_plain();
  template <Test test, typename T>
  void walk_by(const Walks<T>& walks, std::uint32_t* leaves) const;

  Test test_ = Test::range, test_without_nan_ = Test::range;
  std::uint32_t branches_ = 0;  // the leaves' nodes are those behind
  std::size_t mean_depth_;      // of the leaves, in steps from the root
  std::int64_t least_feature_ = 0, most_feature_ = -1;
  std::vector<std::uint32_t> roots_;
  std::vector<VoteRange> leaves_;
  std::vector<Branch<C>> plain_;        // for tests other than `range`
  std::vector<RangeBranch<C>> ranges_;  // where that is the test of rows with NaN
  std::vector<MemberSet> sets_;
  std::vector<Vote> only_votes_;
  MaskForest masks_;
};

/// The type that features of type T are compared in.
template <typename T>
struct ComparedAs {
  using type = T;
};
template <>
struct ComparedAs<Float16> {
  using type = float;
};
template <>
struct ComparedAs<std::int32_t> {
  using type = double;
};

/// A forest's compact nodes for each type, made when they are first asked for.
class CompactForests {
 public:
  template <typename C>
  const CompactForest<C>& of(const Forest& forest);

 private:
  template <typename C>
  struct Made {
    std::once_flag once;
    std::optional<CompactForest<C>> forest;
  };
  std::tuple<Made<float>, Made<double>, Made<std::int64_t>> made_;
};

}  // namespace grurun::engine
