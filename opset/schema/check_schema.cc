#include "opset/schema/check_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "opset/pages/named_values.h"
#include "opset/pages/number_bounds.h"
#include "opset/pages/window_rules.h"
#include "opset/schema/attribute_faults.h"

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
  for (AttributeFault& fault : judge_attributes(schema, at.node.attributes))
    report.add(schema_rule_of(fault.kind), at, std::move(fault.message));
  for (const AttributeInfo& attribute : schema.attributes) {
    if (!attribute.required || at.node.find_attribute(attribute.name) != nullptr) continue;
    report.add(Rule::attribute_required, at,
               fmt::format("attribute '{}' ({}) is missing", attribute.name,
                           onnx_io::attribute_type_name(attribute.type)));
  }
}

// "2", "1 to 3", "at least 1".
std::string range_text(int min, int max) {
  if (min == max) return fmt::format("{}", min);
  if (max >= 1'000'000) return fmt::format("at least {}", min);
  return fmt::format("{} to {}", min, max);
}

std::string parameter_list(const std::vector<ParameterInfo>& parameters) {
  std::string list;
  for (const ParameterInfo& parameter : parameters) {
    if (!list.empty()) list += ", ";
    list += parameter.name;
    if (parameter.kind == ParameterKind::optional) list += "?";
    if (parameter.kind == ParameterKind::variadic) list += "...";
  }
  return list;
}

struct Side {
  const std::vector<std::string>& names;
  const std::vector<ParameterInfo>& parameters;
  int min;
  int max;
  const char* noun;
  const char* verb;
};

ArityFaults judge_side(const NodeAt& at, const Side& side) {
  ArityFaults faults;
  const int count = static_cast<int>(std::min<std::size_t>(side.names.size(), 1u << 30));
  if (count < side.min || count > side.max) {
    faults.count =
        fmt::format("{} {}{}; {} {} {}{}", count, side.noun, count == 1 ? "" : "s", at.op(), side.verb,
                    range_text(side.min, side.max),
                    side.parameters.empty() ? "" : fmt::format(" ({})", parameter_list(side.parameters)));
  }
  for (std::size_t i = 0; i < side.names.size() && i < side.parameters.size(); ++i) {
    if (!side.names[i].empty() || side.parameters[i].kind != ParameterKind::single) continue;
    faults.omitted.push_back(
        fmt::format("{} {} ({}) is omitted, but it is required", side.noun, i, side.parameters[i].name));
  }
  return faults;
}

void report_arity(const NodeAt& at, const ArityFaults& faults, Rule count, Rule required,
                  CheckReport& report) {
  if (faults.count) report.add(count, at, *faults.count);
  for (const std::string& omitted : faults.omitted) report.add(required, at, omitted);
}

}  // namespace

ArityFaults judge_inputs(const NodeAt& at, const SchemaInfo& schema) {
  return judge_side(at,
                    {at.node.inputs, schema.inputs, schema.min_input, schema.max_input, "input", "takes"});
}

ArityFaults judge_outputs(const NodeAt& at, const SchemaInfo& schema) {
  return judge_side(
      at, {at.node.outputs, schema.outputs, schema.min_output, schema.max_output, "output", "gives"});
}

void check_against_schema(const NodeAt& at, const SchemaInfo& schema, CheckReport& report) {
  check_attributes(at, schema, report);
  report_arity(at, judge_inputs(at, schema), Rule::input_count, Rule::input_required, report);
  report_arity(at, judge_outputs(at, schema), Rule::output_count, Rule::output_required, report);
  if (const auto fault = window_fault(at.node, schema.since_version)) {
    report.add(Rule::attributes_together, at, *fault);
  }
  if (const auto fault = named_value_fault(at.node, schema.since_version)) {
    report.add(Rule::attribute_value, at, *fault);
  } else if (const auto small = number_bound_fault(at.node, schema.since_version)) {
    report.add(Rule::attribute_value, at, *small);
  }
}

}  // namespace grurun::opset
