#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opset/schema/added/listed_schemas.h"
#include "opset/summary/model_summary.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A layer of one direction, input_size 2 and hidden_size 3, with these attributes and inputs behind X, W, R.
onnx_io::Model lstm(const std::string& attributes, const std::string& rest = ", , , , , , Ws, Wz, Ws, Wz") {
  return model_from_text(R"(<ir_version: 8, opset_import: ["" : 14, "com.microsoft" : 1]>
    g (float[4,5,2] X, int8[1,2,12] W, int8[1,3,12] R, float[1] Ws, int8[1] Wz, float[1,5,3] H) => (float[4,1,5,3] Y) {
    [n] Y = com.microsoft.DynamicQuantizeLSTM )" +
                         attributes + " (X, W, R" + rest + ") }");
}

TEST(AddedSchemas, SchemasAreFoundByDomainAndVersion) {
  ASSERT_FALSE(added_schemas().empty());
  for (const SchemaInfo* schema : added_schemas()) {
    EXPECT_EQ(find_schema(schema->name, schema->domain, schema->since_version), schema);
    EXPECT_EQ(find_schema(schema->name, schema->domain, schema->since_version - 1), nullptr);
    EXPECT_NE(find_schema(schema->name, "", schema->since_version), schema) << "ai.onnx has its own";
    EXPECT_EQ(newest_opset(schema->domain), std::nullopt) << "the registry must not know it as well";
  }
}

TEST(AddedSchemas, NodesAreChecked) {
  EXPECT_THAT(check_model(lstm("<hidden_size = 3, direction = \"forward\">")).findings, IsEmpty());
  struct Row {
    onnx_io::Model model;
    const char* code;
    const char* message;
  };
  const Row rows[] = {
      {lstm("<layout = 1>"), "SCHEMA004", "has no attribute 'layout'"},
      {lstm("<clp = 1.0>"), "SCHEMA004", "did you mean 'clip'?"},
      {lstm("<hidden_size = 3.0>"), "SCHEMA006", "wants INT"},
      {lstm("", ", , , , , , Ws, Wz, Ws"), "SCHEMA008", "11 inputs"},
      {lstm("", ", , , , , , , Wz, Ws, Wz"), "SCHEMA009", "input 8 (W_scale) is omitted"},
  };
  for (const Row& row : rows) {
    const CheckResult result = check_model(row.model);
    ASSERT_EQ(result.findings.size(), 1u) << row.message << "\n" << listed(result);
    EXPECT_EQ(result.findings[0].code, row.code) << listed(result);
    EXPECT_EQ(result.findings[0].op, "com.microsoft.DynamicQuantizeLSTM-1");
    EXPECT_THAT(result.findings[0].message, HasSubstr(row.message));
  }
}

TEST(AddedSchemas, ValuesAndShapesAreHeldAgainstThePage) {
  struct Row {
    const char* what;
    const char* message;
    const char* attributes = "hidden_size = 3";
    const char* W = "[1,2,12]";
    const char* R = "[1,3,12]";
    const char* B = "[1,24]";
    const char* H = "[1,5,3]";
    const char* P = "[1,9]";
    const char* scale = "[1]";
    const char* zero = "[1]";
  };
  const Row rows[] = {
      {.what = "as the page has it", .message = ""},
      {.what = "parameters by column", .message = "", .scale = "[1,12]", .zero = "[1,12]"},
      {"W as LSTM has it",
       "W is [1,12,2]; it must be [num_directions, input_size, 4*hidden_size], here [1,2,12]; its last two "
       "axes are "
       "swapped, as LSTM has them: Transpose it",
       "hidden_size = 3", "[1,12,2]"},
      {.what = "R as LSTM has it",
       .message = "R is [1,12,3]; it must be [num_directions, hidden_size, 4*hidden_size], here [1,3,12]",
       .attributes = "clip = 1.0",
       .R = "[1,12,3]"},
      {.what = "hidden_size",
       .message = "hidden_size is 9, but W [1,2,12], R [1,3,12], B [1,24], initial_h [1,5,3], P [1,9] have 3",
       .attributes = "hidden_size = 9"},
      {.what = "clip", .message = "clip is -1", .attributes = "clip = -1.0"},
      {.what = "direction",
       .message = "direction is 'back'; it must be forward",
       .attributes = "direction = \"back\""},
      {.what = "one activation",
       .message = "activations lists 1 function; DynamicQuantizeLSTM-1 with one direction needs 3",
       .attributes = "activations = [\"Sigmoid\"]"},
      {.what = "input_forget", .message = "input_forget is 2", .attributes = "input_forget = 2"},
      {.what = "B without directions",
       .message = "B is [24]; it must be [num_directions, 8*hidden_size]",
       .B = "[24]"},
      {.what = "H of other rows", .message = "initial_h is [1,4,3]", .H = "[1,4,3]"},
      {.what = "P without directions", .message = "P is [9]", .P = "[9]"},
      {.what = "a scale for each row", .message = "W_scale is [12]", .scale = "[12]", .zero = "[12]"},
      {.what = "zero points unlike scales",
       .message = "W_zero_point is [1,12]; it must be [num_directions] or [num_directions, 4*hidden_size] as "
                  "its scale",
       .zero = "[1,12]"},
  };
  for (const Row& row : rows) {
    const CheckResult result = check_model(model_from_text(fmt::format(
        R"(<ir_version: 8, opset_import: ["" : 14, "com.microsoft" : 1]>
        g (float[4,5,2] X, int8{} W, int8{} R, float{} B, float{} H, float{} P, float{} Ws, int8{} Wz, float[1] Rs,
           int8[1] Rz) => (float[a,b,c,d] Y) {{
        [n] Y = com.microsoft.DynamicQuantizeLSTM <{}> (X, W, R, B, , H, , P, Ws, Wz, Rs, Rz) }})",
        row.W, row.R, row.B, row.H, row.P, row.scale, row.zero, row.attributes)));
    if (*row.message == '\0') {
      EXPECT_THAT(result.findings, IsEmpty()) << row.what << listed(result);
      continue;
    }
    ASSERT_FALSE(result.findings.empty()) << row.what;
    EXPECT_EQ(result.findings[0].code, "SHAPE001") << row.what;
    EXPECT_THAT(listed(result), HasSubstr(row.message)) << row.what;
    EXPECT_EQ(result.findings[0].node, "graph/n");
  }
}

