// Trees: lists that describe them, each child and vote at a node that is there, no way back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "opset/pages/attribute_lists.h"
#include "opset/pages/page_rules.h"
#include "opset/pages/tree_nodes.h"
#include "tensor/dispatch.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;
using Said = std::optional<std::string>;

constexpr std::string_view leaf_mode = "LEAF";
constexpr std::size_t none = static_cast<std::size_t>(-1);
using Children = std::vector<std::array<std::size_t, 2>>;  // of each node; none of a leaf

/// A node from which a way leads back to it; none: no such node.
std::size_t find_cycle(const Children& children) {
  enum class State : char { unseen, on_path, done };
  std::vector<State> states(children.size(), State::unseen);
  std::vector<std::size_t> path;
  for (std::size_t start = 0; start < children.size(); ++start) {
    if (states[start] != State::unseen) continue;
    path.push_back(start);
    while (!path.empty()) {
      const std::size_t at = path.back();
      states[at] = State::on_path;
      std::size_t next = none;
      for (const std::size_t child : children[at]) {
        if (child == none) continue;
        if (states[child] == State::on_path) return child;
        if (states[child] == State::unseen) next = child;
      }
      if (next != none) {
        path.push_back(next);
      } else {
        states[at] = State::done;
        path.pop_back();
      }
    }
  }
  return none;
}

Said nodes_fault(const Node& node, const TreeNodes& table) {
  const auto &trees = ints_of(node, "nodes_treeids"), &ids = ints_of(node, "nodes_nodeids");
  const auto& modes = strings_of(node, "nodes_modes");
  const std::array lists = {&ints_of(node, "nodes_truenodeids"), &ints_of(node, "nodes_falsenodeids")};
  Children children(ids.size(), {none, none});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (modes[i] == leaf_mode) continue;
    std::size_t which = 0;
    for (const auto* list : lists) {
      const std::int64_t id = (*list)[i];
      const auto child = table.find(trees[i], id);
      if (!child)
        return fmt::format("node {} of tree {} has the child {}, which is not listed", ids[i], trees[i], id);
      children[i][which++] = *child;
    }
  }
  const std::size_t at = find_cycle(children);
  if (at == none) return std::nullopt;
  return fmt::format("node {} of tree {} is reached from itself: a tree must not hold a cycle", ids[at],
                     trees[at]);
}

Said votes_fault(const Node& node, const TreeNodes& table, const std::string& prefix, std::int64_t targets) {
  const auto &trees = ints_of(node, prefix + "_treeids"), &ids = ints_of(node, prefix + "_nodeids");
  const auto& voted = ints_of(node, prefix + "_ids");
  const auto& modes = strings_of(node, "nodes_modes");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto leaf = table.find(trees[i], ids[i]);
    if (!leaf || modes[*leaf] != leaf_mode)
      return fmt::format("{}_nodeids names node {} of tree {}, which is {}", prefix, ids[i], trees[i],
                         leaf ? "no leaf" : "not listed");
    if (voted[i] < 0 || voted[i] >= targets)
      return fmt::format("{}_ids holds {}, but must lie in [0, {})", prefix, voted[i], targets);
  }
  return std::nullopt;
}

// The sets between NaNs, of which the last need not have one behind.
std::int64_t count_sets(const Tensor& members) {
  return dispatch(Floats{}, members.dtype(), [&]<typename T>() {
    std::int64_t sets = 0;
    bool open = false;
    for (const T value : members.span<T>()) {
      if (!open) ++sets;
      open = !std::isnan(static_cast<ComputeType<T>>(value));
    }
    return sets;
  });
}

Said members_fault(const Node& node, const Tensor& modes) {
  const Tensor* members = tensor_of(node, "membership_values");
  constexpr std::uint8_t member = 6;
  const auto tests = std::ranges::count(modes.span<std::uint8_t>(), member);
  const std::int64_t sets = members == nullptr ? 0 : count_sets(*members);
  if (sets == tests) return std::nullopt;
  return fmt::format("membership_values has {} sets, but {} nodes have mode BRANCH_MEMBER", sets, tests);
}

