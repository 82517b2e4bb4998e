#include "opset/findings/check_report.h"

#include <fmt/format.h>

#include "opset/findings/labels.h"

namespace grurun::opset {

CheckScope CheckScope::of_main_graph(const onnx_io::Model& model) {
  CheckScope scope;
  scope.label = "graph";
  scope.imports = &model.opset_imports;
  return scope;
}

CheckScope CheckScope::of_function(const onnx_io::Function& function) {
  CheckScope scope;
  scope.label = function_label(function.domain, function.name, function.overload);
  scope.imports = &function.opset_imports;
  scope.function = &function;
  return scope;
}

CheckScope CheckScope::of_subgraph(const NodeAt& holder, const std::string& attribute) {
  CheckScope scope;
  scope.parent = &holder.scope;
  scope.label = node_name(holder.node.name, holder.node.op_type, holder.index) + "." + attribute;
  scope.imports = holder.scope.imports;
  scope.function = holder.scope.function;
  scope.holder = holder.index;
  return scope;
}

std::string CheckScope::path() const {
  return parent == nullptr ? label : parent->path() + "/" + label;
}

std::string CheckScope::key() const {
  return parent == nullptr ? label : fmt::format("{}/{}.{}", parent->key(), holder, label);
}

namespace {

// Faults without number, or of megabytes, are a hostile model's.
constexpr std::size_t longest_message = 4000;
constexpr std::size_t most_findings = 10'000;

}  // namespace

std::string node_key(const CheckScope& scope, std::size_t index) {
  return fmt::format("{}#{}", scope.key(), index);
}

std::string NodeAt::key() const {
  return node_key(scope, index);
}

std::string NodeAt::path() const {
  return scope.path() + "/" + node_name(node.name, node.op_type, index);
}

std::string NodeAt::op() const {
  return op_label(node.domain, node.op_type, since_version);
}

void CheckReport::add(Rule rule, std::string node, std::string op, std::string message) {
  rules_.insert(rule);
  push(rule_info(rule), std::move(node), std::move(op), std::move(message), "");
}

void CheckReport::add(const RuleInfo& rule, NodeLabel node, std::string message, const std::string& section) {
  if (rule.severity == Severity::error) misfit_.insert(node.key);
  if (!told_.emplace(rule.code, std::move(node.key), message).second) return;
  push(rule, std::move(node.path), std::move(node.op), std::move(message),
       section.empty() ? rule.section : section);
}

void CheckReport::push(const RuleInfo& info, std::string node, std::string op, std::string message,
                       std::string section) {
  has_form_ |= is_form_code(info.code);
  if (result_.findings.size() > most_findings) return;
  if (result_.findings.size() < most_findings) {
    result_.findings.push_back({info.code, severity_of(info), std::move(node), std::move(op),
                                shortened(std::move(message), longest_message), std::move(section)});
  } else {
    const RuleInfo& limit = rule_info(Rule::finding_count);
    result_.findings.push_back(
        {limit.code, limit.severity, "", "",
         fmt::format("more than {} findings; the others are not listed", most_findings), ""});
  }
  if (on_finding_) on_finding_(result_.findings.back());
}

void CheckReport::add(Rule rule, const NodeAt& at, std::string message) {
  if (rule_info(rule).severity == Severity::error) mark_faulty(at);
  add(rule, at.path(), at.op(), std::move(message));
}

void CheckReport::add(Rule rule, const CheckScope& scope, std::string message) {
  const bool main_graph = scope.parent == nullptr && scope.function == nullptr;
  add(rule, main_graph ? std::string() : scope.path(), "", std::move(message));
}

}  // namespace grurun::opset
