#include "opset/check/recurrent_node.h"

#include <algorithm>

#include "opset/recurrent/recurrent_attributes.h"
#include "opset/recurrent/recurrent_rules.h"
#include "opset/schema/arity.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;

bool has(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() && !names[index].empty();
}

void add_arity(const ArityFaults& faults, RecurrentRule count, RecurrentRule required,
               RecurrentFindings& findings) {
  if (faults.count) findings.push_back({count, "", *faults.count});
  for (const std::string& omitted : faults.omitted) findings.push_back({required, "", omitted});
}

void check_states(const Node& node, RecurrentFindings& findings) {
  const bool h = has(node.inputs, input_initial_h);
  const bool c = has(node.inputs, input_initial_c);
  if (h == c) return;
  findings.push_back({RecurrentRule::one_state, h ? "input initial_c" : "input initial_h",
                      h ? "initial_h is given and initial_c is not, which is then 0; give both"
                        : "initial_c is given and initial_h is not, which is then 0; give both"});
}

// The text says that Y is optional if output_sequence is 0, and runtimes have read it in more ways than one.
void check_output_sequence(const Node& node, const RecurrentAttributes& attributes,
                           RecurrentFindings& findings) {
  const bool wanted = attributes.output_sequence.value_or(0) != 0;
  const bool used = has(node.outputs, output_Y);
  if (wanted == used) return;
  findings.push_back(
      {RecurrentRule::output_sequence, "",
       used ? "Y is used, but output_sequence is 0: some runtimes then give Y_h in its place; set it to 1"
            : "output_sequence is 1, but Y is omitted; set it to 0, or name Y"});
}

}  // namespace

void check_recurrent_node(const NodeAt& at, const RecurrentForm& form, const SchemaInfo& schema,
                          CheckReport& report, bool made_here) {
  const Node& node = at.node;
  RecurrentFindings findings;
  const RecurrentAttributes attributes = read_recurrent_attributes(form, schema, node.attributes, findings);
  if (made_here) std::erase_if(findings, [](const auto& f) { return f.rule == RecurrentRule::batch_first; });
  add_arity(judge_inputs(at, schema), RecurrentRule::input_count, RecurrentRule::input_required, findings);
  const ArityFaults outputs = judge_outputs(at, schema);
  const bool few = static_cast<int>(node.outputs.size()) < schema.min_output;  // GRU-1 without Y_h
  add_arity(outputs, few ? RecurrentRule::output_required : RecurrentRule::output_count,
            RecurrentRule::output_required, findings);
  if (form.has_cell) check_states(node, findings);
  if (schema.since_version < 7) check_output_sequence(node, attributes, findings);
  if (!outputs.count && outputs.omitted.empty() && std::ranges::all_of(node.outputs, &std::string::empty)) {
    findings.push_back({RecurrentRule::nothing_used, "", "no output is used; name one, or remove the node"});
  }
  for (RecurrentFinding& found : findings) {
    const RuleInfo& rule = recurrent_rule(node.op_type, found.rule);
    if (rule.severity == Severity::error) report.mark_faulty(at);
    report.add(rule, at.label(), std::move(found.message), found.section);
  }
}

void check_added_layer(const NodeAt& at, const RecurrentForm& form, const SchemaInfo& schema,
                       CheckReport& report) {
  RecurrentFindings findings;
  read_recurrent_attributes(form, schema, at.node.attributes, findings);
  for (RecurrentFinding& found : findings) {
    if (found.rule > RecurrentRule::attribute_once && is_error(form, found))
      report.add(Rule::inference, at, std::move(found.message));
  }
}

}  // namespace grurun::opset
