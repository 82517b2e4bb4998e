#include "engine/ops/traditionalml/tree_attributes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/graph/op_context.h"
#include "opset/pages/tree_nodes.h"

namespace grurun::engine {

namespace {

NodeMode parse_mode(const std::string& mode) {
  if (mode == "BRANCH_LEQ") return NodeMode::leq;
  if (mode == "BRANCH_LT") return NodeMode::lt;
  if (mode == "BRANCH_GTE") return NodeMode::gte;
  if (mode == "BRANCH_GT") return NodeMode::gt;
  if (mode == "BRANCH_EQ") return NodeMode::eq;
  if (mode == "BRANCH_NEQ") return NodeMode::neq;
  return NodeMode::leaf;
}

/// A tree's first listed node that no other names as its child.
std::vector<std::size_t> find_roots(const Forest& forest, const std::vector<std::int64_t>& trees) {
  std::vector<bool> is_child(forest.nodes.size(), false);
  for (const TreeNode& node : forest.nodes) {
    if (node.mode != NodeMode::leaf) is_child[node.true_child] = is_child[node.false_child] = true;
  }
  std::vector<std::int64_t> order;  // trees as they first appear
  std::map<std::int64_t, std::optional<std::size_t>> roots;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto [root, is_new] = roots.try_emplace(trees[i]);
    if (is_new) order.push_back(trees[i]);
    if (!root->second && !is_child[i]) root->second = i;
  }
  std::vector<std::size_t> out;
  for (const std::int64_t tree : order) out.push_back(roots[tree].value());  // without a cycle there is one
  return out;
}

/// The lists named nodes_*, all of one length.
struct NodeLists {
  std::vector<std::int64_t> trees, ids, features, true_ids, false_ids, tracks;
  std::vector<std::string> modes;
  RealList splits;
};

NodeLists read_nodes(PrepareContext& node) {
  NodeLists lists{
      node.ints_attribute("nodes_treeids"),      node.ints_attribute("nodes_nodeids"),
      node.ints_attribute("nodes_featureids"),   node.ints_attribute("nodes_truenodeids"),
      node.ints_attribute("nodes_falsenodeids"), node.ints_attribute("nodes_missing_value_tracks_true"),
      node.strings_attribute("nodes_modes"),     read_reals(node, "nodes_values")};
  read_reals(node, "nodes_hitrates");  // how often a node is met, which changes no result
  return lists;
}

void add_nodes(const NodeLists& lists, const opset::TreeNodes& table, Forest& forest) {
  forest.nodes.reserve(lists.ids.size());
  for (std::size_t i = 0; i < lists.ids.size(); ++i) {
    TreeNode& node = forest.nodes.emplace_back();
    node.mode = parse_mode(lists.modes[i]);
    if (node.mode == NodeMode::leaf) continue;
    node.missing_tracks_true = !lists.tracks.empty() && lists.tracks[i] != 0;
    node.feature = lists.features[i];
    node.split = lists.splits.values[i];
    node.true_child = table.find(lists.trees[i], lists.true_ids[i]).value();
    node.false_child = table.find(lists.trees[i], lists.false_ids[i]).value();
  }
}

/// Puts the votes of each leaf next to each other, in the order of the lists.
void add_votes(PrepareContext& node, const std::string& prefix, const opset::TreeNodes& table,
               Forest& forest) {
  const std::vector<std::int64_t> trees = node.ints_attribute((prefix + "_treeids").c_str());
  const std::vector<std::int64_t> ids = node.ints_attribute((prefix + "_nodeids").c_str());
  const std::vector<std::int64_t> targets = node.ints_attribute((prefix + "_ids").c_str());
  const RealList weights = read_reals(node, prefix + "_weights");
  forest.in_double |= weights.in_double;

  std::vector<std::pair<std::size_t, Vote>> votes;
  votes.reserve(ids.size());
  forest.votes.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t leaf = table.find(trees[i], ids[i]).value();
    votes.push_back({leaf, {static_cast<std::size_t>(targets[i]), weights.values[i]}});
  }
  std::ranges::stable_sort(votes, {}, [](const auto& vote) { return vote.first; });
  for (const auto& [leaf, vote] : votes) {
    TreeNode& at = forest.nodes[leaf];
    if (at.begin == at.end) at.begin = forest.votes.size();
    forest.votes.push_back(vote);
    at.end = forest.votes.size();
  }
}

}  // namespace

RealList read_reals(PrepareContext& node, const std::string& name) {
  const std::vector<float> floats = node.floats_attribute(name.c_str());
  RealList list{{floats.begin(), floats.end()}};
  if (node.since_version() < 3) return list;
  const std::optional<Tensor> tensor = node.tensor_attribute((name + "_as_tensor").c_str());
  if (!tensor) return list;
  const std::span<const double> values = tensor->span<double>();
  return {{values.begin(), values.end()}, true};
}

Forest read_forest(PrepareContext& node, const std::string& prefix, std::size_t targets) {
  const NodeLists lists = read_nodes(node);
  const opset::TreeNodes table(lists.trees, lists.ids);
  Forest forest;
  forest.targets = targets;
  add_nodes(lists, table, forest);
  forest.roots = find_roots(forest, lists.trees);
  add_votes(node, prefix, table, forest);
  return forest;
}

}  // namespace grurun::engine
