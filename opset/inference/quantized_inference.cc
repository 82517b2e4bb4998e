#include "opset/inference/quantized_inference.h"

#include "opset/schema/added/beyond.h"

namespace grurun::opset {

namespace {

onnx::OpSchema::FormalParameterOption option_of(ParameterKind kind) {
  return kind == ParameterKind::optional ? onnx::OpSchema::Optional : onnx::OpSchema::Single;
}

}  // namespace

onnx::OpSchema quantized_lstm_schema() {
  const SchemaInfo& info = schemas_beyond_the_standard().front();
  onnx::OpSchema schema(info.name, __FILE__, __LINE__);
  schema.SetDomain(info.domain).SinceVersion(info.since_version);
  int number = 0;
  for (const ParameterInfo& input : info.inputs)
    schema.Input(number++, input.name, input.description, input.type_str, option_of(input.kind));
  number = 0;
  for (const ParameterInfo& output : info.outputs)
    schema.Output(number++, output.name, output.description, output.type_str, option_of(output.kind));
  for (const TypeConstraintInfo& constraint : info.type_constraints)
    schema.TypeConstraint(constraint.name, constraint.types, constraint.description);
  schema.Finalize();
  return schema;
}

}  // namespace grurun::opset
