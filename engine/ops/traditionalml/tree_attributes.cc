#include "engine/ops/traditionalml/tree_attributes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

/// Where each (tree id, node id) stands in the lists.
class NodeTable {
 public:
  NodeTable(const std::vector<std::int64_t>& trees, const std::vector<std::int64_t>& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) entries_.push_back({trees[i], ids[i], i});
    std::ranges::sort(entries_);
    const auto same = [](const Entry& a, const Entry& b) { return a.tree == b.tree && a.id == b.id; };
    if (const auto twice = std::ranges::adjacent_find(entries_, same); twice != entries_.end()) {
      fail_invalid("node {} of tree {} is listed twice", twice->id, twice->tree);
    }
  }

  std::optional<std::size_t> find(std::int64_t tree, std::int64_t id) const {
    const auto found = std::ranges::lower_bound(entries_, Entry{tree, id, 0});
    if (found == entries_.end() || found->tree != tree || found->id != id) return std::nullopt;
    return found->position;
  }

 private:
  struct Entry {
    std::int64_t tree, id;
    std::size_t position;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> entries_;
};

NodeMode parse_mode(const std::string& mode) {
  if (mode == "BRANCH_LEQ") return NodeMode::leq;
  if (mode == "BRANCH_LT") return NodeMode::lt;
  if (mode == "BRANCH_GTE") return NodeMode::gte;
  if (mode == "BRANCH_GT") return NodeMode::gt;
  if (mode == "BRANCH_EQ") return NodeMode::eq;
  if (mode == "BRANCH_NEQ") return NodeMode::neq;
  if (mode == "LEAF") return NodeMode::leaf;
  fail_invalid("nodes_modes names '{}', but must name BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ or LEAF", mode);
}

void require_length(const std::string& name, std::size_t length, std::size_t wanted,
                    const std::string& other) {
  if (length != wanted) {
    fail_invalid("{} has {} values, but {} has {}: they must be as long", name, length, other, wanted);
  }
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
  for (const std::int64_t tree : order) {
    if (!roots[tree]) fail_invalid("tree {} has no root: every node is the child of another", tree);
    out.push_back(*roots[tree]);
  }
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
  const std::size_t hitrates = read_reals(node, "nodes_hitrates").values.size();
  const std::size_t n = lists.ids.size();
  if (n == 0) fail_invalid("nodes_nodeids is empty, but a tree has at least one node");
  const auto same = [&](const char* name, std::size_t length) {
    require_length(name, length, n, "nodes_nodeids");
  };
  same("nodes_treeids", lists.trees.size());
  same("nodes_featureids", lists.features.size());
  same("nodes_truenodeids", lists.true_ids.size());
  same("nodes_falsenodeids", lists.false_ids.size());
  same("nodes_modes", lists.modes.size());
  same("nodes_values", lists.splits.values.size());
  if (!lists.tracks.empty()) same("nodes_missing_value_tracks_true", lists.tracks.size());
  if (hitrates != 0) same("nodes_hitrates", hitrates);  // how often a node is met, which changes no result
  return lists;
}

void add_nodes(const NodeLists& lists, const NodeTable& table, Forest& forest) {
  const auto child = [&](std::size_t parent, std::int64_t id) {
    if (const auto found = table.find(lists.trees[parent], id)) return *found;
    fail_invalid("node {} of tree {} has the child {}, which is not listed", lists.ids[parent],
                 lists.trees[parent], id);
  };
  for (std::size_t i = 0; i < lists.ids.size(); ++i) {
    TreeNode& node = forest.nodes.emplace_back();
    node.mode = parse_mode(lists.modes[i]);
    if (node.mode == NodeMode::leaf) continue;
    node.missing_tracks_true = !lists.tracks.empty() && lists.tracks[i] != 0;
    node.feature = lists.features[i];
    node.split = lists.splits.values[i];
    node.true_child = child(i, lists.true_ids[i]);
    node.false_child = child(i, lists.false_ids[i]);
  }
}

/// Puts the votes of each leaf next to each other, in the order of the lists.
void add_votes(PrepareContext& node, const std::string& prefix, const NodeTable& table, Forest& forest) {
  const std::vector<std::int64_t> trees = node.ints_attribute((prefix + "_treeids").c_str());
  const std::vector<std::int64_t> ids = node.ints_attribute((prefix + "_nodeids").c_str());
  const std::vector<std::int64_t> targets = node.ints_attribute((prefix + "_ids").c_str());
  const RealList weights = read_reals(node, prefix + "_weights");
  require_length(prefix + "_treeids", trees.size(), ids.size(), prefix + "_nodeids");
  require_length(prefix + "_ids", targets.size(), ids.size(), prefix + "_nodeids");
  require_length(prefix + "_weights", weights.values.size(), ids.size(), prefix + "_nodeids");
  forest.in_double |= weights.in_double;

  std::vector<std::pair<std::size_t, Vote>> votes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto leaf = table.find(trees[i], ids[i]);
    if (!leaf)
      fail_invalid("{}_nodeids names node {} of tree {}, which is not listed", prefix, ids[i], trees[i]);
    if (forest.nodes[*leaf].mode != NodeMode::leaf) {
      fail_invalid("{}_nodeids names node {} of tree {}, which is no leaf", prefix, ids[i], trees[i]);
    }
    if (targets[i] < 0 || static_cast<std::size_t>(targets[i]) >= forest.targets) {
      fail_invalid("{}_ids holds {}, but must lie in [0, {})", prefix, targets[i], forest.targets);
    }
    votes.push_back({*leaf, {static_cast<std::size_t>(targets[i]), weights.values[i]}});
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
  if (!floats.empty()) fail_invalid("{} and {}_as_tensor are both given: remove one", name, name);
  if (tensor->dtype() != DType::float64 || tensor->rank() != 1) {
    fail_invalid("{}_as_tensor must be a list of double, but is {} {}", name, dtype_name(tensor->dtype()),
                 tensor->shape().to_string());
  }
  const std::span<const double> values = tensor->span<double>();
  return {{values.begin(), values.end()}, true};
}

Forest read_forest(PrepareContext& node, const std::string& prefix, std::size_t targets) {
  const NodeLists lists = read_nodes(node);
  const NodeTable table(lists.trees, lists.ids);
  Forest forest;
  forest.targets = targets;
  add_nodes(lists, table, forest);
  if (const auto at = forest.find_cycle()) {
    fail_invalid("node {} of tree {} is reached from itself: a tree must not hold a cycle", lists.ids[*at],
                 lists.trees[*at]);
  }
  forest.roots = find_roots(forest, lists.trees);
  add_votes(node, prefix, table, forest);
  return forest;
}

}  // namespace grurun::engine
