#include "cli/check_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "onnx/defs/parser.h"
#include "tensor/error.h"

namespace grurun::cli {
namespace {

using opset::Severity;
using testing::HasSubstr;

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome run(const std::string& arguments) {
  CLI::App app("", "grurun");
  std::function<int()> action;
  add_check(app, action);
  app.parse("check " + arguments);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = action();
  std::fflush(stdout);
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

class CheckCommand : public testing::Test {
 protected:
  CheckCommand() : folder_(std::filesystem::path(testing::TempDir()) / "grurun_check_command") {
    std::filesystem::create_directories(folder_);
  }
  ~CheckCommand() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& nodes) {
    onnx::ModelProto proto;
    const std::string text =
        "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] X) => (float[2] Y) { " + nodes + " }";
    const auto status = onnx::OnnxParser::Parse(proto, text.c_str());
    EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
    return write_bytes(name, proto.SerializeAsString());
  }

  std::string write_bytes(const std::string& name, const std::string& bytes) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::string missing() const { return (folder_ / "missing.onnx").string(); }

  std::filesystem::path folder_;
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

TEST_F(CheckCommand, GoesOnBehindFilesThatCannotBeRead) {
  const std::string good = write("good.onnx", "Y = Relu(X)");
  const std::string garbage = write_bytes("garbage.onnx", "this is no model");
  Outcome outcome = run(garbage + " " + good);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr(garbage + ": not read: "));
  EXPECT_THAT(outcome.out, HasSubstr(good + ": ok\n2 models checked, 1 with errors\n"));
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

TEST_F(CheckCommand, ListsItsRules) {
  EXPECT_THAT(run("--list-rules").out, HasSubstr("SCHEMA004    error    an attribute exists"));
  EXPECT_EQ(nlohmann::json::parse(run("--list-rules --output-format json").out)[0]["code"], "MODEL001");
}

TEST_F(CheckCommand, WantsAModel) {
  CLI::App app("", "grurun");
  std::function<int()> action;
  add_check(app, action);
  app.parse("check");
  EXPECT_THROW(action(), Error);
}

TEST(CheckText, EscapesWhatAModelBringsAlong) {
  CheckedModel model;
  model.path = "m.onnx";
  model.findings.push_back({"GRAPH001", Severity::error, "graph/a\x1b[2J\nb", "Relu-14", "input 'x\r' \xff"});
  const std::string text = check_text({model});
  EXPECT_THAT(text, HasSubstr("node 'graph/a\\x1b[2J\\x0ab' (Relu-14): input 'x\\x0d'"));
  EXPECT_NO_THROW(nlohmann::json::parse(check_json({model})));
}

TEST(CheckText, CountsWarningsAndNotes) {
  CheckedModel model;
  model.path = "m.onnx";
  model.findings.push_back({"SCHEMA002", Severity::warning, "graph/a", "ns:F", "message"});
  model.findings.push_back({"MODEL006", Severity::warning, "", "", "message"});
  model.findings.push_back({"GRAPH005", Severity::error, "graph/l.body", "", "message"});
  EXPECT_EQ(check_text({model}),
            "m.onnx: warning SCHEMA002 node 'graph/a' (ns:F): message\n"
            "m.onnx: warning MODEL006: message\n"
            "m.onnx: error GRAPH005 in 'graph/l.body': message\n"
            "m.onnx: 1 error, 2 warnings\n");
}

}  // namespace
}  // namespace grurun::cli
