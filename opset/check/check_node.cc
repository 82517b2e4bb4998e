#include "opset/check/check_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "opset/check/recurrent_node.h"
#include "opset/findings/check_report.h"
#include "opset/findings/rule_error.h"
#include "opset/pages/forms.h"
#include "opset/pages/judge_page.h"
#include "opset/schema/added/experimental.h"
#include "opset/schema/arity.h"
#include "opset/schema/attribute_faults.h"
#include "opset/schema/near_match.h"
#include "opset/schema/registry.h"
#include "opset/schema/schema_store.h"

namespace grurun::opset {

namespace {

Rule schema_rule_of(AttributeFault::Kind kind) {
  switch (kind) {
    case AttributeFault::Kind::given_twice:
      return Rule::attribute_once;
    case AttributeFault::Kind::unknown:
      return Rule::attribute_known;
    case AttributeFault::Kind::wrong_type:
      break;
  }
  return Rule::attribute_type;
}

void check_attributes(const NodeAt& at, const SchemaInfo& schema, CheckReport& report) {
  for (AttributeFault& fault : judge_attributes(schema, at.node.attributes)) {
    const bool is_form =
        fault.kind == AttributeFault::Kind::unknown &&
        is_left_unread(at.node, *at.node.find_attribute(fault.attribute), schema.since_version);
    if (!is_form) report.add(schema_rule_of(fault.kind), at, std::move(fault.message));
  }
  for (const AttributeInfo& attribute : schema.attributes) {
    if (!attribute.required || at.node.find_attribute(attribute.name) != nullptr) continue;
    report.add(Rule::attribute_required, at,
               fmt::format("attribute '{}' ({}) is missing", attribute.name,
                           onnx_io::attribute_type_name(attribute.type)));
  }
}

void report_arity(const NodeAt& at, const ArityFaults& faults, Rule count, Rule required,
                  CheckReport& report) {
  if (faults.count) report.add(count, at, *faults.count);
  for (const std::string& omitted : faults.omitted) report.add(required, at, omitted);
}

/// Attributes and the numbers of inputs and outputs, as the schema has them.
void check_against_schema(const NodeAt& at, const SchemaInfo& schema, CheckReport& report) {
  check_attributes(at, schema, report);
  report_arity(at, judge_inputs(at, schema), Rule::input_count, Rule::input_required, report);
  report_arity(at, judge_outputs(at, schema), Rule::output_count, Rule::output_required, report);
  for (Fault& fault : attribute_value_faults(at.node, schema.since_version))
    report.add(fault.rule, at, std::move(fault.message));
}

}  // namespace

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Node;

void NodeChecker::check(const CheckScope& scope, const Node& node, std::size_t index) {
  NodeAt at{scope, node, index};
  check_references(at);
  if (const Function* function = functions_.find(node)) return check_call(at, *function);
  if (const auto fault = functions_.overload_fault(node))
    return report_.add(Rule::function_overload, at, *fault);
  const std::optional<std::int64_t> opset_version = imported_opset(at);
  if (!opset_version) return;
  const SchemaInfo* schema = find_schema(node.op_type, node.domain, *opset_version);
  if (schema == nullptr && !newest_opset(node.domain)) return report_unknown_domain(at);
  if (schema == nullptr) return report_unknown_operator(at, *opset_version);
  at.since_version = schema->since_version;
  if (schema->deprecated) {
    report_.add(Rule::operator_deprecated, at,
                fmt::format("deprecated since opset {}, and the model imports {}; use what replaced it or "
                            "import an older opset",
                            schema->since_version, *opset_version));
    return;
  }
  if (const RecurrentForm* form = find_recurrent_form(node.op_type, node.domain)) {
    check_recurrent_node(at, *form, *schema, report_, made_here_);
  } else {
    check_against_schema(at, *schema, report_);
    if (const RecurrentForm* layer = find_layer_form(node.op_type, node.domain))
      check_added_layer(at, *layer, *schema, report_);
  }
}

// A version that is newer than the registry, or below 1, has a finding of its own: the node is only marked.
std::optional<std::int64_t> NodeChecker::imported_opset(const NodeAt& at) {
  const std::string& domain = at.node.domain;
  const auto import = at.scope.imports->find(domain);
  if (import == at.scope.imports->end()) {
    report_.mark_faulty(at);
    if (missing_imports_.emplace(at.scope.imports, domain).second) {
      report_.add(Rule::domain_imported, at,
                  fmt::format("domain '{}' has no entry in opset_import; add one with the version that the "
                              "nodes are written for",
                              onnx_io::shown_domain(domain)));
    }
    return std::nullopt;
  }
  const std::optional<std::int64_t> newest = newest_opset(domain);
  if (newest && (import->second < 1 || import->second > *newest)) {
    report_.mark_faulty(at);
    return std::nullopt;
  }
  return import->second;
}

void NodeChecker::report_unknown_domain(const NodeAt& at) {
  if (!unknown_domains_.emplace(at.node.domain, at.node.op_type).second) return;
  report_.add(Rule::domain_known, at,
              fmt::format("'{}' is not a standard domain and the model has no function {}.{}; its nodes are "
                          "not checked{}",
                          at.node.domain, at.node.domain, at.node.op_type,
                          did_you_mean(near_matches(at.node.domain, known_domains()))));
}

void NodeChecker::report_unknown_operator(const NodeAt& at, std::int64_t opset_version) {
  const auto name = std::pair{at.node.domain + '\n' + at.node.op_type, opset_version};
  const auto [text, added] = unknown_operators_.try_emplace(name);
  if (added) text->second = describe_unknown_operator(at.node.op_type, at.node.domain, opset_version);
  report_.add(Rule::operator_known, at, text->second);
}

void NodeChecker::check_call(const NodeAt& at, const Function& function) {
  const auto check_count = [&](std::size_t count, std::size_t most, const char* what) {
    if (count <= most) return;
    report_.add(
        Rule::function_call_arity, at,
        fmt::format("{} {}, but function {}.{} has {}", count, what, function.domain, function.name, most));
  };
  check_count(at.node.inputs.size(), function.inputs.size(), "inputs");
  check_count(at.node.outputs.size(), function.outputs.size(), "outputs");
  const CallAttributeFaults faults = judge_call_attributes(at.node, function);
  for (const std::string& fault : faults.repeated) report_.add(Rule::attribute_once, at, fault);
  for (const std::string& fault : faults.unknown) report_.add(Rule::function_call_attribute, at, fault);
}

void NodeChecker::check_references(const NodeAt& at) {
  for (const Attribute& attribute : at.node.attributes) {
    if (attribute.ref_attr_name.empty()) continue;
    const Function* function = at.scope.function;
    if (function == nullptr) {
      report_.add(Rule::function_reference, at,
                  fmt::format("attribute '{}' refers to '{}', but only a node of a function can refer to an "
                              "attribute of its caller",
                              attribute.name, attribute.ref_attr_name));
    } else if (!declares_attribute(*function, attribute.ref_attr_name)) {
      report_.add(Rule::function_reference, at,
                  fmt::format("attribute '{}' refers to '{}', which function {}.{} does not declare",
                              attribute.name, attribute.ref_attr_name, function->domain, function->name));
    }
  }
}

void require_node(const onnx_io::Node& node, const onnx_io::OpsetImports& imports) {
  static const std::vector<onnx_io::Function> no_functions;
  static const FunctionIndex none(no_functions);
  CheckResult result;
  CheckReport report(result);
  CheckScope scope;
  scope.label = "graph";
  scope.imports = &imports;
  NodeChecker(none, report, false).check(scope, node, 0);
  // A run takes those that only ONNX Runtime has.
  const auto import = imports.find(node.domain);
  const SchemaInfo* schema =
      import == imports.end() ? nullptr : find_schema(node.op_type, node.domain, import->second);
  const bool is_added = schema != nullptr && schema->experimental && is_of_runtimes(schema->name);
  const auto error = std::ranges::find_if(result.findings, [&](const Finding& finding) {
    const bool known = is_added && finding.code == rule_info(Rule::operator_known).code;
    return finding.severity == Severity::error && !known;
  });
  if (error != result.findings.end()) throw RuleError(error->message, error->code);
}

}  // namespace grurun::opset
