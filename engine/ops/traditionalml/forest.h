// Decision trees, as TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor run them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace grurun::engine {

class CompactForests;
class RunContext;

/// The comparison of a feature with a node's split. The first seven are numbered as TreeEnsemble-5 numbers
/// them.
enum class NodeMode : std::uint8_t {
  leq = 0,
  lt = 1,
  gte = 2,
  gt = 3,
  eq = 4,
  neq = 5,
  member = 6,
  leaf = 7,
};

struct TreeNode {
  NodeMode mode = NodeMode::leaf;
  bool missing_tracks_true = false;  // which way a NaN goes
  std::int64_t feature = 0;
  double split = 0;
  std::size_t true_child = 0;  // positions in Forest::nodes
  std::size_t false_child = 0;
  /// A range of Forest::votes for a leaf, of Forest::members for mode member.
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// What a leaf adds to a target, or class.
struct Vote {
  std::size_t target;
  double weight;
};

/// How the votes for a target become one number. Numbered as TreeEnsemble-5 numbers them.
enum class Aggregate { average = 0, sum = 1, min = 2, max = 3 };

/// Does not change once it runs; copies share what the first run makes of it.
struct Forest {
  Forest();

  std::vector<TreeNode> nodes;     // every child is a position in it, and no path leads back
  std::vector<std::size_t> roots;  // one for each tree
  std::vector<Vote> votes;
  std::vector<double> members;  // sorted within each node's range
  std::size_t targets = 0;      // every vote's is below
  bool in_double = false;       // votes are added up in double, as for X in double

  using FinishRow = std::function<void(std::int64_t row, std::span<double> scores)>;

  /// Walks the trees for each row of X and calls finish with the row's aggregated votes [targets]; average
  /// divides by the number of trees, and a target without a vote has 0. finish is called for rows in any
  /// order, from several threads. Throws Error(invalid_model) when a node asks for a feature that X does not
  /// have.
  void run(const Tensor& x, Aggregate aggregate, RunContext& context, const FinishRow& finish) const;

 private:
  std::shared_ptr<CompactForests> compact_;
};

}  // namespace grurun::engine
