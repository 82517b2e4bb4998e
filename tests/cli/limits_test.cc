// --max-memory sees what strings and lists of values take, too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tensor/sanitizers.h"
#include "tests/cli/command_line.h"

namespace grurun::cli {
namespace {

class Limits : public testing::CommandLine {
 protected:
  void SetUp() override {
    if (GRURUN_ASAN || GRURUN_TSAN) GTEST_SKIP() << "the sanitizers bring an operator new of their own";
  }

  // Runs the model with 64 MiB.
  testing::Outcome limited(const std::string& name, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {name, "-q", "--max-memory", "64M"});
    return grurun(arguments);
  }
};

// A string of 2^doublings bytes, in steps that are constants.
std::string doubled(int doublings) {
  std::string nodes = "s0 = Identity(X) ";
  for (int i = 0; i < doublings; ++i) nodes += fmt::format("s{} = StringConcat(s{}, s{}) ", i + 1, i, i);
  return fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 20]> g (int64[1] c) => (string[1] Y, int64[1] d) <string[1] X "
      "= {{\"x\"}}> "
      "{{ {}Y = Identity(s{}) d = Identity(c) }}",
      nodes, doublings);
}

TEST_F(Limits, CharactersOfStringsCount) {
  write_model("few.onnx", doubled(20));
  write_model("many.onnx", doubled(28));
  const testing::Outcome few = limited("few.onnx");
  EXPECT_EQ(few.code, 0) << few.err;
  const testing::Outcome many = limited("many.onnx");
  EXPECT_EQ(many.code, 5) << many.err;
  EXPECT_NE(many.err.find("grurun: limit: "), std::string::npos) << many.err;
  EXPECT_NE(many.err.find("strings and lists of values would pass --max-memory"), std::string::npos)
      << many.err;
}

TEST_F(Limits, BoundTheCasesOfASuiteToo) {
  const std::string wide =
      "<ir_version: 8, opset_import: [\"\" : 14]> g (int64[2] c) => (float[n,m] Y) { z = "
      "Constant<value_float = 1.0>() "
      "Y = Expand(z, c) }";
  int i = 0;
  for (const auto& [model, size] :
       {std::pair(wide, "4096:4096"), std::pair(doubled(26), "1:1"), std::pair(wide, "2:2")}) {
    const std::string folder = fmt::format("suite/{}", i++);
    write_model(folder + "/model.onnx", model);
    const auto saved = grurun({folder + "/model.onnx", "-q", "--val-range", size, "--save-inputs",
                               folder + "/test_data_set_0", "--save-outputs", folder + "/test_data_set_0"});
    ASSERT_EQ(saved.code, 0) << saved.err;
  }
  EXPECT_EQ(grurun({"conformance", "suite"}).code, 0);
  const testing::Outcome bound = grurun({"conformance", "suite", "--max-memory", "40M", "-j", "1"});
  EXPECT_EQ(bound.code, 1) << bound.err;
  EXPECT_NE(bound.out.find("timed-out    suite/0: limit: "), std::string::npos) << bound.out;
  EXPECT_NE(bound.out.find("timed-out    suite/1: limit: "), std::string::npos) << bound.out;
  EXPECT_NE(bound.out.find("1 passed, 2 timed-out"), std::string::npos) << bound.out;
  EXPECT_EQ(grurun({"conformance", "suite", "--max-memory", "0"}).code, 2);
}

TEST_F(Limits, StringsThatAreRepeatedCount) {
  write_model(
      "expand.onnx",
      fmt::format(
          "<ir_version: 10, opset_import: [\"\" : 20]> g (int64[1] n) => (string[m] Y) <string[1] X = "
          "{{\"{}\"}}> {{ Y = Expand(X, n) }}",
          std::string(1000, 'x')));
  EXPECT_EQ(limited("expand.onnx", {"--val-range", "10:10"}).code, 0);
  EXPECT_EQ(limited("expand.onnx", {"--val-range", "200000:200000"}).code, 5);
}

TEST_F(Limits, ListsOfEmptyTensorsCount) {
  write_model("split.onnx",
              "<ir_version: 10, opset_import: [\"\" : 20]> g (float[n,0] X) => (seq(float[1,0]) Y) { Y = "
              "SplitToSequence(X) }");
  EXPECT_EQ(limited("split.onnx", {"--set", "n=1000"}).code, 0);
  EXPECT_EQ(limited("split.onnx", {"--set", "n=1000000"}).code, 5);
  write_model(
      "loop.onnx",
      "<ir_version: 10, opset_import: [\"\" : 20]> g (int64 n, float[0] X) => (float[m,0] Y) <bool go = {1}> "
      "{ Y = "
      "Loop (n, go) <body = b (int64 i, bool c) => (bool k, float[0] y) { k = Identity(c) y = Relu(X) }> }");
  EXPECT_EQ(limited("loop.onnx", {"--val-range", "n:10:10"}).code, 0);
  EXPECT_EQ(limited("loop.onnx", {"--val-range", "n:1000000:1000000"}).code, 5);
}

}  // namespace
}  // namespace grurun::cli