Said types_fault(const Node& node) {
  const DType dtype = tensor_of(node, "nodes_splits")->dtype();
  if (dtype != DType::float32 && dtype != DType::float64 && dtype != DType::float16)
    return fmt::format("nodes_splits is {}, but must be float, double or float16", dtype_name(dtype));
  for (const char* name : {"leaf_weights", "membership_values"}) {
    const Tensor* tensor = tensor_of(node, name);
    if (tensor == nullptr) continue;
    if (tensor->rank() != 1)
      return fmt::format("{} must be a list, but has shape {}", name, tensor->shape().to_string());
    if (tensor->dtype() != dtype)
      return fmt::format("{} is {}, but must be {}", name, dtype_name(tensor->dtype()), dtype_name(dtype));
  }
  const Tensor* modes = tensor_of(node, "nodes_modes");
  if (modes->dtype() != DType::uint8)
    return fmt::format("nodes_modes is {}, but must be uint8", dtype_name(modes->dtype()));
  for (const std::uint8_t mode : modes->span<std::uint8_t>())
    if (mode > 6) return fmt::format("nodes_modes holds {}, but must lie in [0, 6]", mode);
  return std::nullopt;
}

}  // namespace

// Lengths are judged before; a node that lacks an attribute, too.
Said trees_fault(const Node& node, int) {
  const bool classifies = node.op_type == "TreeEnsembleClassifier";
  const std::int64_t classes =
      std::max(length_of(node, "classlabels_strings"), length_of(node, "classlabels_int64s"));
  const onnx_io::Attribute* transform = node.find_attribute("post_transform");
  const bool stays = transform == nullptr || transform->s == "NONE";
  if (classifies && classes == 1 && !stays) return std::nullopt;  // no fault, but not done
  const std::int64_t targets = classifies ? classes : int_of(node, "n_targets");
  const TreeNodes table(ints_of(node, "nodes_treeids"), ints_of(node, "nodes_nodeids"));
  if (const auto* twice = table.find_twice())
    return fmt::format("node {} of tree {} is listed twice", twice->id, twice->tree);
  if (Said fault = nodes_fault(node, table)) return fault;
  if (Said fault = votes_fault(node, table, classifies ? "class" : "target", targets)) return fault;
  const std::int64_t base = length_of(node, "base_values");
  const bool one_score = classifies && classes == 2 && base == 1 &&
                         std::ranges::all_of(ints_of(node, "class_ids"), [](auto id) { return id == 0; });
  if (base == 0 || base == targets || (one_score && length_of(node, "class_ids") > 0)) return std::nullopt;
  return fmt::format("base_values has {} values for {} {}", base, targets,
                     classifies ? "classes" : "targets");
}

Said tree_ensemble_fault(const Node& node, int) {
  if (tensor_of(node, "nodes_splits") == nullptr || tensor_of(node, "nodes_modes") == nullptr)
    return std::nullopt;
  if (Said fault = types_fault(node)) return fault;
  const std::int64_t nodes = length_of(node, "nodes_splits"), leaves = length_of(node, "leaf_weights");
  Children children(static_cast<std::size_t>(nodes), {none, none});
  std::size_t which = 0;
  for (const std::string side : {"true", "false"}) {
    const auto &ids = ints_of(node, "nodes_" + side + "nodeids"),
               &leafs = ints_of(node, "nodes_" + side + "leafs");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool to_leaf = leafs[i] != 0;
      if (ids[i] < 0 || ids[i] >= (to_leaf ? leaves : nodes))
        return fmt::format("nodes_{}nodeids of node {} is {}, but there are {} {}", side, i, ids[i],
                           to_leaf ? leaves : nodes, to_leaf ? "leaves" : "nodes");
      if (!to_leaf) children[i][which] = static_cast<std::size_t>(ids[i]);
    }
    ++which;
  }
  if (const std::size_t at = find_cycle(children); at != none)
    return fmt::format("node {} is reached from itself: a tree must not hold a cycle", at);
  for (const std::int64_t root : ints_of(node, "tree_roots"))
    if (root < 0 || root >= nodes)
      return fmt::format("tree_roots holds {}, but there are {} nodes", root, nodes);
  const std::int64_t targets = int_of(node, "n_targets");
  for (const std::int64_t target : ints_of(node, "leaf_targetids"))
    if (target < 0 || target >= targets)
      return fmt::format("leaf_targetids holds {}, but must lie in [0, {})", target, targets);
  return members_fault(node, *tensor_of(node, "nodes_modes"));
}

}  // namespace grurun::opset
