// --max-model-size, --max-depth, --max-iterations, --max-output, --max-time: told by name and value, at once.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/cli/command_line.h"

namespace grurun::cli {
namespace {

class ModelLimits : public testing::CommandLine {
 protected:
  void SetUp() override {
    write_model("loop.onnx",
                "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1] x) => (float[1] y) {"
                " n = Constant <value = int64 {5000}> () c = Constant <value = bool {1}> ()"
                " y = Loop (n, c, x) <body = b (int64 i, bool d, float[1] a) => (bool e, float[1] o)"
                " { e = Identity(d) o = Relu(a) }> }");
    write_model("two_deep.onnx",
                "<ir_version: 8, opset_import: [\"\" : 17]> g (bool c, float[1] x) => (float[1] y) {"
                " y = If (c) <then_branch = t () => (float[1] p) {"
                "  p = If (c) <then_branch = tt () => (float[1] q) { q = Relu(x) },"
                "   else_branch = te () => (float[1] q) { q = Neg(x) }> },"
                " else_branch = e () => (float[1] p) { p = Relu(x) }> }");
    write_model(
        "wide.onnx",
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1000] x) => (float[1000] y) { y = Relu(x) }");
  }

  /// Ends with exit code 5 within a second or so, and says what the limit was.
  void expect_limit(const std::vector<std::string>& arguments, const std::string& text) const {
    const auto begin = std::chrono::steady_clock::now();
    const testing::Outcome outcome = grurun(arguments);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << text;
    EXPECT_EQ(outcome.code, 5) << outcome.err;
    EXPECT_NE((outcome.err + outcome.out).find(text), std::string::npos) << outcome.err << outcome.out;
  }
};

TEST_F(ModelLimits, AreToldByNameAndValue) {
  expect_limit({"loop.onnx", "-q", "--max-iterations", "100"},
               "more than 100 iterations in one run (--max-iterations)");
  expect_limit({"two_deep.onnx", "-q", "--max-depth", "1"}, "nested more than 1 deep (--max-depth)");
  expect_limit({"check", "two_deep.onnx", "--max-depth", "1"}, "nested more than 1 deep (--max-depth)");
  expect_limit({"inspect", "two_deep.onnx", "--max-depth", "1"}, "nested more than 1 deep (--max-depth)");
  expect_limit({"wide.onnx", "-q", "--max-output", "3999"},
               "the outputs take 4000 bytes, more than 3999 (--max-output)");
  expect_limit({"wide.onnx", "-q", "--max-model-size", "10"}, "more than 10 (--max-model-size)");
  expect_limit({"check", "wide.onnx", "--max-model-size", "10"}, "more than 10 (--max-model-size)");
}

TEST_F(ModelLimits, ThatAreKeptChangeNothing) {
  for (const std::string name : {"loop.onnx", "two_deep.onnx", "wide.onnx"}) {
    const testing::Outcome outcome = grurun({name, "-q", "--max-iterations", "6000", "--max-depth", "2",
                                             "--max-output", "4000", "--max-model-size", "10K"});
    EXPECT_EQ(outcome.code, 0) << name << outcome.err;
  }
}

TEST_F(ModelLimits, BeyondWhatIsSafeAreRefused) {
  EXPECT_NE(
      grurun({"loop.onnx", "--max-depth", "65"}).err.find("--max-depth takes a number from 1 to 64, not 65"),
      std::string::npos);
  EXPECT_EQ(grurun({"loop.onnx", "--max-iterations", "0"}).code, 2);
  EXPECT_EQ(grurun({"loop.onnx", "--max-output", "many"}).code, 2);
}

TEST_F(ModelLimits, EndACaseOfASuite) {
  const auto saved = grurun({"loop.onnx", "-q", "--save-inputs", "suite/a/test_data_set_0/", "--save-outputs",
                             "suite/a/test_data_set_0/"});
  ASSERT_EQ(saved.code, 0) << saved.err;
  write("suite/a/model.onnx", read("loop.onnx"));
  EXPECT_EQ(grurun({"conformance", "suite"}).code, 0);
  const testing::Outcome bound = grurun({"conformance", "suite", "--max-iterations", "100"});
  EXPECT_EQ(bound.code, 1);
  EXPECT_NE(bound.out.find("timed-out"), std::string::npos) << bound.out;
  EXPECT_NE(bound.out.find("more than 100 iterations in one run (--max-iterations)"), std::string::npos)
      << bound.out;
}

}  // namespace
}  // namespace grurun::cli
