#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "onnx/defs/parser.h"
#include "report/findings/check_format.h"
#include "tensor/error.h"
#include "tests/places/in_tree.h"
#include "tests/places/scratch.h"

namespace grurun::cli {
namespace {

using opset::Severity;
using ::testing::HasSubstr;

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome run(const std::string& arguments) {
  CLI::App app("", "grurun");
  Action action;
  add_check(*app.add_subcommand("check"), action);
  app.parse("check " + arguments);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = action().run();
  std::fflush(stdout);
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

class CheckCommand : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& nodes) {
    const std::string text =
        "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] X) => (float[2] Y) { " + nodes + " }";
    return write_model(name, text);
  }

  std::string write_model(const std::string& name, const std::string& text) {
    onnx::ModelProto proto;
    const auto status = onnx::OnnxParser::Parse(proto, text.c_str());
    EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
    return write_bytes(name, proto.SerializeAsString());
  }

  std::string write_bytes(const std::string& name, const std::string& bytes) {
    return scratch_.file(name, bytes);
  }

  std::string missing() const { return scratch_.path("missing.onnx"); }

  tests::Scratch scratch_;
};

TEST_F(CheckCommand, SaysOkForAModelWithoutFindings) {
  const std::string good = write("good.onnx", "Y = Relu(X)");
  const Outcome outcome = run(good);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, good + ": ok\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CheckCommand, ListsFindingsAndASummary) {
  const std::string bad = write("bad.onnx", "[n] Y = Elu <aplha = 1.0> (X)");
  const Outcome outcome = run(bad);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out,
              HasSubstr(bad + ": error SCHEMA004 node 'graph/n' (Elu-6): Elu-6 has no attribute 'aplha'; "
                              "did you mean 'alpha'?\n"));
  EXPECT_THAT(outcome.out, HasSubstr(bad + ": 1 error, 1 note\n"));
}

// ONNX's checker prints their names to standard output.
TEST_F(CheckCommand, PrintsNothingElseForExperimentalOperators) {
  const std::string old = write_model("old.onnx",
                                      "<ir_version: 3, opset_import: [\"\" : 9]> g (float[2] X) => (float[2] "
                                      "Y) { c = ConstantFill <shape = [2]> () "
                                      "Y = Add(X, c) }");
  EXPECT_EQ(run(old).out, old + ": ok\n");
}

// In the words in which a run would refuse them.
TEST_F(CheckCommand, FindsAttributesThatNoRunTakes) {
  const std::string trees =
      "nodes_nodeids = [0, 1, 2], nodes_treeids = [0, 0, 0], nodes_featureids = [0, 0, 0], nodes_truenodeids "
      "= "
      "[1, 0, 0], nodes_falsenodeids = [2, 0, 0], nodes_modes = [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], "
      "n_targets = 1, target_treeids = [0, 0], target_nodeids = [1, 2], target_ids = [0, 0], target_weights "
      "= [1.0, 2.0], ";
  const std::string head =
      "<ir_version: 10, opset_import: [\"\" : 14, \"ai.onnx.ml\" : 3]> g (float[2,3] X) => (float[2,1] Y) { "
      "[n] ";
  const std::string good = write_model("trees.onnx", head + "Y = ai.onnx.ml.TreeEnsembleRegressor <" + trees +
                                                         "nodes_values = [0.5, 0.0, 0.0]> (X) }");
  EXPECT_EQ(run(good).out, good + ": ok\n");
  const std::string bad = write_model(
      "trees.onnx", head + "Y = ai.onnx.ml.TreeEnsembleRegressor <" + trees + "nodes_values = [0.5]> (X) }");
  const Outcome outcome = run(bad);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out,
            bad +
                ": error SCHEMA012 node 'graph/n' (ai.onnx.ml.TreeEnsembleRegressor-3): nodes_values "
                "has 1 values, but nodes_nodeids has 3: they must be as long\n" +
                bad + ": 1 error\n");
}

TEST_F(CheckCommand, GoesOnBehindFilesThatCannotBeRead) {
  const std::string good = write("good.onnx", "Y = Relu(X)");
  const std::string garbage = write_bytes("garbage.onnx", "this is no model");
  Outcome outcome = run(garbage + " " + good);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, good + ": ok\n1 model checked, 0 with errors, 1 could not be read\n");
  EXPECT_THAT(outcome.err, HasSubstr("grurun: invalid: "));
  outcome = run(missing() + " " + garbage + " " + good);
  EXPECT_EQ(outcome.code, 2) << "a missing file counts first";
  EXPECT_THAT(outcome.out, HasSubstr(good + ": ok\n"));
}

TEST_F(CheckCommand, PrintsJson) {
  const std::string bad = write("bad.onnx", "[n] Y = Elu <aplha = 1.0> (X)");
  const Outcome outcome = run("--output-format json " + bad + " " + missing());
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["models"].size(), 2u);
  const auto& model = json["models"][0];
  EXPECT_EQ(model["path"], bad);
  EXPECT_FALSE(model.contains("failure"));
  EXPECT_EQ(model["errors"], 1);
  EXPECT_EQ(model["findings"][0]["code"], "SCHEMA004");
  EXPECT_EQ(model["findings"][0]["severity"], "error");
  EXPECT_EQ(model["findings"][0]["node"], "graph/n");
  EXPECT_EQ(model["findings"][0]["op"], "Elu-6");
  EXPECT_EQ(model["findings"][0]["rule"], "an attribute exists in this version of the operator");
  EXPECT_TRUE(json["models"][1].contains("failure"));
}

