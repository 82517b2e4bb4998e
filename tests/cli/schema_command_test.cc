#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.h"
#include "report/schema/schema_format.h"
#include "report/schema/schema_selection.h"
#include "tensor/error.h"
#include "tests/places/in_tree.h"

namespace grurun::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string run(const std::string& arguments) {
  CLI::App app("", "grurun");
  Action action;
  add_schema(*app.add_subcommand("schema"), action);
  app.parse("schema " + arguments);
  ::testing::internal::CaptureStdout();
  int code = -1;
  std::string failure;
  try {
    code = action().run();
  } catch (const Error& error) {
    failure = fmt::format("exit {}: {}", exit_code(error.kind()), error.message());
  }
  std::fflush(stdout);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, failure.empty() ? 0 : -1);
  return failure.empty() ? out : failure;
}

TEST(SchemaCommand, PrintsTheVersionThatAnOpsetMeans) {
  const std::string text = run("GRU --opset 20");
  EXPECT_THAT(text,
              AllOf(HasSubstr("GRU-14, domain ai.onnx\n"), HasSubstr("versions         22, 14, 7, 3, 1\n"),
                    HasSubstr("shape inference  yes\n"), HasSubstr("function body    no\n")));
  EXPECT_THAT(text,
              AllOf(HasSubstr("layout               INT      default 0\n"),
                    HasSubstr("direction            STRING   default \"forward\"\n"),
                    HasSubstr("hidden_size          INT      optional\n"), HasSubstr("Inputs (3 to 6)\n"),
                    HasSubstr("  sequence_lens  T1  optional\n"), HasSubstr("Outputs (0 to 2)\n"),
                    HasSubstr("  T: tensor(float16), tensor(float), tensor(double)\n")));
  EXPECT_THAT(text, Not(HasSubstr("bfloat16")));
  EXPECT_THAT(run("GRU"), AllOf(HasSubstr("GRU-22"), HasSubstr("tensor(bfloat16)")));
  EXPECT_THAT(run("GRU --opset 13"), AllOf(HasSubstr("GRU-7"), Not(HasSubstr("layout"))));
}

TEST(SchemaCommand, KnowsWhatRunsBeyondTheStandard) {
  for (const char* name : {"DynamicQuantizeLSTM", "com.microsoft.DynamicQuantizeLSTM --opset 1",
                           "DynamicQuantizeLSTM --domain com.microsoft"}) {
    EXPECT_THAT(run(name), AllOf(HasSubstr("DynamicQuantizeLSTM-1, domain com.microsoft\n"),
                                 HasSubstr("  T2: tensor(uint8), tensor(int8)\n")));
  }
  EXPECT_EQ(run("DynamicQuantizeLSTM --opset 0"),
            "exit 2: opset 0: com.microsoft has DynamicQuantizeLSTM from opset 1 on");
  EXPECT_THAT(run("DynamicQuantizeLSTM --domain ai.onnx"), HasSubstr("exit 2: no operator"));
}

TEST(SchemaCommand, TellsRequiredVariadicAndDeprecated) {
  EXPECT_THAT(run("Concat"), AllOf(HasSubstr("axis  INT  required\n"), HasSubstr("Inputs (at least 1)\n"),
                                   HasSubstr("inputs  T  variadic, at least 1, types equal\n")));
  EXPECT_THAT(run("Upsample"), AllOf(HasSubstr("Upsample-10, domain ai.onnx, deprecated\n"),
                                     HasSubstr("versions         10 (deprecated), 9, 7, 1\n")));
  EXPECT_THAT(run("HardSigmoid"), HasSubstr("alpha  FLOAT  default 0.2\n")) << "as the standard writes it";
  EXPECT_THAT(run("HardSwish"), HasSubstr("function body    yes\n"));
}

TEST(SchemaCommand, FindsOperatorsOfEveryDomain) {
  EXPECT_THAT(run("Scaler"), HasSubstr("Scaler-1, domain ai.onnx.ml\n"));
  EXPECT_THAT(run("Scaler --domain ai.onnx.ml"), HasSubstr("Scaler-1"));
  EXPECT_THAT(run("GRU --domain ai.onnx --opset 7"), HasSubstr("GRU-7"));
}

TEST(SchemaCommand, PrintsTheTextOnDemand) {
  EXPECT_THAT(run("GRU --doc"), HasSubstr("\nText\n"));
  EXPECT_THAT(run("GRU"), Not(HasSubstr("\nText\n")));
}

TEST(SchemaCommand, PrintsJson) {
  const auto json = nlohmann::json::parse(run("GRU --opset 14 --output-format json"));
  EXPECT_EQ(json["name"], "GRU");
  EXPECT_EQ(json["domain"], "ai.onnx");
  EXPECT_EQ(json["since_version"], 14);
  EXPECT_EQ(json["versions"], (std::vector<int>{22, 14, 7, 3, 1}));
  EXPECT_EQ(json["attributes"].size(), 8u);
  EXPECT_EQ(json["attributes"][4]["default"], "forward");
  EXPECT_FALSE(json["attributes"][3].contains("default"));
  EXPECT_EQ(json["inputs"][4]["types"], (std::vector<std::string>{"tensor(int32)"}));
  EXPECT_EQ(json["inputs"][3]["kind"], "optional");
  EXPECT_EQ(json["max_output"], 2);
  EXPECT_TRUE(nlohmann::json::parse(run("Concat --output-format json"))["max_input"].is_null());
}

