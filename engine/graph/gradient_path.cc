#include "engine/graph/gradient_path.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include "engine/graph/node_rules.h"
#include "engine/graph/plan_builder.h"
#include "onnx_io/models/walk.h"
#include "opset/check/gradient_names.h"
#include "opset/schema/function_calls.h"
#include "tensor/error.h"

namespace grurun::engine {

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Node;

namespace {

using Names = std::unordered_set<std::string>;

// Each order of differentiation multiplies the work.
constexpr int deepest = 16;

GradientNames names_of(const Node& node) {
  GradientNames names;
  if (const Attribute* xs = node.find_attribute("xs")) names.xs = xs->strings;
  if (const Attribute* zs = node.find_attribute("zs")) names.zs = zs->strings;
  if (const Attribute* y = node.find_attribute("y")) names.y = y->s;
  return names;
}

/// The names that a node reads, those its bodies read from outside included.
std::vector<std::string> names_read(const Node& node) {
  std::vector<std::string> names;
  for (const onnx_io::Read& read : onnx_io::reads_of(node)) names.emplace_back(read.name);
  return names;
}

bool reads_any(const std::vector<std::string>& read, const Names& names) {
  return std::ranges::any_of(read, [&](const std::string& name) { return names.contains(name); });
}

class PathFinder {
 public:
  PathFinder(PlanBuilder& builder, Scope& scope, const Node& self, const GradientNames& names, int depth)
      : builder_(builder),
        scope_(scope),
        nodes_(*scope.nodes),
        self_node_(self),
        self_(static_cast<std::size_t>(std::ranges::find(nodes_, self.outputs, &Node::outputs) -
                                       nodes_.begin())),
        path_{names.xs, names.zs, names.y, {}, {}},
        depth_(depth) {
    independent_.insert(names.xs.begin(), names.xs.end());
    independent_.insert(names.zs.begin(), names.zs.end());
  }

  GradientPath find() {
    const auto is_visible = [&](const std::string& name) { return scope_.find(name).has_value(); };
    if (const auto fault = opset::gradient_scope_fault(self_node_, nodes_, is_visible))
      fail_invalid("{}", *fault);
    mark_ancestors();
    Names dependent = independent_;
    Names outside;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!ancestor_[i]) continue;
      const std::vector<std::string> read = inputs_of(i);
      if (!reads_any(read, dependent)) continue;
      for (const std::string& name : read) {
        if (!dependent.contains(name) && outside.insert(name).second) {
          path_.outside.push_back(name);
        }
      }
      for (const std::string& name : nodes_[i].outputs) {
        if (!name.empty()) dependent.insert(name);
      }
      add(nodes_[i], scope_, inner_[i]);
    }
    require_nothing_from_enclosing_graphs();
    return std::move(path_);
  }

 private:
  /// In a body graph the path may begin in a graph around it, where it is not followed.
  void require_nothing_from_enclosing_graphs() const {
    Names reached = independent_;
    for (const Scope* around = scope_.enclosing; around != nullptr; around = around->enclosing) {
      if (around->nodes == nullptr) continue;
      for (const Node& node : *around->nodes) {
        if (reads_any(names_read(node), reached)) reached.insert(node.outputs.begin(), node.outputs.end());
      }
    }
    // Names of this graph are none of an enclosing one, so a name that is reached there comes from there.
    const auto require = [&](const std::string& name) {
      if (independent_.contains(name) || !reached.contains(name)) return;
      fail_unsupported("Gradient through '{}', which is computed in an enclosing graph", name);
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!ancestor_[i]) continue;
      for (const std::string& name : inputs_of(i)) require(name);
    }
    require(path_.y);
  }

  /// What y is computed from, as far as xs and zs. Nodes stand in the order of their values.
  void mark_ancestors() {
    ancestor_.assign(nodes_.size(), false);
    inner_.resize(nodes_.size());
    Names needed;
    if (!independent_.contains(path_.y)) needed.insert(path_.y);
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!reads_any(nodes_[i].outputs, needed)) continue;
      if (is_gradient(nodes_[i])) {
        if (i >= self_) fail_invalid("'{}' is computed from the result of a later Gradient", path_.y);
        inner_[i] = std::make_shared<const GradientPath>(
            find_gradient_path(builder_, scope_, nodes_[i], names_of(nodes_[i]), depth_ + 1));
      }
      ancestor_[i] = true;
      for (const std::string& name : inputs_of(i)) {
        if (!independent_.contains(name)) needed.insert(name);
      }
    }
  }

  std::vector<std::string> inputs_of(std::size_t i) const {
    std::vector<std::string> names = names_read(nodes_[i]);
    if (inner_[i]) names.insert(names.end(), inner_[i]->outside.begin(), inner_[i]->outside.end());
    return names;
  }

  void add(const Node& node, const Scope& scope, const std::shared_ptr<const GradientPath>& inner) {
    builder_.count_node();
    const std::optional<Node> resolved = resolve_references(node, scope);
    const Node& plain = resolved ? *resolved : node;
    if (const Function* function = builder_.local_function(plain))
      return add_function(*function, plain, scope);
    if (is_gradient(plain) && !inner) fail_unsupported("Gradient through a function that has a Gradient");
    if (onnx_io::has_body(plain))
      fail_unsupported("Gradient through {}, which has body graphs", plain.op_type);
    path_.nodes.push_back({plain, imported_version(plain, scope), inner});
  }

  void add_function(const Function& function, const Node& node, const Scope& scope) {
    Scope inner = builder_.function_scope(function, node, scope);
    // A prefix that no name of a model can have.
    const std::string prefix = fmt::format("\n{}/", ++calls_);
    std::map<std::string, std::string> names = {{"", ""}};
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      names[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
    }
    for (std::size_t i = 0; i < node.outputs.size() && i < function.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      const auto [bound, is_new] = names.try_emplace(function.outputs[i], node.outputs[i]);
      if (!is_new)
        path_.nodes.push_back(
            {opset::identity_node(bound->second, node.outputs[i]), 14, nullptr});  // an input handed on
    }
    for (Node copy : function.nodes) {
      for (auto* list : {&copy.inputs, &copy.outputs}) {
        for (std::string& name : *list) name = names.try_emplace(name, prefix + name).first->second;
      }
      add(copy, inner, nullptr);
    }
  }

  bool is_gradient(const Node& node) const {
    return node.op_type == nodes_[self_].op_type && node.domain == nodes_[self_].domain;
  }

  PlanBuilder& builder_;
  Scope& scope_;
  const std::vector<Node>& nodes_;
  const Node& self_node_;
  std::size_t self_;
  GradientPath path_;
  Names independent_;
  std::vector<bool> ancestor_;
  std::vector<std::shared_ptr<const GradientPath>> inner_;
  int calls_ = 0;
  int depth_;
};

}  // namespace

GradientPath find_gradient_path(PlanBuilder& builder, Scope& scope, const Node& self,
                                const GradientNames& names, int depth) {
  if (depth > deepest) fail(ErrorKind::limit, "gradients of gradients are nested more than {} deep", deepest);
  builder.count_node();
  return PathFinder(builder, scope, self, names, depth).find();
}

}  // namespace grurun::engine