TEST(AddedSchemas, TypesAndOutputsAreInferredInBodiesToo) {
  const std::string head = R"(<ir_version: 8, opset_import: ["" : 14, "com.microsoft" : 1, "ns" : 1]> )";
  const std::string layer = "com.microsoft.DynamicQuantizeLSTM(X, W, R, , s, , , , Ws, Wz, Ws, Wz)";
  struct Row {
    const char* what;
    const char* code;  // empty for what is right
    std::string nodes;
    const char* W = "int8[1,2,12]";
    const char* s = "int32[5]";
    std::string functions = {};
  };
  const std::string branch = "Y = If (c) <then_branch = t () => (float[4,1,5,3] p) { p = " + layer +
                             " }, else_branch = e () => (float[4,1,5,3] q) { q = " + layer + " }>";
  const std::string function =
      "<domain: \"ns\", opset_import: [\"com.microsoft\" : 1]> f (X, W, R, s, Ws, Wz) => (y) "
      "{ y = " +
      layer + " }";
  const std::string own =
      "<domain: \"com.microsoft\", opset_import: [\"\" : 14]> DynamicQuantizeLSTM (X, W, R, B, s, "
      "H, C, P, Ws, Wz, Rs, Rz) => (y) { a = Unsqueeze(X, s) y = Identity(a) }";
  const Row rows[] = {
      {"right", "", "Y = " + layer},
      {"weights of two types", "TYPE002", "Y = " + layer, "uint8[1,2,12]"},
      {"lengths of 64 bits", "TYPE001", "Y = " + layer, "int8[1,2,12]", "int64[5]"},
      {"output", "SHAPE003", "Z = " + layer + " Y = Squeeze(Z)"},
      {"right body", "", branch},
      {"body", "SHAPE001", branch, "int8[1,12,2]"},
      {"right function", "", "Y = ns.f(X, W, R, s, Ws, Wz)", "int8[1,2,12]", "int32[5]", function},
      {"function", "SHAPE001", "Y = ns.f(X, W, R, s, Ws, Wz)", "int8[1,12,2]", "int32[5]", function},
      {"the model's own function", "", "Y = " + layer, "float[1]", "int64[1]", own},
  };
  for (const Row& row : rows) {
    const CheckResult result = check_model(model_from_text(
        head + "g (float[4,5,2] X, " + row.W + " W, int8[1,3,12] R, " + row.s +
        " s, float[1] Ws, int8[1] Wz, bool c) => (float[a,b,d,e] Y) { " + row.nodes + " } " + row.functions));
    if (*row.code == '\0') {
      EXPECT_THAT(result.findings, IsEmpty()) << row.what << listed(result);
    } else {
      EXPECT_TRUE(codes(result).contains(row.code)) << row.what << listed(result);
    }
  }
}

TEST(AddedSchemas, OtherOperatorsOfTheDomainAreNot) {
  const auto model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 14, "com.microsoft" : 1]>
    g (float[2] X) => (float[2] Y) { Y = com.microsoft.BitmaskDropout (X) })");
  EXPECT_THAT(codes(check_model(model)), ElementsAre("SCHEMA002"));
}

TEST(AddedSchemas, LayersOfOpenvinoWithAClipAreDescribed) {
  const ModelSummary summary =
      summarise(model_from_text(R"(<ir_version: 10, opset_import: ["" : 22, "openvino" : 22]>
    g (float[4,5,2] X, float[1,12,2] W, float[1,12,3] R, float[1,5,3] H) => (float[4,1,5,3] Y) {
    [n] Y = openvino.LSTM <hidden_size = 3, clip = 2.0> (X, W, R, , , H) })"),
                {});
  ASSERT_EQ(summary.layers.size(), 1u);
  const RecurrentLayer& layer = summary.layers[0];
  EXPECT_EQ(layer.op, "openvino.LSTM-22");
  EXPECT_EQ(layer.input_size, 2);
  EXPECT_EQ(layer.hidden_size, 3);
  EXPECT_EQ(layer.clip, 2.0F);
  EXPECT_THAT(layer.given, ElementsAre("initial_h"));
  EXPECT_EQ(summary.flops.flops, 2 * 4 * 5 * 12 * (2 + 3));
}

TEST(AddedSchemas, LayersAreDescribed) {
  const ModelSummary summary = summarise(lstm("<clip = 2.0>", ", , , H, , , Ws, Wz, Ws, Wz"), {});
  ASSERT_EQ(summary.layers.size(), 1u);
  const RecurrentLayer& layer = summary.layers[0];
  EXPECT_EQ(layer.op, "com.microsoft.DynamicQuantizeLSTM-1");
  EXPECT_EQ(layer.input_size, 2);
  EXPECT_EQ(layer.hidden_size, 3);
  EXPECT_EQ(layer.clip, 2.0F);
  EXPECT_EQ(layer.input_forget, false);
  EXPECT_THAT(layer.given, ElementsAre("initial_h"));
  EXPECT_EQ(summary.flops.flops, 2 * 4 * 5 * 12 * (2 + 3));
}

}  // namespace
}  // namespace grurun::opset
