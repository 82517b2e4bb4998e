// Models that break the standard and mean something all the same: what runs them warns, and so does
// check, but for --strict.
#include <gmock/gmock.h>

#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Mended : public CommandLine {};

TEST_F(Mended, NodesThatAreNotSorted) {
  const std::string head = "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) ";
  write_model("sorted.onnx", head + "{ [first] h = Relu(X) [second] Y = Neg(h) }");
  write_model("case/model.onnx", head + "{ [second] Y = Neg(h) [first] h = Relu(X) }");
  const std::string set = "case/test_data_set_0";
  ASSERT_EQ(grurun({"sorted.onnx", "-q", "--seed", "1", "--save-inputs", set, "--save-outputs", set}).code,
            0);
  const std::string warning =
      "grurun: warning GRAPH002: the graph: node 'second' (Neg) needs 'h', which comes only later, from node "
      "'first' (Relu)";
  const std::vector<std::vector<std::string>> commands = {
      {"case/model.onnx", "-q", "--inputs", set, "--expected", set},
      {"case/model.onnx", "-q", "--inputs", set, "--check"},
      {"bench", "case/model.onnx", "--min-time", "0", "--runs", "1", "--seed", "0"},
      {"inspect", "case/model.onnx"}};
  for (const auto& arguments : commands) {
    const Outcome outcome = grurun(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments[0] << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(warning)) << arguments[0];
  }
  const Outcome suite = grurun({"conformance", "case"});
  EXPECT_EQ(suite.code, 0) << suite.out;
  EXPECT_THAT(suite.out, HasSubstr("GRAPH002"));
  const Outcome check = grurun({"check", "case/model.onnx"});
  EXPECT_EQ(check.code, 0) << check.out;
  EXPECT_THAT(check.out, HasSubstr("warning GRAPH002: the graph: node 'second' (Neg) needs 'h'"));
  const Outcome strict = grurun({"check", "--strict", "case/model.onnx"});
  EXPECT_EQ(strict.code, 3);
  EXPECT_THAT(strict.out, AllOf(HasSubstr("error GRAPH002 node 'graph/second' (Neg"),
                                HasSubstr("computed only later, by node 'first'")));
}

TEST_F(Mended, ACycleIsAnError) {
  write("x.json", "{\"X\": {\"dtype\": \"float\", \"data\": [1, 2]}}");
  write_model("m.onnx",
              "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) "
              "{ [a] h = Add(X, Y) [b] Y = Relu(h) }");
  EXPECT_TRUE(fails(grurun({"m.onnx", "--inputs", "x.json"}), 3, "invalid",
                    "nodes 'a', 'b' depend on each other's outputs; break the cycle [GRAPH003]"));
  EXPECT_THAT(grurun({"check", "m.onnx"}).out,
              HasSubstr("error GRAPH003: nodes 'a', 'b' depend on each other's outputs; break the cycle"));
}

TEST_F(Mended, ImportsThatAreMissing) {
  write_model("m.onnx",
              "<ir_version: 8, opset_import: [\"\" : 14]> g (float[1,2] X) => (float[1,2] Y) "
              "{ Y = ai.onnx.ml.Scaler <offset = [1.0], scale = [2.0]> (X) }");
  const Outcome run = grurun({"m.onnx", "--seed", "1"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("grurun: warning MODEL002: the graph uses operators of ai.onnx.ml and does not "
                        "import it: opset 5 was taken"));
  const Outcome check = grurun({"check", "m.onnx"});
  EXPECT_EQ(check.code, 0) << check.out;
  EXPECT_THAT(check.out, HasSubstr("warning MODEL002"));
  const Outcome strict = grurun({"check", "--strict", "m.onnx"});
  EXPECT_EQ(strict.code, 3);
  EXPECT_THAT(strict.out, HasSubstr("error MODEL002"));
  write_model("other.onnx",
              "<ir_version: 8, opset_import: [\"\" : 14]> g (float[1,2] X) => (float[1,2] Y) "
              "{ Y = ns.Scaler(X) }");
  EXPECT_EQ(grurun({"other.onnx", "--seed", "1"}).code, 3) << "nothing is known of other domains";
}

TEST_F(Mended, SameNamesOfNodesRunAndAreFound) {
  write_model("m.onnx",
              "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) "
              "{ [a] h = Relu(X) [a] Y = Neg(h) }");
  const Outcome run = grurun({"m.onnx", "--seed", "1"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("GRAPH011")));
  const Outcome check = grurun({"check", "m.onnx"});
  EXPECT_EQ(check.code, 0);
  EXPECT_THAT(check.out, HasSubstr("warning GRAPH011: 2 nodes are named 'a': give each its own, or none"));
}

}  // namespace
}  // namespace grurun::cli::testing
