#include "opset/check/check_names.h"

#include <fmt/format.h>

#include "onnx_io/models/walk.h"
#include "opset/check/find_cycles.h"
#include "opset/check/gradient_names.h"
#include "opset/findings/labels.h"

namespace grurun::opset {

using onnx_io::Graph;
using onnx_io::Node;

std::optional<std::string> initialized_input_fault(const Graph& body, std::int64_t ir_version) {
  if (body.initializers.empty() || body.inputs.empty()) return std::nullopt;
  const auto initializers = onnx_io::index_initializers(body);
  const bool listed = ir_version < 4;
  std::size_t inputs = body.inputs.size();
  while (listed && inputs > 0 && initializers.contains(body.inputs[inputs - 1].name)) --inputs;
  for (std::size_t i = 0; i < inputs; ++i) {
    const std::string& name = body.inputs[i].name;
    if (!initializers.contains(name)) continue;
    return fmt::format(
        "initializer '{}' of the body '{}' has the name of an input of that body, whose value "
        "comes from the node; {}",
        name, body.name,
        listed ? "list initializers behind the inputs that the node gives"
               : "rename the initializer, or leave it out");
  }
  return std::nullopt;
}

bool NameScope::visible(std::string_view name) const {
  for (const NameScope* scope = this; scope != nullptr; scope = scope->outer_) {
    if (scope->defined_.count(name) != 0) return true;
  }
  return false;
}

// IR.md: names of a subgraph's inputs and initializers are distinct "from the names from the outer scopes
// that are visible in the nested subgraph". Published models break that, and everyone takes the inner value.
void NameScope::warn_of_hidden(const Graph& body) {
  constexpr std::size_t shown = 3;
  std::string listed;
  std::size_t hidden = 0;
  std::unordered_set<std::string_view> seen;
  const auto look_at = [&](const char* what, const std::string& name) {
    if (!outer_->visible(name) || !seen.insert(name).second || ++hidden > shown) return;
    listed += fmt::format("{}{} '{}'", hidden == 1 ? "" : ", ", what, name);
  };
  for (const onnx_io::ValueInfo& input : body.inputs) look_at("input", input.name);
  for (const onnx_io::Initializer& initializer : body.initializers) look_at("initializer", initializer.name);
  if (hidden == 0) return;
  if (hidden > shown) listed += fmt::format(" and {} more", hidden - shown);
  RuleInfo rule = rule_info(Rule::name_unique);
  rule.severity = Severity::warning;
  report_.add(rule, {at_.key(), at_.path(), ""},
              fmt::format("{} of the body '{}' {} the name of a value of an outer scope, which the body then "
                          "cannot see; rename {}",
                          listed, body.name, hidden == 1 ? "has" : "have each", hidden == 1 ? "it" : "them"),
              "");
}

void NameScope::define_graph(const Graph& graph, bool initializers_are_inputs) {
  if (outer_ != nullptr) warn_of_hidden(graph);
  for (const onnx_io::ValueInfo& input : graph.inputs) {
    if (!defined_.insert(input.name).second) {
      report_.add(Rule::name_unique, at_, fmt::format("two graph inputs are named '{}'", input.name));
    }
  }
  std::unordered_set<std::string_view> initializers;
  for (const onnx_io::Initializer& initializer : graph.initializers) {
    if (!initializers.insert(initializer.name).second) {
      report_.add(Rule::name_unique, at_, fmt::format("two initializers are named '{}'", initializer.name));
    }
    if (defined_.insert(initializer.name).second && initializers_are_inputs) {
      report_.add(Rule::initializer_listed, at_,
                  fmt::format("initializer '{}' is no graph input; list it, or set ir_version to 4 or more",
                              initializer.name));
    }
  }
}

void NameScope::define_function(const onnx_io::Function& function) {
  for (const std::string& input : function.inputs) defined_.insert(input);
}

void NameScope::use_inputs(const NodeAt& at) {
  for (const std::string& input : at.node.inputs) {
    if (input.empty() || visible(input)) continue;
    report_.mark_faulty(at);
    pending_.push_back({input, at.index, at.path(), at.op()});
  }
}

void NameScope::define_outputs(const NodeAt& at) {
  for (const std::string& output : at.node.outputs) {
    if (output.empty()) continue;
    const bool here = !defined_.insert(output).second;
    if (here || (outer_ != nullptr && outer_->visible(output))) {
      report_.add(Rule::name_unique, at,
                  fmt::format("output '{}' is the name of another value of {}; rename one", output,
                              here ? "this graph" : "an outer scope"));
    }
  }
}

void NameScope::add_pending(std::vector<PendingUse> uses, std::size_t node) {
  for (PendingUse& use : uses) {
    use.node = node;
    pending_.push_back(std::move(use));
  }
}

std::vector<PendingUse> NameScope::judge_pending(const std::vector<Node>& nodes) {
  if (pending_.empty()) return {};
  std::unordered_map<std::size_t, std::size_t> group_of;
  const std::vector<std::vector<std::size_t>> cycles = find_cycles(nodes);
  for (std::size_t group = 0; group < cycles.size(); ++group) {
    for (const std::size_t node : cycles[group]) group_of[node] = group;
    report_.add(Rule::acyclic, at_, cycle_sentence(nodes, cycles[group]));
  }
  const onnx_io::Producers producers(nodes);
  std::vector<PendingUse> unresolved;
  for (PendingUse& use : pending_) {
    if (const auto* made = producers.find(use.name)) {
      const auto user_group = group_of.find(use.node);
      const auto maker_group = group_of.find(made->index);
      const bool in_cycle = user_group != group_of.end() && maker_group != group_of.end() &&
                            user_group->second == maker_group->second;
      if (in_cycle) continue;  // the cycle is reported
      report_.add(Rule::topological_order, use.path, use.op,
                  fmt::format("input '{}' is computed only later, by node '{}'; sort the nodes", use.name,
                              node_name(made->node->name, made->node->op_type, made->index)));
    } else if (outer_ != nullptr) {
      unresolved.push_back(std::move(use));
    } else {
      report_.add(Rule::name_defined, use.path, use.op,
                  fmt::format("input '{}' is not defined: it is no graph input, initializer or output of a "
                              "node",
                              use.name));
    }
  }
  return unresolved;
}

void NameScope::check_value_info(const std::vector<std::string_view>& names) {
  constexpr std::size_t shown = 3;
  std::string listed;
  std::size_t unknown = 0;
  std::unordered_set<std::string_view> seen;
  for (const std::string_view name : names) {
    if (!seen.insert(name).second)
      report_.add(Rule::value_info_once, at_, fmt::format("value_info names '{}' twice; keep one", name));
    else if (!visible(name) && ++unknown <= shown)
      listed += fmt::format("{}'{}'", unknown == 1 ? "" : ", ", name);
  }
  if (unknown == 0) return;
  if (unknown > shown) listed += fmt::format(" and {} more", unknown - shown);
  report_.add(Rule::value_info_known, at_,
              fmt::format("value_info names {}, which no input, initializer or node gives: remove what is "
                          "left over, or correct the name",
                          listed));
}

void NameScope::check_gradients(const std::vector<Node>& nodes) {
  const auto is_visible = [&](const std::string& name) { return visible(name); };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!is_gradient(nodes[i])) continue;
    if (const auto fault = gradient_scope_fault(nodes[i], nodes, is_visible))
      report_.add(Rule::attributes_usable, NodeAt{at_, nodes[i], i}, *fault);
  }
}

