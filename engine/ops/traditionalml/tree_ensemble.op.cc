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

Reals reals(const Tensor& tensor) {
  const Tensor wide = cast_tensor(tensor, DType::float64);
  const std::span<const double> values = wide.span<double>();
  return {values.begin(), values.end()};
}

class TreeReader {
 public:
  explicit TreeReader(PrepareContext& node) : node_(node) {}

  /// The element type of nodes_splits, leaf_weights and membership_values, which must be X's.
  DType dtype() const { return dtype_; }

  Forest read(std::size_t targets);

 private:
  std::size_t child(std::int64_t id, std::int64_t is_leaf) const;
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
  const Tensor stated = node_.tensor_attribute("nodes_splits").value();
  const Reals splits = reals(stated);
  dtype_ = stated.dtype();
  forest_.in_double = dtype_ == DType::float64;
  node_count_ = splits.size();
  leaf_count_ = node_.ints_attribute("leaf_targetids").size();
  forest_.nodes.resize(node_count_ + leaf_count_);
  for (std::size_t i = 0; i < node_count_; ++i) forest_.nodes[i].split = splits[i];
  add_nodes();
  add_members();
  add_leaves();
  add_roots();
  return std::move(forest_);
}

// Leaves stand after the nodes.
std::size_t TreeReader::child(std::int64_t id, std::int64_t is_leaf) const {
  return static_cast<std::size_t>(id) + (is_leaf != 0 ? node_count_ : 0);
}

void TreeReader::add_nodes() {
  const Tensor modes = node_.tensor_attribute("nodes_modes").value();
  node_.accept_attribute("nodes_hitrates");  // how often a node is met, which changes no result
  const auto features = node_.ints_attribute("nodes_featureids");
  const auto true_ids = node_.ints_attribute("nodes_truenodeids");
  const auto false_ids = node_.ints_attribute("nodes_falsenodeids");
  const auto true_leafs = node_.ints_attribute("nodes_trueleafs");
  const auto false_leafs = node_.ints_attribute("nodes_falseleafs");
  auto tracks = node_.ints_attribute("nodes_missing_value_tracks_true");
  tracks.resize(node_count_, 0);
  for (std::size_t i = 0; i < node_count_; ++i) {
    TreeNode& node = forest_.nodes[i];
    node.mode = static_cast<NodeMode>(modes.data<std::uint8_t>()[i]);
    node.missing_tracks_true = tracks[i] != 0;
    node.feature = features[i];
    node.true_child = child(true_ids[i], true_leafs[i]);
    node.false_child = child(false_ids[i], false_leafs[i]);
  }
}

// "List all of the members to test again in the order that the 'BRANCH_MEMBER' mode appears in `node_modes`,
// delimited by `NaN`s": one set a node, whether or not a NaN follows the last.
void TreeReader::add_members() {
  std::vector<Reals> sets;
  if (const std::optional<Tensor> members = node_.tensor_attribute("membership_values")) {
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
    Reals& set = sets[used++];
    std::ranges::sort(set);
    node.begin = forest_.members.size();
    forest_.members.insert(forest_.members.end(), set.begin(), set.end());
    node.end = forest_.members.size();
  }
}

void TreeReader::add_leaves() {
  const Reals weights = reals(node_.tensor_attribute("leaf_weights").value());
  const std::vector<std::int64_t> targets = node_.ints_attribute("leaf_targetids");
  for (std::size_t i = 0; i < leaf_count_; ++i) {
    forest_.votes.push_back({static_cast<std::size_t>(targets[i]), weights[i]});
    TreeNode& leaf = forest_.nodes[node_count_ + i];
    leaf.begin = i;
    leaf.end = i + 1;
  }
}

// A tree of one leaf is a node "with true and false branches referencing the same leaf": what it compares
// does not matter, so the leaf is the root.
void TreeReader::add_roots() {
  for (const std::int64_t root : node_.ints_attribute("tree_roots"))
    forest_.roots.push_back(static_cast<std::size_t>(root));
  for (std::size_t i = 0; i < node_count_; ++i) {
    TreeNode& node = forest_.nodes[i];
    if (node.true_child != node.false_child || node.true_child < node_count_) continue;
    node = forest_.nodes[node.true_child];
  }
}

RunFunction prepare_tree_ensemble(PrepareContext& node) {
  const std::int64_t targets = node.int_attribute("n_targets");
  const auto aggregate = static_cast<Aggregate>(node.int_attribute("aggregate_function", 1));
  const PostTransform transform = post_transform_from(node.int_attribute("post_transform", 0));
  TreeReader reader(node);
  const Forest forest = reader.read(static_cast<std::size_t>(targets));
  return [forest, aggregate, transform, targets, dtype = reader.dtype()](RunContext& run) {
    const Tensor& x = run.tensor(0);
    if (x.rank() != 2) refuse();
    if (x.dtype() != dtype) refuse();
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
