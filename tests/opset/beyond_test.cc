#include "opset/beyond.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opset/model_summary.h"
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

TEST(BeyondTheStandard, SchemasAreFoundByDomainAndVersion) {
  for (const SchemaInfo& schema : schemas_beyond_the_standard()) {
    EXPECT_EQ(find_schema_beyond(schema.name, schema.domain, schema.since_version), &schema);
    EXPECT_EQ(find_schema_beyond(schema.name, schema.domain, schema.since_version - 1), nullptr);
    EXPECT_EQ(find_schema_beyond(schema.name, "", schema.since_version), nullptr);
    EXPECT_EQ(newest_opset(schema.domain), std::nullopt) << "the registry must not know it as well";
  }
}

TEST(BeyondTheStandard, NodesAreChecked) {
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
    EXPECT_EQ(result.findings[0].op, "com.microsoft:DynamicQuantizeLSTM-1");
    EXPECT_THAT(result.findings[0].message, HasSubstr(row.message));
  }
}

TEST(BeyondTheStandard, OtherOperatorsOfTheDomainAreNot) {
  const auto model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 14, "com.microsoft" : 1]>
    g (float[2] X) => (float[2] Y) { Y = com.microsoft.Gelu (X) })");
  EXPECT_THAT(codes(check_model(model)), ElementsAre("SCHEMA002"));
}

TEST(BeyondTheStandard, LayersOfOpenvinoWithAClipAreDescribed) {
  const ModelSummary summary =
      summarise(model_from_text(R"(<ir_version: 10, opset_import: ["" : 22, "openvino" : 22]>
    g (float[4,5,2] X, float[1,12,2] W, float[1,12,3] R, float[1,5,3] H) => (float[4,1,5,3] Y) {
    [n] Y = openvino.LSTM <hidden_size = 3, clip = 2.0> (X, W, R, , , H) })"),
                {});
  ASSERT_EQ(summary.layers.size(), 1u);
  const RecurrentLayer& layer = summary.layers[0];
  EXPECT_EQ(layer.op, "openvino:LSTM-22");
  EXPECT_EQ(layer.input_size, 2);
  EXPECT_EQ(layer.hidden_size, 3);
  EXPECT_EQ(layer.clip, 2.0F);
  EXPECT_THAT(layer.given, ElementsAre("initial_h"));
  EXPECT_EQ(summary.flops.flops, 2 * 4 * 5 * 12 * (2 + 3));
}

TEST(BeyondTheStandard, LayersAreDescribed) {
  const ModelSummary summary = summarise(lstm("<clip = 2.0>", ", , , H, , , Ws, Wz, Ws, Wz"), {});
  ASSERT_EQ(summary.layers.size(), 1u);
  const RecurrentLayer& layer = summary.layers[0];
  EXPECT_EQ(layer.op, "com.microsoft:DynamicQuantizeLSTM-1");
  EXPECT_EQ(layer.input_size, 2);
  EXPECT_EQ(layer.hidden_size, 3);
  EXPECT_EQ(layer.clip, 2.0F);
  EXPECT_EQ(layer.input_forget, false);
  EXPECT_THAT(layer.given, ElementsAre("initial_h"));
  EXPECT_EQ(summary.flops.flops, 2 * 4 * 5 * 12 * (2 + 3));
}

}  // namespace
}  // namespace grurun::opset
