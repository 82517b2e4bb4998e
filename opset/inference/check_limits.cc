#include "opset/inference/check_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "onnx_io/models/walk.h"
#include "opset/findings/labels.h"

namespace grurun::opset {

namespace {

using onnx_io::Function;
using onnx_io::Graph;
using onnx_io::Node;

// Steps of inference: a node, or a name handed to a subgraph's scope.
constexpr std::int64_t max_inference_steps = 50'000'000;

std::int64_t add(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t saturated = std::int64_t{1} << 60;
  return std::min(a + b, saturated);
}

bool nests_within(const std::vector<Node>& nodes, int levels) {
  bool within = levels > 0;
  for (const Node& node : nodes) {
    onnx_io::for_each_body(node, [&](const Graph& body, const onnx_io::Attribute&) {
      within = within && nests_within(body.nodes, levels - 1);
    });
  }
  return within;
}

struct Cost {
  std::int64_t steps = 0;
  int calls = 0;  // how deep function calls nest below
};

class CallGraph {
 public:
  CallGraph(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report)
      : function_count_(static_cast<std::int64_t>(model.functions.size())),
        functions_(functions),
        report_(report) {}

  // Of these nodes; outer_names is the number of names that their scope sees beside their outputs, depth the
  // number of open calls.
  Cost cost(const std::vector<Node>& nodes, std::int64_t outer_names, int depth) {
    const auto size = static_cast<std::int64_t>(nodes.size());
    const std::int64_t names = add(outer_names, size);
    Cost total{size, 0};
    for (const Node& node : nodes) {
      if (const Function* callee = functions_.find(node)) {
        const Cost body = visit(*callee, depth + 1);
        total.steps = add(total.steps, add(function_count_, body.steps));
        total.calls = std::max(total.calls, 1 + body.calls);
      }
      onnx_io::for_each_body(node, [&](const Graph& graph, const onnx_io::Attribute&) {
        const auto own = static_cast<std::int64_t>(graph.inputs.size() + graph.initializers.size());
        const Cost body = cost(graph.nodes, add(names, own), depth);
        total.steps = add(total.steps, add(names, body.steps));
        total.calls = std::max(total.calls, body.calls);
      });
    }
    return total;
  }

  // depth: open calls, this one included.
  Cost visit(const Function& function, int depth) {
    const auto [entry, added] = costs_.try_emplace(&function, std::nullopt);
    if (!added) {
      if (!entry->second) report_recursion(function);
      return entry->second.value_or(Cost{});
    }
    if (depth > max_nesting) {
      report_depth(function);
      return entry->second.emplace();
    }
    open_.push_back(&function);
    const Cost found = cost(function.nodes, static_cast<std::int64_t>(function.inputs.size()), depth);
    open_.pop_back();
    if (found.calls >= max_nesting) report_depth(function);
    costs_[&function] = found;
    return found;
  }

  bool sound() const { return sound_; }

 private:
  void report_recursion(const Function& function) {
    sound_ = false;
    std::string chain;
    for (auto caller = std::ranges::find(open_, &function); caller != open_.end(); ++caller) {
      chain += fmt::format("{}.{} -> ", (*caller)->domain, (*caller)->name);
    }
    report_.add(Rule::function_recursion, function_label(function.domain, function.name, function.overload),
                "",
                fmt::format("{}{}.{}: a function must not call itself; unroll it or use Loop", chain,
                            function.domain, function.name));
  }

  void report_depth(const Function& function) {
    if (sound_) {
      report_.add(Rule::nesting_depth, function_label(function.domain, function.name, function.overload), "",
                  fmt::format("calls nest more than {} deep; inline some of the functions", max_nesting));
    }
    sound_ = false;
  }

  const std::int64_t function_count_;
  const FunctionIndex& functions_;
  CheckReport& report_;
  bool sound_ = true;
  std::vector<const Function*> open_;
  std::unordered_map<const Function*, std::optional<Cost>> costs_;
};

bool check_nesting(const onnx_io::Model& model, CheckReport& report) {
  bool within = nests_within(model.graph.nodes, max_nesting + 1);
  for (const Function& function : model.functions) {
    within = within && nests_within(function.nodes, max_nesting + 1);
  }
  if (!within) {
    report.add(
        Rule::nesting_depth, "", "",
        fmt::format("subgraphs nest more than {} deep; the model is not checked further", max_nesting));
  }
  return within;
}

}  // namespace

Limits check_limits(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report) {
  if (!check_nesting(model, report)) return {false, false};
  CallGraph calls(model, functions, report);
  for (const Function& function : model.functions) calls.visit(function, 1);
  if (!calls.sound()) return {true, false};
  const std::int64_t steps = calls.cost(model.graph.nodes, 0, 0).steps;
  if (steps <= max_inference_steps) return {true, true};
  report.add(
      Rule::expansion_size, "", "",
      fmt::format("types and shapes are not inferred: with functions expanded and subgraphs' scopes set "
                  "up that takes {}{} steps, {} are done at most",
                  steps < (std::int64_t{1} << 60) ? "" : "more than ", steps, max_inference_steps));
  return {true, false};
}

}  // namespace grurun::opset
