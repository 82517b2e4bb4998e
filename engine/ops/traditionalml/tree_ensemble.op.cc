// TreeEnsemble (ai.onnx.ml 5).
//
// Y [N, n_targets] = post_transform(aggregate over the trees of the weight of the leaf that a row of X [N, F]
// comes to, for the leaf's target). nodes_* describe the nodes that branch, leaf_* the leaves;
// nodes_trueleafs and nodes_falseleafs say which of the two a child is. float16 is added up in float.
#include <algorithm>
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/traditionalml/forest.h"
#include "engine/ops/traditionalml/post_transform.h"

namespace grurun::engine {

namespace {

using Reals = std::vector<double>;

/// A required or optional attribute that is a list in a tensor; `dtype` says of which elements, and receives
/// it where it is still open.
std::optional<Tensor> read_list(PrepareContext& node, const char* name, DType* dtype) {
  const std::optional<Tensor> tensor = node.tensor_attribute(name);
  if (!tensor) return std::nullopt;
  if (tensor->rank() != 1)
    fail_invalid("{} must be a list, but has shape {}", name, tensor->shape().to_string());
  if (*dtype == DType::undefined) *dtype = tensor->dtype();
  if (tensor->dtype() != *dtype) {
    fail_invalid("{} is {}, but must be {}", name, dtype_name(tensor->dtype()), dtype_name(*dtype));
  }
  return tensor;
}

Tensor require_list(PrepareContext& node, const char* name, DType* dtype) {
  if (auto tensor = read_list(node, name, dtype)) return *tensor;
  fail_invalid("TreeEnsemble-5 needs the attribute '{}'", name);
}

Reals reals(const Tensor& tensor) {
  const Tensor wide = cast_tensor(tensor, DType::float64);
  const std::span<const double> values = wide.span<double>();
  return {values.begin(), values.end()};
}

std::vector<std::int64_t> require_ints(PrepareContext& node, const char* name, std::size_t length) {
  if (!node.has_attribute(name)) fail_invalid("TreeEnsemble-5 needs the attribute '{}'", name);
  std::vector<std::int64_t> values = node.ints_attribute(name);
  if (values.size() != length) {
    fail_invalid("{} has {} values, but nodes_splits has {}: they must be as long", name, values.size(),
                 length);
  }
  return values;
}

class TreeReader {
 public:
  explicit TreeReader(PrepareContext& node) : node_(node) {}

  /// The element type of nodes_splits, leaf_weights and membership_values, which must be X's.
  DType dtype() const { return dtype_; }

  Forest read(std::size_t targets);

 private:
  std::size_t child(std::size_t parent, const char* which, std::int64_t id, std::int64_t is_leaf) const;
  void add_nodes();
  void add_members();
  void add_leaves();
  void add_roots();

