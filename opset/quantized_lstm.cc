#include "opset/quantized_lstm.h"

#include "opset/beyond.h"
#include "opset/recurrent_attributes.h"
#include "opset/recurrent_rules.h"
#include "opset/recurrent_shapes.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;
using TypesByName = std::map<std::string, ValueType>;

RecurrentAttributes read_attributes(const Node& node, const SchemaInfo& schema, RecurrentFindings& findings) {
  return read_recurrent_attributes(quantized_lstm_form(), schema, node.attributes, findings);
}

// The errors among them; what the schema says has been told.
void tell(RecurrentFindings& findings, const NodeAt& at, CheckReport& report) {
  for (RecurrentFinding& found : findings) {
    if (found.rule > RecurrentRule::attribute_once && is_error(quantized_lstm_form(), found))
      report.add(Rule::inference, at, std::move(found.message));
  }
}

RecurrentInputInfo info_of(const std::string& name, const TypesByName& types) {
  const auto found = types.find(name);
  RecurrentInputInfo info;
  info.given = !name.empty();
  if (found != types.end() && found->second.kind == ValueType::Kind::tensor) info.shape = found->second.shape;
  return info;
}

}  // namespace

void check_quantized_attributes(const NodeAt& at, const SchemaInfo& schema, CheckReport& report) {
  RecurrentFindings findings;
  read_attributes(at.node, schema, findings);
  tell(findings, at, report);
}

void check_quantized_shapes(const onnx_io::Model& model, const FunctionIndex& functions,
                            const TypesByName& types, CheckReport& report) {
  const CheckScope scope = CheckScope::of_main_graph(model);
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    const auto import = model.opset_imports.find(node.domain);
    if (!is_dynamic_quantize_lstm(node.op_type, node.domain) || import == model.opset_imports.end()) continue;
    const SchemaInfo* schema = find_schema_beyond(node.op_type, node.domain, import->second);
    if (schema == nullptr || functions.find(node) != nullptr) continue;
    const NodeAt at{scope, node, i, schema->since_version};
    if (report.is_faulty(at.key())) continue;
    RecurrentFindings findings;
    const RecurrentAttributes attributes = read_attributes(node, *schema, findings);
    findings.clear();  // told with the node
    std::vector<RecurrentInputInfo> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(info_of(name, types));
    check_recurrent_shapes(quantized_lstm_form(), attributes, inputs, findings);
    tell(findings, at, report);
  }
}

}  // namespace grurun::opset
