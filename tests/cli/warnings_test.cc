// What the standard's rules say of a model is said by check, a run and conformance in the same words, of the
// same node.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

using ::testing::HasSubstr;

class SameWords : public CommandLine {
 protected:
  // A case whose expected output is that of a model without the fault.
  void write_case(const std::string& initializers, const std::string& nodes,
                  const std::string& without) const {
    const auto model = [&](const std::string& made) {
      return "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2,1,1] X) => (float[2,1,1,1] Y) "
             "<float[1,3,1] W = "
             "{1,1,1}, float[1,3,1] R = {1,1,1}, " +
             initializers + "> { " + made + " }";
    };
    write_model("plain.onnx", model(without));
    write_model("case/model.onnx", model(nodes));
    const std::string set = "case/test_data_set_0";
    const Outcome made =
        grurun({"plain.onnx", "-q", "--seed", "1", "--save-inputs", set, "--save-outputs", set});
    ASSERT_EQ(made.code, 0) << made.err;
  }

  /// "GRU065 node 'graph/gru' (GRU-14, ...): ...": what check says behind the severity.
  std::string said_by_check(const std::string& severity) const {
    const std::string out = grurun({"check", "case/model.onnx"}).out;
    const std::string begin = "case/model.onnx: " + severity + " ";
    const std::size_t at = out.find(begin);
    if (at == out.npos) return "nothing: " + out;
    return out.substr(at + begin.size(), out.find('\n', at) - at - begin.size());
  }
};

TEST_F(SameWords, OfNamesThatHideOuterOnes) {
  write_model("m.onnx",
              "<ir_version: 8, opset_import: [\"\" : 14]> g (bool c, float[2] X) => (float[2] Y) "
              "{ h = Neg(X) [if] Y = If (c) <"
              "then_branch = a () => (float[2] y) <float[2] h = {1, 2}> { y = Abs(h) }, "
              "else_branch = b () => (float[2] z) { z = Abs(h) }> }");
  write("c.json", R"({"c": {"dtype": "bool", "data": true}, "X": {"dtype": "float", "data": [1, 2]}})");
  const std::string warning =
      "warning GRAPH004 in 'graph/if.then_branch': initializer 'h' of the body 'a' has the name of a value "
      "of "
      "an outer scope, which the body then cannot see; rename it\n";
  EXPECT_THAT(grurun({"check", "m.onnx"}).out, HasSubstr("m.onnx: " + warning));
  const Outcome run = grurun({"m.onnx", "-q", "--inputs", "c.json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "grurun: " + warning);
}

TEST_F(SameWords, OfASplitWithoutParts) {
  write_model("m.onnx",
              "<ir_version: 8, opset_import: [\"\" : 18]> g (float[4] X) => (float[a] Y, float[b] Z) "
              "{ [s] Y, Z = Split (X) }");
  write("x.json", R"({"X": {"dtype": "float", "data": [1, 2, 3, 4]}})");
  const std::string sentence =
      "neither of the input split and the attribute num_outputs is given: state one of them";
  EXPECT_TRUE(fails(grurun({"m.onnx", "-q", "--inputs", "x.json"}), 3, "invalid",
                    "(Split-18): " + sentence + " [SHAPE001]"));
  EXPECT_EQ(grurun({"check", "m.onnx"}).code, 3);
}

TEST_F(SameWords, OfAWarning) {
  write_case("float[1,3] Wb = {0,0,0}, float[1,3] Rb = {0,0,0.5}",
             "B = Concat <axis = 1> (Wb, Rb) [gru] Y = GRU <hidden_size = 1> (X, W, R, B)",
             "B = Concat <axis = 1> (Wb, Rb) [gru] Y = GRU <hidden_size = 1> (X, W, R, B)");
  const std::string said = said_by_check("warning");
  ASSERT_TRUE(said.starts_with("GRU065 node 'graph/gru' (GRU-14, attribute linear_before_reset): ")) << said;
  const std::string sentence = said.substr(said.find(": ") + 2);
  const std::vector<std::string> run = {"case/model.onnx", "-q", "--inputs", "case/test_data_set_0"};
  for (const char* flag : {"--full", "--check", "--no-fusion"}) {
    std::vector<std::string> arguments = run;
    if (flag != std::string("--full")) arguments.push_back(flag);
    const Outcome outcome = grurun(arguments);
    EXPECT_EQ(outcome.code, 0) << flag;
    EXPECT_THAT(outcome.err, HasSubstr("grurun: warning " + said + "\n")) << flag;
  }
  const Outcome bench = grurun({"bench", "case/model.onnx", "--min-time", "0", "--runs", "1", "--seed", "0"});
  EXPECT_THAT(bench.err, HasSubstr("grurun: warning " + said + "\n"));
  const Outcome suite = grurun({"conformance", "case", "--json", "r.json", "--junit", "r.xml"});
  EXPECT_EQ(suite.code, 0) << suite.out << suite.err;
  EXPECT_THAT(suite.out, HasSubstr("case: " + said + "\n"));
  EXPECT_THAT(suite.out, HasSubstr("; warnings about 1 case\n"));
  const std::string json = read("r.json");
  EXPECT_THAT(json, HasSubstr("\"text\": \"" + sentence + "\""));
  EXPECT_THAT(json, HasSubstr("\"node\": \"graph/gru\""));
  EXPECT_THAT(json, HasSubstr("\"code\": \"GRU065\""));
  EXPECT_THAT(read("r.xml"), HasSubstr("warning: " + said));
}

TEST_F(SameWords, OfAnError) {
  write_case("int32[1] none = {0}, int32[1] nine = {9}, float[1,6] B = {0,0,0,0,0,0}",
             "lens = Add(none, nine) [gru] Y = GRU <hidden_size = 1> (X, W, R, B, lens)",
             "[gru] Y = GRU <hidden_size = 1> (X, W, R, B)");
  const std::string said = said_by_check("error");
  ASSERT_TRUE(said.starts_with("GRU027 node 'graph/gru' (GRU-14")) << said;
  const std::string refusal =
      fmt::format("node 'graph/gru' (GRU-14): {} [GRU027]", said.substr(said.find("): ") + 3));
  const Outcome run = grurun({"case/model.onnx", "--inputs", "case/test_data_set_0"});
  EXPECT_TRUE(fails(run, 3, "invalid", "case/model.onnx: " + refusal)) << run.err;
  const Outcome bench = grurun({"bench", "case/model.onnx", "--inputs", "case/test_data_set_0"});
  EXPECT_TRUE(fails(bench, 3, "invalid", "case/model.onnx: " + refusal)) << bench.err;
  const Outcome suite = grurun({"conformance", "case"});
  EXPECT_EQ(suite.code, 1);
  EXPECT_THAT(suite.out, HasSubstr("test_data_set_0: " + refusal + "\n"));
}

}  // namespace
}  // namespace grurun::cli::testing
