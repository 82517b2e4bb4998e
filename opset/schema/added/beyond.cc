#include "opset/schema/added/beyond.h"

#include <algorithm>
#include <utility>

#include "onnx_io/openvino/openvino_ir.h"

namespace grurun::opset {
namespace {

using onnx_io::AttributeType;

// onnxruntime's page of operators, com.microsoft.DynamicQuantizeLSTM.
SchemaInfo dynamic_quantize_lstm() {
  SchemaInfo schema{};
  schema.domain = "com.microsoft";
  schema.name = "DynamicQuantizeLSTM";
  schema.since_version = 1;
  const std::pair<const char*, AttributeType> attributes[] = {
      {"activation_alpha", AttributeType::floats}, {"activation_beta", AttributeType::floats},
      {"activations", AttributeType::strings},     {"clip", AttributeType::float_},
      {"direction", AttributeType::string},        {"hidden_size", AttributeType::int_},
      {"input_forget", AttributeType::int_},
  };
  for (const auto& [name, type] : attributes) {
    schema.attributes.push_back({name, "", type, false, std::nullopt});
  }
  const auto add = [](std::vector<ParameterInfo>& to, const char* name, const char* type,
                      ParameterKind kind) {
    to.push_back({name, "", type, kind, true, 1});
  };
  for (const auto& [name, type] : {std::pair{"X", "T"}, {"W", "T2"}, {"R", "T2"}})
    add(schema.inputs, name, type, ParameterKind::single);
  for (const auto& [name, type] :
       {std::pair{"B", "T"}, {"sequence_lens", "T1"}, {"initial_h", "T"}, {"initial_c", "T"}, {"P", "T"}})
    add(schema.inputs, name, type, ParameterKind::optional);
  for (const auto& [name, type] :
       {std::pair{"W_scale", "T"}, {"W_zero_point", "T2"}, {"R_scale", "T"}, {"R_zero_point", "T2"}})
    add(schema.inputs, name, type, ParameterKind::single);
  for (const char* name : {"Y", "Y_h", "Y_c"}) add(schema.outputs, name, "T", ParameterKind::optional);
  schema.type_constraints = {{"T", "", {"tensor(float)"}},
                             {"T1", "", {"tensor(int32)"}},
                             {"T2", "", {"tensor(uint8)", "tensor(int8)"}}};
  schema.min_input = schema.max_input = static_cast<int>(schema.inputs.size());
  schema.min_output = 0;
  schema.max_output = static_cast<int>(schema.outputs.size());
  return schema;
}

}  // namespace

const std::vector<SchemaInfo>& schemas_beyond_the_standard() {
  static const std::vector<SchemaInfo> schemas = {dynamic_quantize_lstm()};
  return schemas;
}

const SchemaInfo* find_schema_beyond(std::string_view op_type, std::string_view domain,
                                     std::int64_t opset_version) {
  const std::vector<SchemaInfo>& schemas = schemas_beyond_the_standard();
  const auto found = std::ranges::find_if(schemas, [&](const SchemaInfo& schema) {
    return schema.name == op_type && schema.domain == domain && schema.since_version <= opset_version;
  });
  return found == schemas.end() ? nullptr : &*found;
}

bool is_dynamic_quantize_lstm(std::string_view op_type, std::string_view domain) {
  return op_type == "DynamicQuantizeLSTM" && domain == "com.microsoft";
}

bool is_openvino_lstm(std::string_view op_type, std::string_view domain) {
  return op_type == "LSTM" && domain == onnx_io::openvino_domain;
}

}  // namespace grurun::opset
