#include "cli/rule_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/streams.h"
#include "engine/graph/computed_values.h"
#include "engine/graph/node_rules.h"
#include "opset/check/check_before_run.h"
#include "opset/schema/registry.h"
#include "report/findings/check_format.h"
#include "trial/preparation_fault.h"

namespace grurun::cli {

namespace {

void tell_warnings(const std::vector<opset::Finding>& findings) {
  constexpr std::size_t most = 20;
  std::size_t count = 0;
  for (const opset::Finding& finding : findings) {
    if (finding.severity != opset::Severity::warning || ++count > most) continue;
    tell("grurun: {}\n", report::finding_line(finding));
  }
  if (count > most) tell("grurun: {} more warnings\n", count - most);
}

std::map<std::string, ValueType> apply_rules(const onnx_io::Model& model,
                                             const std::unordered_set<std::string>& fed, bool all_rules) {
  const opset::ComputedValues computed = engine::computed_values(model, fed);
  opset::CheckResult result = all_rules ? opset::check_model(model, computed, trial::preparation_fault)
                                        : opset::check_before_run(model, fed, computed);
  opset::require_no_errors(result);
  tell_warnings(result.findings);
  return std::move(result.inferred);
}

/// Labels of the nodes that make something to be watched.
std::unordered_set<std::string> labels_of(const onnx_io::Model& model, const opset::ActualTypes& types) {
  std::unordered_set<std::string> labels;
  for (const onnx_io::Node& node : model.graph.nodes) {
    if (std::ranges::none_of(node.outputs, [&](const std::string& name) { return types.watches(name); }))
      continue;
    const auto import = model.opset_imports.find(node.domain);
    if (import == model.opset_imports.end()) continue;
    const auto version = opset::since_version(node.op_type, node.domain, import->second);
    if (version) labels.insert(engine::node_label(node, "", *version));
  }
  return labels;
}

}  // namespace

RuleCheck::RuleCheck(const onnx_io::Model& model, const std::unordered_set<std::string>& fed, bool all_rules)
    : types_(model.graph, apply_rules(model, fed, all_rules)), labels_(labels_of(model, types_)) {}

void RuleCheck::see(const engine::Step& step, std::size_t output, const Value& value) {
  if (labels_.contains(step.label)) types_.see(step.output_names.at(output), value);
}

void RuleCheck::print_warnings() const {
  tell_warnings(types_.findings());
}

}  // namespace grurun::cli
