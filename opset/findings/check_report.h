// Where a check stands in a model, and the findings it gathers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"
#include "opset/findings/finding.h"
#include "opset/findings/rules.h"

namespace grurun::opset {

/// Subgraphs and function calls nested deeper are refused, before anything recurses into them.
inline constexpr int max_nesting = 64;

struct NodeAt;

/// A graph or a function's body. Paths are made only when a finding needs one.
struct CheckScope {
  const CheckScope* parent = nullptr;  // of a subgraph
  std::string label;                   // of a subgraph: "loop_1.body"; else "graph", "function ns.F"
  const onnx_io::OpsetImports* imports = nullptr;
  const onnx_io::Function* function = nullptr;  // the function this scope belongs to, if any
  std::size_t holder = 0;                       // of a subgraph: the index of its node in parent

  static CheckScope of_main_graph(const onnx_io::Model& model);
  static CheckScope of_function(const onnx_io::Function& function);
  static CheckScope of_subgraph(const NodeAt& holder, const std::string& attribute);

  /// "graph/loop_1.body".
  std::string path() const;
  /// One for each scope, whatever names nodes share: "graph/3.loop_1.body".
  std::string key() const;
};

/// A node as findings name it.
struct NodeLabel {
  std::string key;   // its own, where path may be that of several nodes of one name
  std::string path;  // "graph/loop_1.body/gru"; empty: the model as a whole
  std::string op;    // "GRU-14", "ai.onnx.ml:Scaler-1"
};

struct NodeAt {
  const CheckScope& scope;
  const onnx_io::Node& node;
  std::size_t index;
  std::optional<int> since_version = std::nullopt;

  std::string key() const;
  std::string path() const;
  std::string op() const;
  NodeLabel label() const { return {key(), path(), op()}; }
};

/// NodeAt::key of the node at this index.
std::string node_key(const CheckScope& scope, std::size_t index);

class CheckReport {
 public:
  explicit CheckReport(CheckResult& result, OnFinding on_finding = {})
      : result_(result), on_finding_(std::move(on_finding)) {}

  /// node empty: about the model as a whole.
  void add(Rule rule, std::string node, std::string op, std::string message);
  /// An error marks the node as faulty.
  void add(Rule rule, const NodeAt& at, std::string message);
  void add(Rule rule, const CheckScope& scope, std::string message);
  /// A rule of one operator. What was found at a node already is not told again.
  void add(const RuleInfo& rule, NodeLabel node, std::string message, const std::string& section);

  /// Nodes that inference must not judge again: their fault is reported.
  void mark_faulty(const NodeAt& at) { faulty_.insert(at.key()); }
  bool is_faulty(const std::string& key) const { return faulty_.count(key) != 0; }
  /// Whether an error was found at the node, by inference too.
  bool has_error_at(const std::string& key) const { return is_faulty(key) || misfit_.count(key) != 0; }
  bool any_faulty() const { return !faulty_.empty(); }

  bool has_errors() const { return result_.has_errors(); }
  /// Whether a form that is taken all the same was found (pages/forms.h).
  bool has_form() const { return has_form_; }
  bool has(Rule rule) const { return rules_.count(rule) != 0; }

 private:
  void push(const RuleInfo& info, std::string node, std::string op, std::string message, std::string section);

  CheckResult& result_;
  OnFinding on_finding_;
  std::unordered_set<std::string> faulty_;
  std::unordered_set<std::string> misfit_;  // whose types or shapes do not fit
  std::unordered_set<Rule> rules_;
  bool has_form_ = false;
  std::set<std::tuple<std::string, std::string, std::string>> told_;  // code, key, message
};

}  // namespace grurun::opset