TEST(SchemaCommand, SaysWhatIsNearToAnUnknownName) {
  EXPECT_EQ(run("gru"), "exit 2: no operator 'gru'; did you mean 'GRU'?");
  EXPECT_EQ(run("GRU --domain ai.onnx.ml"), "exit 2: no operator 'GRU' in domain ai.onnx.ml");
  EXPECT_EQ(run("Gelu --opset 13"),
            "exit 2: no operator 'Gelu' in opset 13 of ai.onnx; it exists from opset 20 on");
  EXPECT_EQ(run("GRU --opset 99"), "exit 2: opset 99: ai.onnx has opsets 1 to 28");
  EXPECT_THAT(run("GRU --domain nowhere"),
              HasSubstr("no standard domain 'nowhere'; there are ai.onnx, ai.onnx.ml"));
}

TEST(SchemaCommand, DescribesEverySchema) {
  for (const opset::SchemaInfo* schema : opset::all_schemas()) {
    report::SchemaView view = report::select_schema(schema->name, schema->domain, schema->since_version);
    EXPECT_EQ(view.schema, schema);
    view.with_doc = true;
    const std::string text = report::schema_text(view);
    for (const auto& attribute : schema->attributes)
      EXPECT_THAT(text, HasSubstr("\n  " + attribute.name + " "));
    EXPECT_EQ(nlohmann::json::parse(report::schema_json(view))["since_version"], schema->since_version);
  }
}

TEST(SchemaDiffCommand, PrintsWhatTheDocumentationShows) {
  std::ifstream file(tests::in_tree("docs/schema.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(page, HasSubstr("$ grurun schema GRU --diff 1 7\n" + run("GRU --diff 1 7") + "```\n"));
  std::istringstream lines(run("--diff-opset 21 22"));
  std::string head;
  std::string line;
  for (int i = 0; i < 7 && std::getline(lines, line); ++i) head += line + "\n";
  EXPECT_THAT(page, HasSubstr("| head -n 7\n" + head + "```\n"));
}

TEST(SchemaDiffCommand, TakesOpsetsAndDomains) {
  EXPECT_THAT(run("GRU --diff 13 21"), AllOf(HasSubstr("GRU, domain ai.onnx: 7 -> 14, not breaking\n"),
                                             HasSubstr("opset 13 means GRU-7\n")));
  EXPECT_THAT(run("GRU --diff 8 13"), HasSubstr("the same version\n"));
  EXPECT_EQ(run("--diff 7 14 GRU"), run("GRU --diff 7 14"));
  EXPECT_THAT(run("GRU --diff 22 1"), HasSubstr("22 -> 1, breaking\n  versions between: 3, 7, 14\n"));
  EXPECT_EQ(run("ai.onnx.ml.TreeEnsembleClassifier --diff 1 5"), run("TreeEnsembleClassifier --diff 1 5"));
  EXPECT_EQ(run("ai.onnx.ml:Scaler"), run("Scaler --domain ai.onnx.ml"));
  EXPECT_EQ(run("ai.onnx.GRU"), run("GRU"));
  EXPECT_THAT(
      run("--diff-opset 4 5 --domain ai.onnx.ml"),
      AllOf(HasSubstr("added (1): TreeEnsemble-5\n"), HasSubstr("deprecated (2): TreeEnsembleClassifier-5")));
}

TEST(SchemaDiffCommand, PrintsJson) {
  const auto one = nlohmann::json::parse(run("GRU --diff 7 14 --output-format json"));
  EXPECT_EQ(one["name"], "GRU");
  EXPECT_EQ(one["from"], 7);
  EXPECT_EQ(one["to"], 14);
  EXPECT_EQ(one["breaking"], false);
  ASSERT_EQ(one["changes"].size(), 1u);
  EXPECT_EQ(one["changes"][0]["part"], "attribute");
  EXPECT_EQ(one["changes"][0]["name"], "layout");
  EXPECT_EQ(one["changes"][0]["change"], "added");
  const auto all = nlohmann::json::parse(run("--diff-opset 9 10 --output-format json"));
  EXPECT_EQ(all["deprecated"][0]["name"], "Upsample");
  EXPECT_EQ(all["domain"], "ai.onnx");
}

TEST(SchemaDiffCommand, PrintsMarkdown) {
  EXPECT_EQ(
      run("GRU --diff 7 14 --output-format markdown"),
      "## GRU 7 -> 14\n\nDomain ai.onnx. **Not breaking**.\n\n| change | of | what | breaking | reason |\n"
      "|---|---|---|---|---|\n"
      "| added | attribute layout | INT, default 0 | no | a node without it has its default |\n");
  EXPECT_THAT(run("--diff-opset 14 22 --output-format markdown"),
              HasSubstr("| GRU | 14 -> 22 | no | changed type constraint T: also tensor(bfloat16) |\n"));
}

TEST(SchemaDiffCommand, RefusesWhatDoesNotExist) {
  EXPECT_EQ(run("GRU --diff 7 99"), "exit 2: opset 99: ai.onnx has opsets 1 to 28");
  EXPECT_EQ(run("--diff-opset 0 3"), "exit 2: opset 0: ai.onnx has opsets 1 to 28");
  EXPECT_THAT(run("GRU --diff-opset 7 14"), HasSubstr("for one use grurun schema GRU --diff FROM TO"));
  EXPECT_THAT(run("ai.onnx.ml.Scaler --domain ai.onnx --diff 1 1"),
              HasSubstr("names a domain, and --domain another"));
  EXPECT_THAT(run("GRU --output-format markdown"),
              HasSubstr("schema without --diff has no such format; it has text or json"));
  EXPECT_THAT(run(""), HasSubstr("no operator named"));
}

}  // namespace
}  // namespace grurun::cli
