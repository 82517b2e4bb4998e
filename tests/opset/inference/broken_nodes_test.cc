// Types are inferred of nodes that no check has looked at: each operator in each version, with as few or as
// many inputs and outputs as its schema forbids, and with integers that ONNX's functions would divide by.
#include <gtest/gtest.h>

#include "onnx_io/models/write_model.h"
#include "opset/inference/infer_types.h"
#include "opset/schema/added/listed_schemas.h"
#include "opset/schema/registry.h"

namespace grurun::opset {
namespace {

using onnx_io::AttributeType;

onnx_io::Model model_of(const SchemaInfo& schema, int inputs, int outputs,
                        std::optional<std::int64_t> number) {
  onnx_io::Model model;
  model.ir_version = 10;
  model.opset_imports[schema.domain] = schema.since_version;
  model.graph.name = "g";
  onnx_io::Node node;
  node.op_type = schema.name;
  node.domain = schema.domain;
  for (int i = 0; i < inputs; ++i) {
    node.inputs.push_back("x" + std::to_string(i));
    model.graph.inputs.push_back(
        {node.inputs.back(), ValueType::tensor(DType::float32, symbolic_shape(Shape{2, 4, 4, 4}))});
  }
  for (int i = 0; i < outputs; ++i) {
    node.outputs.push_back("y" + std::to_string(i));
    model.graph.outputs.push_back({node.outputs.back(), {}});
  }
  for (const AttributeInfo& info : schema.attributes) {
    onnx_io::Attribute attribute;
    attribute.name = info.name;
    attribute.type = info.type;
    if (!number || (info.type != AttributeType::int_ && info.type != AttributeType::ints)) continue;
    attribute.i = *number;
    attribute.ints = {*number, *number};
    node.attributes.push_back(attribute);
  }
  model.graph.nodes.push_back(node);
  return onnx_io::reread(model);
}

TEST(BrokenNodes, AreNotInferred) {
  std::vector<const SchemaInfo*> schemas = all_schemas();
  for (const SchemaInfo* added : added_schemas()) schemas.push_back(added);
  std::size_t inferred = 0;
  for (const SchemaInfo* schema : schemas) {
    for (const int inputs : {0, std::min(schema->max_input, 4)})
      for (const int outputs : {0, std::min(schema->max_output, 3), 4})
        for (const std::optional<std::int64_t> number :
             {std::optional<std::int64_t>(), std::optional<std::int64_t>(0), std::optional<std::int64_t>(-1),
              std::optional<std::int64_t>(INT64_MAX), std::optional<std::int64_t>(INT64_MIN)})
          inferred += infer_types(model_of(*schema, inputs, outputs, number), {}).contains("y0") ? 1 : 0;
  }
  EXPECT_GT(inferred, schemas.size());
}

TEST(BrokenNodes, WithoutOutputsMakeNothing) {
  for (const SchemaInfo* split : schema_versions("Split"))
    EXPECT_EQ(infer_types(model_of(*split, 1, 0, {}), {}).size(), 1U) << split->since_version;
}

}  // namespace
}  // namespace grurun::opset
