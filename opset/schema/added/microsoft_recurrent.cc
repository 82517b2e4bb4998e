#include <string>

#include "opset/schema/added/added_schemas.h"

namespace grurun::opset {

namespace {

using onnx::AttributeProto;
using onnx::OpSchema;

OpSchema dynamic_quantize_lstm() {
  OpSchema schema("DynamicQuantizeLSTM", __FILE__, __LINE__);
  schema.SetDomain("com.microsoft").SinceVersion(1);
  const std::pair<const char*, AttributeProto::AttributeType> attributes[] = {
      {"activation_alpha", AttributeProto::FLOATS}, {"activation_beta", AttributeProto::FLOATS},
      {"activations", AttributeProto::STRINGS},     {"clip", AttributeProto::FLOAT},
      {"direction", AttributeProto::STRING},        {"hidden_size", AttributeProto::INT},
      {"input_forget", AttributeProto::INT},
  };
  for (const auto& [name, type] : attributes) schema.Attr(name, "", type, onnx::OPTIONAL_VALUE);
  struct Input {
    const char* name;
    const char* type;
    OpSchema::FormalParameterOption option = OpSchema::Single;
  };
  const Input inputs[] = {
      {"X", "T"},
      {"W", "T2"},  // [num_directions, input_size, 4*hidden_size]
      {"R", "T2"},  // [num_directions, hidden_size, 4*hidden_size]
      {"B", "T", OpSchema::Optional},
      {"sequence_lens", "T1", OpSchema::Optional},
      {"initial_h", "T", OpSchema::Optional},
      {"initial_c", "T", OpSchema::Optional},
      {"P", "T", OpSchema::Optional},
      {"W_scale", "T"},
      {"W_zero_point", "T2"},
      {"R_scale", "T"},
      {"R_zero_point", "T2"},
  };
  int number = 0;
  for (const Input& input : inputs) schema.Input(number++, input.name, "", input.type, input.option);
  number = 0;
  for (const char* name : {"Y", "Y_h", "Y_c"}) schema.Output(number++, name, "", "T", OpSchema::Optional);
  return schema.TypeConstraint("T", {"tensor(float)"}, "")
      .TypeConstraint("T1", {"tensor(int32)"}, "")
      .TypeConstraint("T2", {"tensor(uint8)", "tensor(int8)"}, "");
}

}  // namespace

std::vector<OpSchema> microsoft_recurrent_schemas() {
  return {dynamic_quantize_lstm()};
}

}  // namespace grurun::opset
