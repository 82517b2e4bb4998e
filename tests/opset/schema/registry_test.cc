#include "opset/schema/registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "opset/schema/added/registered_schema.h"
#include "tensor/error.h"

namespace grurun::opset {
namespace {

using onnx_io::AttributeType;
using onnx_io::Function;
using onnx_io::Node;
using testing::ElementsAre;
using testing::IsEmpty;

struct VersionCase {
  const char* op_type;
  const char* domain;
  std::int64_t opset;
  int expected;  // 0: unknown
};

TEST(RegisteredSchema, OneThatOnnxHadNoMemoryForIsALimit) {
  EXPECT_EQ(registered_schema("GRU", 14, "").Name(), "GRU");
  try {
    registered_schema("NotRegistered", 1, "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_THAT(error.what(), testing::HasSubstr("could not register NotRegistered-1"));
  }
}

TEST(SinceVersion, IsThatOfTheNewestSchemaWithinTheOpset) {
  const VersionCase cases[] = {
      {"GRU", "", 1, 1},
      {"GRU", "", 2, 1},
      {"GRU", "", 3, 3},
      {"GRU", "", 6, 3},
      {"GRU", "", 7, 7},
      {"GRU", "", 13, 7},
      {"GRU", "", 14, 14},
      {"GRU", "", 21, 14},
      {"GRU", "", 22, 22},
      {"GRU", "", 28, 22},
      {"GRU", "ai.onnx", 14, 14},
      {"LSTM", "", 14, 14},
      {"RNN", "", 1, 1},
      {"Upsample", "", 9, 9},
      {"ConstantFill", "", 9, 1},  // experimental in onnx 1.2 to 1.4, gone with opset 10
      {"ConstantFill", "", 10, 0},
      {"ThresholdedRelu", "", 9, 1},
      {"ThresholdedRelu", "", 10, 10},
      {"MeanVarianceNormalization", "", 8, 8},
      {"Upsample", "", 10, 10},
      {"Scaler", "ai.onnx.ml", 3, 1},
      {"Adam", "ai.onnx.preview.training", 1, 1},
      {"GRU", "", 0, 0},
      {"GRU", "", -5, 0},
      {"GRU", "", 29, 0},
      {"GRU", "", INT64_MAX, 0},
      {"GRU", "", (std::int64_t{1} << 32) + 14, 0},
      {"Gru", "", 14, 0},
      {"GRU", "ai.onnx.ml", 1, 0},
      {"GRU", "com.example", 1, 0},
      {"Gelu", "", 19, 0},
      {"Gelu", "", 20, 20},
  };
  for (const VersionCase& c : cases) {
    EXPECT_EQ(since_version(c.op_type, c.domain, c.opset).value_or(0), c.expected)
        << c.domain << " " << c.op_type << " " << c.opset;
  }
}

TEST(FindSchema, PointersAreStableAndSharedByOpsetsOfOneVersion) {
  const SchemaInfo* first = find_schema("GRU", "", 14);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first, find_schema("GRU", "ai.onnx", 20));
  EXPECT_NE(first, find_schema("GRU", "", 22));
  EXPECT_EQ(find_schema("GRU", "", 99), nullptr);
}

TEST(FindSchema, DescribesGru14) {
  const SchemaInfo& gru = *find_schema("GRU", "", 14);
  std::vector<std::string> attributes;
  for (const AttributeInfo& attribute : gru.attributes) attributes.push_back(attribute.name);
  EXPECT_THAT(attributes, ElementsAre("activation_alpha", "activation_beta", "activations", "clip",
                                      "direction", "hidden_size", "layout", "linear_before_reset"));
  EXPECT_EQ(gru.attributes[4].type, AttributeType::string);
  ASSERT_TRUE(gru.attributes[4].default_value);
  EXPECT_EQ(gru.attributes[4].default_value->s, "forward");
  EXPECT_FALSE(gru.attributes[3].default_value);
  std::vector<std::string> inputs;
  for (const ParameterInfo& input : gru.inputs) inputs.push_back(input.name);
  EXPECT_THAT(inputs, ElementsAre("X", "W", "R", "B", "sequence_lens", "initial_h"));
  EXPECT_EQ(gru.inputs[0].kind, ParameterKind::single);
  EXPECT_EQ(gru.inputs[3].kind, ParameterKind::optional);
  EXPECT_EQ(gru.min_input, 3);
  EXPECT_EQ(gru.max_input, 6);
  EXPECT_EQ(gru.min_output, 0);
  EXPECT_EQ(gru.max_output, 2);
  EXPECT_TRUE(gru.has_shape_inference);
  EXPECT_FALSE(gru.has_function_body);
  EXPECT_FALSE(gru.deprecated);
}

TEST(SchemaInfo, TellsElementTypesOfParameters) {
  const SchemaInfo& gru = *find_schema("GRU", "", 14);
  const DTypeSet floats{DType::float16, DType::float32, DType::float64};
  EXPECT_EQ(gru.input_dtypes(0), floats);
  EXPECT_EQ(gru.input_dtypes(4), DTypeSet(DType::int32));
  EXPECT_EQ(gru.output_dtypes(1), floats);
  EXPECT_TRUE(gru.input_dtypes(6).empty());
  EXPECT_EQ(find_schema("GRU", "", 22)->input_dtypes(0), floats | DTypeSet(DType::bfloat16));
  const SchemaInfo& concat = *find_schema("Concat", "", 13);
  EXPECT_TRUE(concat.input_dtypes(9).contains(DType::string)) << "a variadic parameter repeats";
  EXPECT_TRUE(find_schema("SequenceAt", "", 11)->input_dtypes(0).empty()) << "no tensor, but a sequence";
}

TEST(SchemaVersions, AreNewestFirstPerDomain) {
  const auto versions_of = [](const std::string& op_type, const std::string* domain) {
    std::vector<int> versions;
    for (const SchemaInfo* schema : schema_versions(op_type, domain))
      versions.push_back(schema->since_version);
    return versions;
  };
  const std::string ml = "ai.onnx.ml";
  EXPECT_THAT(versions_of("GRU", nullptr), ElementsAre(22, 14, 7, 3, 1));
  EXPECT_THAT(versions_of("TreeEnsembleClassifier", &ml), ElementsAre(5, 3, 1));
  EXPECT_THAT(versions_of("GRU", &ml), IsEmpty());
}

TEST(NewestOpset, IsKnownForTheStandardDomains) {
  EXPECT_EQ(newest_opset(""), 28);
  EXPECT_EQ(newest_opset("ai.onnx"), 28);
  EXPECT_EQ(newest_opset("ai.onnx.ml"), 5);
  EXPECT_EQ(newest_opset("ai.onnx.preview"), 1);
  EXPECT_EQ(newest_opset("com.microsoft"), std::nullopt);
}

TEST(AllSchemas, AreDistinctAndFoundAgain) {
  std::set<std::tuple<std::string, std::string, int>> seen;
  for (const SchemaInfo* schema : all_schemas()) {
    EXPECT_TRUE(seen.emplace(schema->domain, schema->name, schema->since_version).second) << schema->name;
    EXPECT_EQ(find_schema(schema->name, schema->domain, schema->since_version), schema);
  }
  EXPECT_GT(seen.size(), 600u);
}

Node node_of(const SchemaInfo& schema) {
  Node node;
  node.op_type = schema.name;
  node.domain = schema.domain;
  for (const ParameterInfo& input : schema.inputs) node.inputs.push_back(input.name);
  for (const ParameterInfo& output : schema.outputs) node.outputs.push_back(output.name);
  return node;
}

std::vector<ValueType> first_types(const SchemaInfo& schema) {
  std::vector<ValueType> types;
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    const DTypeSet dtypes = schema.input_dtypes(i);
    DType chosen = DType::int64;
    for (int number = 1; number < dtype_count; ++number) {
      const auto dtype = static_cast<DType>(number);
      if (dtypes.contains(dtype)) {
        chosen = dtype;
        break;
      }
    }
    types.push_back(ValueType::tensor(chosen));
  }
  return types;
}

// Every node of a body exists in the opsets that the body imports.
void expect_sound(const Function& body, const std::string& what) {
  for (const Node& node : body.nodes) {
    const auto import = body.opset_imports.find(node.domain);
    ASSERT_NE(import, body.opset_imports.end()) << what << ": no import for " << node.op_type;
    const SchemaInfo* schema = find_schema(node.op_type, node.domain, import->second);
    ASSERT_NE(schema, nullptr) << what << ": " << node.op_type << " in opset " << import->second;
    EXPECT_FALSE(schema->deprecated) << what << ": " << node.op_type;
    EXPECT_LE(static_cast<int>(node.inputs.size()), schema->max_input) << what << ": " << node.op_type;
  }
}

TEST(FunctionBody, OfEverySchemaAndOpsetIsSound) {
  int bodies = 0;
  for (const SchemaInfo* schema : all_schemas()) {
    if (!schema->has_function_body) continue;
    if (schema->name == "SequenceMap") continue;  // built from the node's own subgraph
    for (std::int64_t opset = schema->since_version; opset <= *newest_opset(schema->domain); ++opset) {
      if (since_version(schema->name, schema->domain, opset) != schema->since_version) break;
      const std::string what = fmt::format("{}-{} in opset {}", schema->name, schema->since_version, opset);
      const bool needs_types = function_body_needs_types(schema->name, schema->domain, opset);
      const auto body = function_body(node_of(*schema), opset,
                                      needs_types ? first_types(*schema) : std::vector<ValueType>());
      if (!body) continue;  // a builder may decline a node for lack of attributes or types
      ++bodies;
      EXPECT_EQ(body->inputs.size(), schema->inputs.size()) << what;
      EXPECT_EQ(body->outputs.size(), schema->outputs.size()) << what;
      EXPECT_EQ(body->attributes.size() + body->attribute_defaults.size(), schema->attributes.size()) << what;
      expect_sound(*body, what);
    }
  }
  EXPECT_GT(bodies, 200);
}

TEST(FunctionBody, HasTheSchemasDefaults) {
  Node node;
  node.op_type = "HardSwish";
  node.inputs = {"a"};
  node.outputs = {"b"};
  const auto body = function_body(node, 14, {});
  ASSERT_TRUE(body);
  EXPECT_THAT(body->inputs, ElementsAre("X"));
  EXPECT_THAT(body->outputs, ElementsAre("Y"));
  node.op_type = "Elu";
  const auto elu = function_body(node, 22, {});
  ASSERT_TRUE(elu);
  ASSERT_EQ(elu->attribute_defaults.size(), 1u);
  EXPECT_EQ(elu->attribute_defaults[0].name, "alpha");
  EXPECT_EQ(elu->attribute_defaults[0].f, 1.0f);
  bool refers = false;
  for (const Node& inner : elu->nodes) {
    for (const onnx_io::Attribute& attribute : inner.attributes) refers |= attribute.ref_attr_name == "alpha";
  }
  EXPECT_TRUE(refers) << "references to the caller's attributes stay";
}

TEST(FunctionBody, ImportsTheOpsetItWasWrittenFor) {
  Node node;
  node.op_type = "LogSoftmax";
  node.inputs = {"x"};
  node.outputs = {"y"};
  const std::pair<std::int64_t, std::int64_t> cases[] = {{13, 13}, {17, 13}, {18, 18}, {22, 18}};
  for (const auto& [opset, written_for] : cases) {
    const auto body = function_body(node, opset, {ValueType::tensor(DType::float32)});
    ASSERT_TRUE(body) << opset;
    EXPECT_EQ(body->opset_imports.at(""), written_for) << opset;
  }
}

TEST(FunctionBody, IsBuiltFromInputTypesWhereItDependsOnThem) {
  EXPECT_TRUE(function_body_needs_types("LayerNormalization", "", 17));
  EXPECT_FALSE(function_body_needs_types("HardSwish", "", 14));
  EXPECT_FALSE(function_body_needs_types("GRU", "", 14));
  Node node;
  node.op_type = "LayerNormalization";
  node.inputs = {"X", "Scale"};
  node.outputs = {"Y"};
  const std::vector<ValueType> types(2, ValueType::tensor(DType::float32));
  const auto with_types = function_body(node, 17, types);
  ASSERT_TRUE(with_types);
  EXPECT_GT(with_types->nodes.size(), 5u);
  EXPECT_FALSE(function_body(node, 17, {})) << "without types there is no body";
}

TEST(FunctionBody, IsMissingForOperatorsWithoutOne) {
  Node node;
  node.op_type = "GRU";
  EXPECT_FALSE(function_body(node, 14, {}));
  node.op_type = "NoSuchOperator";
  EXPECT_FALSE(function_body(node, 14, {}));
}

}  // namespace
}  // namespace grurun::opset