// The layer of docs/check.md.
constexpr const char* layer = R"(<ir_version: 8, opset_import: ["" : 13]>
  g (float[time,batch,2] X, float[12,2] W, float[1,12,4] R, float[1,12] B) => (float[time,1,batch,4] Y) {
    [gru] Y = GRU <hidden_size = 4, layout = 1, clip = -1.0> (X, W, R, B)
  })";

std::string page(const std::string& name) {
  std::ifstream file(tests::in_tree("docs/" + name));
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(CheckCommand, PrintsWhatTheDocumentationShows) {
  const std::string path = write_model("layer.onnx", layer);
  std::string out = run("--severity error " + path).out;
  for (std::size_t at = out.find(path); at != out.npos; at = out.find(path))
    out.replace(at, path.size(), "layer.onnx");
  EXPECT_THAT(page("check.md"), HasSubstr("$ grurun check --severity error layer.onnx\n" + out + "```\n"))
      << out;
}

TEST_F(CheckCommand, ChoosesFindingsByCodeAndSeverity) {
  const std::string path = write_model("layer.onnx", layer);
  EXPECT_THAT(run("--select GRU02 " + path).out, HasSubstr(path + ": 2 errors\n"));
  EXPECT_THAT(run("--select GRU001,ONNX --ignore GRU " + path).out, HasSubstr(path + ": 0 errors, 1 note\n"));
  EXPECT_THAT(run("--severity warning --ignore GRU " + path).out, HasSubstr(path + ": ok\n"));
  EXPECT_EQ(run("--select GRU02 " + path).code, 3);
  std::string future = layer;
  const std::size_t version = future.find("\"\" : ") + 5;
  future.replace(version, future.find(']', version) - version, "99");
  const std::string of_future = write_model("future.onnx", future);
  EXPECT_EQ(run("--select GRU " + of_future).code, 4) << "no node was judged";
  EXPECT_THAT(run("--select GRU " + of_future).out, HasSubstr("MODEL003"));
  EXPECT_THAT(run("--select GRU --ignore MODEL003 " + of_future).out, HasSubstr(": ok"));
  EXPECT_EQ(run("--ignore GRU0 " + path).code, 0) << "errors that are left out do not count";
  for (const char* wrong : {"--select GRU9 ", "--ignore GRU, ", "--severity bad "}) {
    SCOPED_TRACE(wrong);
    CLI::App app("", "grurun");
    Action action;
    add_check(*app.add_subcommand("check"), action);
    app.parse("check " + (wrong + path));
    EXPECT_THROW(action().run(), Error);
  }
}

TEST_F(CheckCommand, PrintsAnnotationsForGithub) {
  const std::string path = write_model("a,b.onnx", layer);
  const Outcome outcome = run("--output-format github " + path);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("::error file="));
  EXPECT_THAT(outcome.out, HasSubstr("a%2Cb.onnx,title=GRU009::graph/gru (GRU-7): clip is -1; "));
  EXPECT_THAT(outcome.out, HasSubstr("::notice file="));
}

