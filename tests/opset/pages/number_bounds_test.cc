#include "opset/pages/number_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "opset/schema/registry.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

onnx_io::Node node_with(const NumberBound& row, onnx_io::AttributeType type, int number) {
  onnx_io::Attribute attribute;
  attribute.name = row.attribute;
  attribute.type = type;
  attribute.i = number;
  attribute.f = static_cast<float>(number);
  attribute.ints = {1, number};
  attribute.floats = {1, static_cast<float>(number)};
  onnx_io::Node node;
  node.domain = row.domain;
  node.op_type = row.op_type;
  node.attributes = {attribute};
  return node;
}

TEST(NumberBounds, StandForAttributesOfSchemasAndAdmitTheirDefaults) {
  for (const NumberBound& row : all_number_bounds()) {
    SCOPED_TRACE(std::string(row.op_type) + " " + std::string(row.attribute));
    const SchemaInfo* schema = find_schema(std::string(row.op_type), std::string(row.domain), row.since);
    ASSERT_NE(schema, nullptr);
    ASSERT_EQ(schema->since_version, row.since);
    const auto attribute = std::ranges::find(schema->attributes, row.attribute, &AttributeInfo::name);
    ASSERT_NE(attribute, schema->attributes.end());
    EXPECT_EQ(number_bound_fault(node_with(row, attribute->type, row.least), row.since), std::nullopt);
    EXPECT_NE(number_bound_fault(node_with(row, attribute->type, row.least - 1), row.since), std::nullopt);
    if (!attribute->default_value) continue;
    onnx_io::Node node = node_with(row, attribute->type, 0);
    node.attributes = {*attribute->default_value};
    EXPECT_EQ(number_bound_fault(node, row.since), std::nullopt);
  }
}

TEST(NumberBounds, NameTheAttributeTheNumberAndTheBound) {
  const auto findings = [](const char* model) {
    std::vector<std::string> out;
    const CheckResult result =
        check_model(text("<ir_version: 10, opset_import: [\"\" : 22]> g " + std::string(model))());
    for (const Finding& finding : result.findings) out.push_back(finding.code + " " + finding.message);
    return out;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(findings("(float[1,3,5,5] X) => (float[1,3,5,5] Y) { Y = LRN <size = 0> (X) }"),
            Lines{"SCHEMA013 size is 0, but must be at least 1"});
  EXPECT_EQ(findings("(float[1,1,2,2] X, int64[1,1,2,2] I) => (float[a,b,c,d] Y) { Y = MaxUnpool "
                     "<kernel_shape = [2, 2], strides = [2, 0]> (X, I) }"),
            Lines{"SCHEMA013 strides holds 0, but must hold numbers from 1 on"});
  EXPECT_EQ(findings("() => (float[2] Y) { Y = RandomNormal <shape = [2], scale = -0.5> () }"),
            Lines{"SCHEMA013 scale is -0.5, but must be at least 0"});
}

}  // namespace
}  // namespace grurun::opset
