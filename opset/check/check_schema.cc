#include "opset/check/check_schema.h"

#include <fmt/format.h>

#include <utility>

#include "opset/pages/judge_page.h"
#include "opset/schema/arity.h"
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

void report_arity(const NodeAt& at, const ArityFaults& faults, Rule count, Rule required,
                  CheckReport& report) {
  if (faults.count) report.add(count, at, *faults.count);
  for (const std::string& omitted : faults.omitted) report.add(required, at, omitted);
}

}  // namespace

void check_against_schema(const NodeAt& at, const SchemaInfo& schema, CheckReport& report) {
  check_attributes(at, schema, report);
  report_arity(at, judge_inputs(at, schema), Rule::input_count, Rule::input_required, report);
  report_arity(at, judge_outputs(at, schema), Rule::output_count, Rule::output_required, report);
  for (Fault& fault : attribute_value_faults(at.node, schema.since_version))
    report.add(fault.rule, at, std::move(fault.message));
}

}  // namespace grurun::opset