void NameScope::check_output(const std::string& name) {
  if (defined_.count(name) != 0) return;
  report_.add(Rule::output_computed, at_,
              fmt::format("output '{}' is no value of this {}", name,
                          at_.function != nullptr && at_.parent == nullptr ? "function" : "graph"));
}

namespace {

void define_names(const std::vector<Node>& nodes, const CheckScope& scope, NameScope& names,
                  CheckReport& report) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeAt at{scope, nodes[i], i};
    onnx_io::for_each_body(at.node, [&](const Graph& body, const onnx_io::Attribute& attribute) {
      const CheckScope inner = CheckScope::of_subgraph(at, attribute.name);
      NameScope names_within(inner, &names, report);
      names_within.define_graph(body, false);
      define_names(body.nodes, inner, names_within, report);
    });
    names.define_outputs(at);
  }
}

}  // namespace

std::vector<Finding> hidden_names(const onnx_io::Model& model) {
  if (onnx_io::find_node(model, onnx_io::has_body) == nullptr) return {};
  CheckResult found;
  CheckReport report(found);
  const CheckScope scope = CheckScope::of_main_graph(model);
  NameScope names(scope, nullptr, report);
  names.define_graph(model.graph, false);
  define_names(model.graph.nodes, scope, names, report);
  for (const onnx_io::Function& function : model.functions) {
    const CheckScope within = CheckScope::of_function(function);
    NameScope names_within(within, nullptr, report);
    names_within.define_function(function);
    define_names(function.nodes, within, names_within, report);
  }
  // Names that are given twice are errors, which a run finds by itself.
  std::erase_if(found.findings, [](const Finding& each) { return each.severity != Severity::warning; });
  return std::move(found.findings);
}

}  // namespace grurun::opset
