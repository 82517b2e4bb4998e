// Limits of the commands that read models: what was found until then is told, and that it is not all.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <string>

#include "tests/cli/command_line.h"

namespace grurun::cli {
namespace {

class CheckLimits : public testing::CommandLine {
 protected:
  /// Inference expands the function once for each call: some forty million nodes. A name of the graph is
  /// wrong.
  void write_slow_model(const std::string& name) const {
    std::string calls, body;
    for (int i = 0; i < 6000; ++i)
      calls += fmt::format("v{} = d.F({})\n", i, i == 0 ? "x" : fmt::format("v{}", i - 1));
    for (int i = 0; i < 2000; ++i)
      body += fmt::format("t{} = Relu({})\n", i, i == 0 ? "a" : fmt::format("t{}", i - 1));
    write_model(name,
                "<ir_version: 8, opset_import: [\"\" : 17, \"d\" : 1]> g (float[2] x) => (float[2] y) {\n" +
                    calls +
                    "y = Relu(nowhere)\n}\n<domain: \"d\", opset_import: [\"\" : 17]> F (a) => (t1999) {\n" +
                    body + "}");
  }
};

TEST_F(CheckLimits, TellWhatWasFoundUntilTheTimeWasUp) {
  write_slow_model("slow.onnx");
  const auto begin = std::chrono::steady_clock::now();
  const testing::Outcome outcome =
      shell("\"$GRURUN\" check slow.onnx --max-time 0.3 --report json=report.json");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
  EXPECT_EQ(outcome.code, 5);
  EXPECT_EQ(outcome.err, "grurun: limit: slow.onnx: the check took longer than 0.3 s (--max-time)\n");
  EXPECT_NE(read("report.json").find("\"cut_short\""), std::string::npos);
  EXPECT_NE(read("report.json").find("nowhere"), std::string::npos);
  const testing::Outcome inspected = grurun({"inspect", "slow.onnx", "--max-time", "0.3"});
  EXPECT_EQ(inspected.code, 5) << inspected.err;
}

TEST_F(CheckLimits, OfOneModelKeepNoOtherFromBeingChecked) {
  write_slow_model("slow.onnx");
  write_model("good.onnx",
              "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }");
  const testing::Outcome outcome = grurun({"check", "slow.onnx", "good.onnx", "--max-time", "2"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_NE(outcome.out.find("nowhere"), std::string::npos) << outcome.out;
  EXPECT_NE(
      outcome.out.find("slow.onnx: not checked to the end: the check took longer than 2 s (--max-time)"),
      std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("good.onnx: ok"), std::string::npos) << outcome.out;
}

TEST_F(CheckLimits, ListFiftyFindingsOfACodeUnlessAllAreAskedFor) {
  std::string nodes;
  for (int i = 0; i < 80; ++i) nodes += fmt::format("v{} = Relux(x)\n", i);
  write_model("many.onnx", "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) {\n" +
                               nodes + "y = Relu(x)\n}");
  const testing::Outcome some = grurun({"check", "many.onnx"});
  EXPECT_EQ(some.code, 3);
  EXPECT_NE(some.out.find("many.onnx: 30 more SCHEMA001; --all lists them\n"), std::string::npos) << some.out;
  const testing::Outcome all = grurun({"check", "many.onnx", "--all"});
  EXPECT_EQ(all.out.find("--all lists them"), std::string::npos);
  EXPECT_NE(all.out.find("80 errors"), std::string::npos) << all.out;
}

// Not the time that passes: others may have the processor.
long processor_seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec;
}

TEST_F(CheckLimits, EndASuggestionOfManyNamesQuickly) {
  std::string nodes;
  for (int i = 0; i < 5000; ++i) nodes += fmt::format("v{} = Convolutio{}(x)\n", i, i);
  write_model("names.onnx", "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) {\n" +
                                nodes + "y = Relu(x)\n}");
  const auto begin = processor_seconds_of_children();
  EXPECT_EQ(grurun({"check", "names.onnx"}).code, 3);
  EXPECT_LT(processor_seconds_of_children() - begin, 8);
}

}  // namespace
}  // namespace grurun::cli
