#include "opset/pages/named_values.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "opset/schema/registry.h"

namespace grurun::opset {
namespace {

const AttributeInfo* attribute_of(const NamedValues& row) {
  const SchemaInfo* schema =
      find_schema(std::string(row.op_type), std::string(row.domain), static_cast<std::int64_t>(row.since));
  if (schema == nullptr || schema->since_version != row.since) return nullptr;
  const auto found = std::ranges::find(schema->attributes, row.attribute, &AttributeInfo::name);
  return found == schema->attributes.end() ? nullptr : &*found;
}

TEST(NamedValues, StandForAttributesOfSchemasAndHoldTheirDefaults) {
  for (const NamedValues& row : all_named_values()) {
    SCOPED_TRACE(std::string(row.op_type) + " " + std::string(row.attribute));
    const AttributeInfo* attribute = attribute_of(row);
    ASSERT_NE(attribute, nullptr) << row.since;
    if (!attribute->default_value) continue;
    onnx_io::Node node;
    node.domain = row.domain;
    node.op_type = row.op_type;
    node.attributes = {*attribute->default_value};
    EXPECT_EQ(named_value_fault(node, row.since).value_or(""), "");
    node.attributes[0].s = "none such";
    node.attributes[0].i = -7;
    node.attributes[0].ints = {-7};
    EXPECT_NE(named_value_fault(node, row.since).value_or(""), "");
  }
}

TEST(NamedValues, NumbersAreChoicesToo) {
  onnx_io::Attribute causal;
  causal.name = "is_causal";
  causal.type = onnx_io::AttributeType::int_;
  causal.i = 2;
  onnx_io::Node node;
  node.op_type = "Attention";
  node.attributes = {causal};
  EXPECT_EQ(named_value_fault(node, 23), "is_causal is 2, but Attention-23 knows 0, 1");
  node.attributes[0].i = 1;
  EXPECT_EQ(named_value_fault(node, 24), std::nullopt);
}

TEST(NamedValues, TellWhichVersionHasAValue) {
  onnx_io::Attribute mode;
  mode.name = "mode";
  mode.type = onnx_io::AttributeType::string;
  mode.s = "wrap";
  onnx_io::Node node;
  node.op_type = "Pad";
  node.attributes = {mode};
  EXPECT_EQ(
      named_value_fault(node, 18),
      "mode is 'wrap', but Pad-18 knows constant, reflect, edge; Pad-19 has it: import opset 19 or newer");
  EXPECT_EQ(named_value_fault(node, 24), std::nullopt);
  node.attributes[0].ref_attr_name = "mode";
  EXPECT_EQ(named_value_fault(node, 18), std::nullopt);
}

}  // namespace
}  // namespace grurun::opset