TEST(CheckGithub, IsCappedAndEscaped) {
  report::CheckedModel model;
  model.path = "m.onnx";
  for (int i = 0; i < 13; ++i)
    model.findings.push_back({"GRAPH001", Severity::error, "", "", "100%\n::error::x"});
  for (int i = 0; i < 11; ++i) model.findings.push_back({"SCHEMA002", Severity::warning, "", "", "w"});
  const std::string text = report::check_github({model});
  EXPECT_THAT(text, HasSubstr("title=GRAPH001::100%25%0A::error::x\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 21);
  EXPECT_THAT(text, HasSubstr("4 more findings; grurun check lists them\n"));
}

TEST_F(CheckCommand, PrintsSarif) {
  const std::string path = write_model("a b.onnx", layer);
  const Outcome outcome = run("--output-format sarif '" + path + "' " + missing());
  EXPECT_EQ(outcome.code, 2);
  const auto log = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(log["version"], "2.1.0");
  const auto& run_of = log["runs"][0];
  ASSERT_EQ(run_of["results"].size(), 5u);
  for (const auto& result : run_of["results"]) {
    EXPECT_EQ(run_of["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"],
              result["ruleId"]);
  }
  const auto& first = run_of["results"][0];
  EXPECT_EQ(first["ruleId"], "GRU001");
  EXPECT_EQ(first["level"], "error");
  EXPECT_EQ(first["properties"]["op"], "GRU-7");
  const auto& location = first["locations"][0];
  EXPECT_THAT(location["physicalLocation"]["artifactLocation"]["uri"].get<std::string>(),
              HasSubstr("/a%20b.onnx"));
  EXPECT_EQ(location["logicalLocations"][0]["fullyQualifiedName"], "graph/gru");
  EXPECT_EQ(run_of["invocations"][0]["executionSuccessful"], false);
  EXPECT_EQ(run_of["invocations"][0]["toolExecutionNotifications"].size(), 1u);
}

TEST_F(CheckCommand, ListsItsRulesAsTheDocumentationHasThem) {
  EXPECT_EQ(page("rules.md"), run("--list-rules --output-format markdown").out)
      << "make it anew: grurun check --list-rules --output-format markdown > docs/rules.md";
}

TEST_F(CheckCommand, ListsTheRulesThatTheFlagsLeaveIn) {
  const std::string rules =
      run("--list-rules --select MODEL,SCHEMA001 --ignore MODEL001 --severity error").out;
  EXPECT_TRUE(rules.starts_with("MODEL002     error    ")) << rules;
  EXPECT_THAT(rules, HasSubstr("\nSCHEMA001 "));
  EXPECT_EQ(rules.find("warning"), rules.npos) << rules;
  EXPECT_EQ(rules.find("GRU"), rules.npos) << rules;
  EXPECT_THAT(run("--list-rules --select LSTM009 --output-format markdown").out, HasSubstr("### LSTM-"));
}

TEST_F(CheckCommand, JudgesVersionsThatARunRefuses) {
  struct Row {
    std::optional<std::int64_t> ir_version;
    std::int64_t opset;
    const char* finding;
    int code;
  };
  const Row rows[] = {
      {std::nullopt, 13, "error MODEL001: the model has no ir_version", 3},
      {-1, 13, "error MODEL001: ir_version is -1", 3},
      {99, 13, "error MODEL001: ir_version is 99", 4},
      {8, 0, "error MODEL004: imports opset 0 of ai.onnx", 3},
      {8, -3, "error MODEL004: imports opset -3 of ai.onnx", 3},
      {8, 99, "error MODEL003: imports opset 99 of ai.onnx", 4},
      {99, 0, "error MODEL004: imports opset 0 of ai.onnx", 3},
  };
  for (const Row& row : rows) {
    onnx::ModelProto model;
    ASSERT_TRUE(onnx::OnnxParser::Parse(model,
                                        "<ir_version: 8, opset_import: [\"\" : 13]> "
                                        "g (float[2] X) => (float[2] Y) { Y = Relu(X) }")
                    .IsOK());
    model.clear_ir_version();
    if (row.ir_version) model.set_ir_version(*row.ir_version);
    model.mutable_opset_import(0)->set_version(row.opset);
    const Outcome outcome = run(write_bytes("versions.onnx", model.SerializeAsString()));
    EXPECT_EQ(outcome.code, row.code) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr(row.finding));
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(CheckCommand, AnIrVersionBeyond31BitsIsNoneForARunToo) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model,
                                      "<ir_version: 8, opset_import: [\"\" : 13]> "
                                      "g (float[2] X) => (float[2] Y) { Y = Relu(X) }")
                  .IsOK());
  model.set_ir_version(std::int64_t{1} << 40);
  const Outcome outcome = run(write_bytes("versions.onnx", model.SerializeAsString()));
  EXPECT_EQ(outcome.code, 3) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("ir_version 1099511627776 is no IR version"));
}

TEST_F(CheckCommand, ListsItsRules) {
  EXPECT_THAT(run("--list-rules").out, HasSubstr("SCHEMA004    error    an attribute exists"));
  EXPECT_EQ(nlohmann::json::parse(run("--list-rules --output-format json").out)[0]["code"], "MODEL001");
}

TEST_F(CheckCommand, WantsAModel) {
  CLI::App app("", "grurun");
  Action action;
  add_check(*app.add_subcommand("check"), action);
  app.parse("check");
  EXPECT_THROW(action().run(), Error);
}

TEST(CheckText, EscapesWhatAModelBringsAlong) {
  report::CheckedModel model;
  model.path = "m.onnx";
  model.findings.push_back({"GRAPH001", Severity::error, "graph/a\x1b[2J\nb", "Relu-14", "input 'x\r' \xff"});
  const std::string text = report::check_text({model});
  EXPECT_THAT(text, HasSubstr("node 'graph/a\\x1b[2J\\nb' (Relu-14): input 'x\\x0d' \\xff"));
  EXPECT_TRUE(nlohmann::json::accept(report::check_json({model})));
}

TEST(CheckText, CountsWarningsAndNotes) {
  report::CheckedModel model;
  model.path = "m.onnx";
  model.findings.push_back({"SCHEMA002", Severity::warning, "graph/a", "ns:F", "message"});
  model.findings.push_back({"MODEL006", Severity::warning, "", "", "message"});
  model.findings.push_back({"GRAPH005", Severity::error, "graph/l.body", "", "message"});
  EXPECT_EQ(report::check_text({model}),
            "m.onnx: warning SCHEMA002 node 'graph/a' (ns:F): message\n"
            "m.onnx: warning MODEL006: message\n"
            "m.onnx: error GRAPH005 in 'graph/l.body': message\n"
            "m.onnx: 1 error, 2 warnings\n");
}

}  // namespace
}  // namespace grurun::cli
