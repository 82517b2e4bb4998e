#include "opset/recurrent/recurrent_schema.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace grurun::opset {

namespace {

using onnx_io::AttributeType;

constexpr int newest = 1'000'000;

struct AttributeRow {
  const char* name;
  AttributeType type;
  const char* op_type = "";  // empty: all three
  int first = 1;             // since_versions that have it
  int last = newest;
};

// By name, as the registry's are sorted.
constexpr std::array attributes = {
    AttributeRow{"activation_alpha", AttributeType::floats},
    AttributeRow{"activation_beta", AttributeType::floats},
    AttributeRow{"activations", AttributeType::strings},
    AttributeRow{"clip", AttributeType::float_},
    AttributeRow{"direction", AttributeType::string},
    AttributeRow{"hidden_size", AttributeType::int_},
    AttributeRow{"input_forget", AttributeType::int_, "LSTM"},
    AttributeRow{"layout", AttributeType::int_, "", 14},
    AttributeRow{"linear_before_reset", AttributeType::int_, "GRU", 3},
    AttributeRow{"output_sequence", AttributeType::int_, "", 1, 6},
};

ParameterInfo parameter(const char* name, const char* type, bool required) {
  return {name, "", type, required ? ParameterKind::single : ParameterKind::optional, true, 1};
}

SchemaInfo make_schema(const RecurrentForm& form, int version) {
  SchemaInfo schema{};
  schema.name = form.op_type;
  schema.since_version = version;
  schema.has_shape_inference = true;
  for (const AttributeRow& row : attributes) {
    const bool of_operator = *row.op_type == '\0' || schema.name == row.op_type;
    if (!of_operator || version < row.first || version > row.last) continue;
    schema.attributes.push_back({row.name, "", row.type, false, std::nullopt});
  }
  const std::size_t inputs = form.has_cell ? 8 : 6;
  for (std::size_t i = 0; i < inputs; ++i) {
    schema.inputs.push_back(
        parameter(recurrent_input_name(i), i == input_sequence_lens ? "T1" : "T", i <= input_R));
  }
  const bool needs_Y_h = version == 1 && schema.name == "GRU";
  const std::size_t outputs = form.has_cell ? 3 : 2;
  for (std::size_t i = 0; i < outputs; ++i) {
    schema.outputs.push_back(parameter(recurrent_output_name(i), "T", needs_Y_h && i == output_Y_h));
  }
  std::vector<std::string> floats = {"tensor(float16)", "tensor(float)", "tensor(double)"};
  if (version >= 22) floats.insert(floats.begin(), "tensor(bfloat16)");
  schema.type_constraints = {{"T", "", std::move(floats)}, {"T1", "", {"tensor(int32)"}}};
  schema.min_input = 3;
  schema.max_input = static_cast<int>(inputs);
  schema.min_output = needs_Y_h ? 2 : 0;
  schema.max_output = static_cast<int>(outputs);
  return schema;
}

std::vector<SchemaInfo> make_schemas(const RecurrentForm& form) {
  std::vector<SchemaInfo> schemas;
  for (const int version : {1, 3, 7, 14, 22}) {
    if (version == 3 && form.op_type != std::string_view("GRU")) continue;
    schemas.push_back(make_schema(form, version));
  }
  return schemas;
}

}  // namespace

const std::vector<SchemaInfo>& recurrent_schemas(const RecurrentForm& form) {
  static const std::map<std::string_view, std::vector<SchemaInfo>> schemas = [] {
    std::map<std::string_view, std::vector<SchemaInfo>> made;
    for (const RecurrentForm& each : recurrent_forms()) made.emplace(each.op_type, make_schemas(each));
    return made;
  }();
  return schemas.at(form.op_type);
}

const SchemaInfo* find_recurrent_schema(const RecurrentForm& form, std::int64_t opset_version) {
  const SchemaInfo* found = nullptr;
  for (const SchemaInfo& schema : recurrent_schemas(form)) {
    if (schema.since_version <= opset_version) found = &schema;
  }
  return found;
}

}  // namespace grurun::opset