  PrepareContext& node_;
  DType dtype_ = DType::undefined;
  std::size_t node_count_ = 0;
  std::size_t leaf_count_ = 0;
  Forest forest_;
};

Forest TreeReader::read(std::size_t targets) {
  forest_.targets = targets;
  const Reals splits = reals(require_list(node_, "nodes_splits", &dtype_));
  if (dtype_ != DType::float32 && dtype_ != DType::float64 && dtype_ != DType::float16) {
    fail_invalid("nodes_splits is {}, but must be float, double or float16", dtype_name(dtype_));
  }
  forest_.in_double = dtype_ == DType::float64;
  node_count_ = splits.size();
  leaf_count_ = static_cast<std::size_t>(require_list(node_, "leaf_weights", &dtype_).size());
  forest_.nodes.resize(node_count_ + leaf_count_);
  for (std::size_t i = 0; i < node_count_; ++i) forest_.nodes[i].split = splits[i];
  add_nodes();
  add_members();
  add_leaves();
  if (const auto at = forest_.find_cycle()) {
    fail_invalid("node {} is reached from itself: a tree must not hold a cycle", *at);
  }
  add_roots();
  return std::move(forest_);
}

// Leaves stand after the nodes.
std::size_t TreeReader::child(std::size_t parent, const char* which, std::int64_t id,
                              std::int64_t is_leaf) const {
  const std::size_t limit = is_leaf != 0 ? leaf_count_ : node_count_;
  if (id < 0 || static_cast<std::size_t>(id) >= limit) {
    fail_invalid("nodes_{}nodeids of node {} is {}, but there are {} {}", which, parent, id, limit,
                 is_leaf != 0 ? "leaves" : "nodes");
  }
  return static_cast<std::size_t>(id) + (is_leaf != 0 ? node_count_ : 0);
}

void TreeReader::add_nodes() {
  DType byte = DType::uint8;
  const Tensor modes = require_list(node_, "nodes_modes", &byte);
  if (static_cast<std::size_t>(modes.size()) != node_count_) {
    fail_invalid("nodes_modes has {} values, but nodes_splits has {}", modes.size(), node_count_);
  }
  DType any = DType::undefined;
  const std::optional<Tensor> hitrates = read_list(node_, "nodes_hitrates", &any);  // changes no result
  if (hitrates && static_cast<std::size_t>(hitrates->size()) != node_count_) {
    fail_invalid("nodes_hitrates has {} values, but nodes_splits has {}", hitrates->size(), node_count_);
  }
  const auto features = require_ints(node_, "nodes_featureids", node_count_);
  const auto true_ids = require_ints(node_, "nodes_truenodeids", node_count_);
  const auto false_ids = require_ints(node_, "nodes_falsenodeids", node_count_);
  const auto true_leafs = require_ints(node_, "nodes_trueleafs", node_count_);
  const auto false_leafs = require_ints(node_, "nodes_falseleafs", node_count_);
  std::vector<std::int64_t> tracks(node_count_, 0);
  if (!node_.ints_attribute("nodes_missing_value_tracks_true").empty()) {
    tracks = require_ints(node_, "nodes_missing_value_tracks_true", node_count_);
  }
  for (std::size_t i = 0; i < node_count_; ++i) {
    TreeNode& node = forest_.nodes[i];
    const std::uint8_t mode = modes.data<std::uint8_t>()[i];
    if (mode > static_cast<std::uint8_t>(NodeMode::member)) {
      fail_invalid("nodes_modes holds {}, but must lie in [0, 6]", mode);
    }
    node.mode = static_cast<NodeMode>(mode);
    node.missing_tracks_true = tracks[i] != 0;
    node.feature = features[i];
    node.true_child = child(i, "true", true_ids[i], true_leafs[i]);
    node.false_child = child(i, "false", false_ids[i], false_leafs[i]);
  }
}

// "List all of the members to test again in the order that the 'BRANCH_MEMBER' mode appears in `node_modes`,
// delimited by `NaN`s": one set a node, whether or not a NaN follows the last.
void TreeReader::add_members() {
  std::vector<Reals> sets;
  if (const std::optional<Tensor> members = read_list(node_, "membership_values", &dtype_)) {
    bool open = false;
    for (const double value : reals(*members)) {
      if (!open) sets.emplace_back();
      open = !std::isnan(value);
      if (open) sets.back().push_back(value);
    }
  }
  std::size_t used = 0;
  for (std::size_t i = 0; i < node_count_; ++i) {
    TreeNode& node = forest_.nodes[i];
    if (node.mode != NodeMode::member) continue;
    if (used == sets.size()) {
      fail_invalid("membership_values has {} sets, but more nodes have mode BRANCH_MEMBER", sets.size());
    }
    Reals& set = sets[used++];
    std::ranges::sort(set);
    node.begin = forest_.members.size();
    forest_.members.insert(forest_.members.end(), set.begin(), set.end());
    node.end = forest_.members.size();
  }
  if (used != sets.size()) {
    fail_invalid("membership_values has {} sets, but only {} nodes have mode BRANCH_MEMBER", sets.size(),
                 used);
  }
}

void TreeReader::add_leaves() {
  const Reals weights = reals(require_list(node_, "leaf_weights", &dtype_));
  const std::vector<std::int64_t> targets = node_.ints_attribute("leaf_targetids");
  if (targets.size() != leaf_count_) {
    fail_invalid("leaf_targetids has {} values, but leaf_weights has {}", targets.size(), leaf_count_);
  }
  for (std::size_t i = 0; i < leaf_count_; ++i) {
    if (targets[i] < 0 || static_cast<std::size_t>(targets[i]) >= forest_.targets) {
      fail_invalid("leaf_targetids holds {}, but must lie in [0, {})", targets[i], forest_.targets);
    }
    forest_.votes.push_back({static_cast<std::size_t>(targets[i]), weights[i]});
    TreeNode& leaf = forest_.nodes[node_count_ + i];
    leaf.begin = i;
    leaf.end = i + 1;
  }
}

// A tree of one leaf is a node "with true and false branches referencing the same leaf": what it compares
// does not matter, so the leaf is the root.
void TreeReader::add_roots() {
  for (const std::int64_t root : node_.ints_attribute("tree_roots")) {
    if (root < 0 || static_cast<std::size_t>(root) >= node_count_) {
      fail_invalid("tree_roots holds {}, but there are {} nodes", root, node_count_);
    }
    forest_.roots.push_back(static_cast<std::size_t>(root));
  }
  if (forest_.roots.empty()) fail_invalid("tree_roots is empty, but an ensemble has at least one tree");
  for (std::size_t i = 0; i < node_count_; ++i) {
    TreeNode& node = forest_.nodes[i];
    if (node.true_child != node.false_child || node.true_child < node_count_) continue;
    node = forest_.nodes[node.true_child];
  }
}

Aggregate read_aggregate(PrepareContext& node) {
  const std::int64_t number = node.int_attribute("aggregate_function", 1);
  if (number < 0 || number > 3) fail_invalid("aggregate_function is {}, but must lie in [0, 3]", number);
  return static_cast<Aggregate>(number);
}

RunFunction prepare_tree_ensemble(PrepareContext& node) {
  const std::int64_t targets = node.int_attribute("n_targets");
  if (targets < 1) fail_invalid("n_targets is {}, but must be at least 1", targets);
  const Aggregate aggregate = read_aggregate(node);
  const PostTransform transform = post_transform_from(node.int_attribute("post_transform", 0));
  TreeReader reader(node);
  const Forest forest = reader.read(static_cast<std::size_t>(targets));
  return [forest, aggregate, transform, targets, dtype = reader.dtype()](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.rank() != 2) fail_invalid("X must be [N,F], but has shape {}", x.shape().to_string());
    if (x.dtype() != dtype) {
      fail_invalid("X is {}, but nodes_splits is {}: they must be alike", dtype_name(x.dtype()),
                   dtype_name(dtype));
    }
    Tensor scores_of_rows(DType::float64, Shape{x.dim(0), targets});
    double* y = scores_of_rows.mutable_data<double>();
    forest.run(x, aggregate, run, [&](std::int64_t n, std::span<double> scores) {
      apply_post_transform(transform, scores);
      std::ranges::copy(scores, y + n * targets);
    });
    run.set_output(0, cast_tensor(scores_of_rows, dtype));
  };
}

}  // namespace

std::vector<OpRow> op_rows_tree_ensemble() {
  return {{"ai.onnx.ml", "TreeEnsemble", {5}, prepare_tree_ensemble}};
}

}  // namespace grurun::engine
