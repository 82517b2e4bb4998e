#include "opset/pages/attribute_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "opset/check/check.h"
#include "opset/pages/judge_page.h"
#include "opset/schema/registry.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

std::optional<std::string> fault_of(const onnx_io::Node& node, int since_version) {
  const std::vector<Fault> faults = attribute_value_faults(node, since_version);
  const auto of_value = std::ranges::find(faults, Rule::attribute_value, &Fault::rule);
  return of_value == faults.end() ? std::nullopt : std::optional(of_value->message);
}

// Of the version that the entry begins with; the first one where it says none.
const SchemaInfo* schema_of(const PageOfDomain& entry, const StatedValues& stated) {
  const std::string name(entry.page->op_type), domain(entry.domain);
  if (stated.since > 1) return find_schema(name, domain, stated.since);
  const auto versions = schema_versions(name, &domain);
  return versions.empty() ? nullptr : versions.back();
}

onnx_io::Node node_with(const PageOfDomain& entry, const onnx_io::Attribute& attribute) {
  onnx_io::Node node;
  node.domain = entry.domain;
  node.op_type = entry.page->op_type;
  node.attributes = {attribute};
  return node;
}

onnx_io::Attribute holding(const StatedValues& stated, onnx_io::AttributeType type, int number) {
  onnx_io::Attribute attribute;
  attribute.name = stated.attribute;
  attribute.type = type;
  attribute.i = number;
  attribute.f = static_cast<float>(number);
  attribute.ints = {1, number};
  attribute.floats = {1, static_cast<float>(number)};
  attribute.s = "none such";
  attribute.strings = {"none such"};
  return attribute;
}

TEST(AttributeValues, StandForAttributesOfSchemasAndAdmitTheirDefaults) {
  for (const PageOfDomain& entry : all_pages()) {
    for (const StatedValues& stated : stated_values(*entry.page)) {
      SCOPED_TRACE(std::string(entry.page->op_type) + " " + std::string(stated.attribute));
      const SchemaInfo* schema = schema_of(entry, stated);
      ASSERT_NE(schema, nullptr);
      const int version = schema->since_version;
      if (stated.since > 1) {
        EXPECT_EQ(version, stated.since);
      }
      const auto found = std::ranges::find(schema->attributes, stated.attribute, &AttributeInfo::name);
      ASSERT_NE(found, schema->attributes.end());
      const auto with = [&](int number) { return node_with(entry, holding(stated, found->type, number)); };
      const int least = stated.above ? stated.least + 1 : stated.least;
      if (stated.list.empty()) {
        EXPECT_EQ(fault_of(with(least), version), std::nullopt);
      }
      const int wrong = stated.list.empty() ? least - 1 : -7;
      EXPECT_NE(fault_of(with(wrong), version), std::nullopt);
      if (!found->default_value) continue;
      EXPECT_EQ(fault_of(node_with(entry, *found->default_value), version), std::nullopt);
    }
  }
}

TEST(AttributeValues, NumbersAreChoicesToo) {
  onnx_io::Attribute causal;
  causal.name = "is_causal";
  causal.type = onnx_io::AttributeType::int_;
  causal.i = 2;
  onnx_io::Node node;
  node.op_type = "Attention";
  node.attributes = {causal};
  EXPECT_EQ(fault_of(node, 23), "is_causal is 2, but Attention-23 knows 0, 1");
  node.attributes[0].i = 1;
  EXPECT_EQ(fault_of(node, 24), std::nullopt);
}

TEST(AttributeValues, OfAnotherTypeAreNotRead) {
  onnx_io::Node node;
  node.domain = "ai.onnx.ml";
  node.op_type = "TreeEnsembleClassifier";
  const auto state = [&](const char* name, onnx_io::AttributeType type) -> onnx_io::Attribute& {
    onnx_io::Attribute& stated = node.attributes.emplace_back();
    stated.name = name;
    stated.type = type;
    return stated;
  };
  state("nodes_nodeids", onnx_io::AttributeType::ints).ints = {0, 0};
  state("nodes_modes", onnx_io::AttributeType::ints).ints = {1, 2};
  EXPECT_TRUE(attribute_value_faults(node, 3).empty());
}

TEST(AttributeValues, OfALabelEncoderAreOfOneKind) {
  onnx_io::Node node;
  node.domain = "ai.onnx.ml";
  node.op_type = "LabelEncoder";
  node.attributes.resize(2);
  node.attributes[0].name = "keys_floats";
  node.attributes[0].type = onnx_io::AttributeType::floats;
  node.attributes[0].floats = {1};
  node.attributes[1].name = "keys_tensor";
  node.attributes[1].type = onnx_io::AttributeType::tensor;
  node.attributes[1].tensors = {Tensor::from<float>(Shape{1}, std::vector<float>{1})};
  const std::vector<Fault> faults = attribute_value_faults(node, 4);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].message,
            "keys_floats and keys_tensor are both given, but LabelEncoder takes one of them");
  node.attributes[1].name = "values_tensor";
  EXPECT_TRUE(attribute_value_faults(node, 4).empty());
}

TEST(AttributeValues, TellWhichVersionHasAValue) {
  onnx_io::Attribute mode;
  mode.name = "mode";
  mode.type = onnx_io::AttributeType::string;
  mode.s = "wrap";
  onnx_io::Node node;
  node.op_type = "Pad";
  node.attributes = {mode};
  EXPECT_EQ(
      fault_of(node, 18),
      "mode is 'wrap', but Pad-18 knows constant, reflect, edge; Pad-19 has it: import opset 19 or newer");
  EXPECT_EQ(fault_of(node, 24), std::nullopt);
  node.attributes[0].ref_attr_name = "mode";
  EXPECT_EQ(fault_of(node, 18), std::nullopt);
}

TEST(AttributeValues, NameTheAttributeTheNumberAndTheBound) {
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

TEST(AttributeValues, OfListsNoneMayBeUnlisted) {
  onnx_io::Attribute modes;
  modes.name = "nodes_modes";
  modes.type = onnx_io::AttributeType::strings;
  onnx_io::Node node;
  node.domain = "ai.onnx.ml";
  node.op_type = "TreeEnsembleRegressor";
  modes.strings = {"BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"};
  node.attributes = {modes};
  EXPECT_EQ(fault_of(node, 3), std::nullopt);
  modes.strings[3] = "BRANCH_MEMBER";
  node.attributes = {modes};
  EXPECT_THAT(fault_of(node, 3).value_or(""), ::testing::HasSubstr("nodes_modes is 'BRANCH_MEMBER', but"));
}

}  // namespace
}  // namespace grurun::opset
