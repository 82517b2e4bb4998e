// The check of GRU, RNN and LSTM in functions and in bodies of nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "opset/check/check_before_run.h"
#include "tests/opset/check_models.h"
#include "tests/opset/recurrent_models.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;

constexpr const char* layer_function = R"(
  <domain: "ns", opset_import: ["" : 14]> Layer <size> (x, w, r) => (y) {
    [gru] y = GRU <hidden_size: int = @size> (x, w, r)
  })";

std::string with_layer(const std::string& calls) {
  return R"(<ir_version: 8, opset_import: ["" : 14, "ns" : 1]>
    g (float[5,3,2] X, float[1,12,2] W, float[1,12,4] R, float[1,15,2] V, bool c) => (float[a,b,d,e] Y) { )" +
         calls + " }" + layer_function;
}

TEST(RecurrentCheck, JudgesACallWithItsAttributesAndShapes) {
  EXPECT_EQ(listed(check_model(model_from_text(with_layer("Y = ns.Layer <size = 4> (X, W, R)")))), "");
  const CheckResult size = check_model(model_from_text(with_layer("Y = ns.Layer <size = 7> (X, W, R)")));
  ASSERT_THAT(codes(size), ElementsAre("GRU005")) << listed(size);
  EXPECT_EQ(size.findings.front().node, "function ns.Layer/gru");
  EXPECT_EQ(size.findings.front().op, "GRU-14");
  const CheckResult shape = check_model(model_from_text(with_layer("Y = ns.Layer <size = 4> (X, V, R)")));
  ASSERT_THAT(codes(shape), ElementsAre("GRU023")) << listed(shape);
}

TEST(RecurrentCheck, JudgesSubgraphs) {
  const std::string branches = R"(
    [if] Y = If (c) <then_branch = t () => (float[a,b,d,e] p) { [gru] p = GRU <hidden_size = 4> (X, V, R) },
                     else_branch = e () => (float[a,b,d,e] q) { q = GRU <hidden_size = 4> (X, W, R) }>)";
  const onnx_io::Model model = model_from_text(with_layer(branches));
  const CheckResult result = check_model(model);
  ASSERT_THAT(codes(result), ElementsAre("GRU023")) << listed(result);
  EXPECT_EQ(result.findings.front().node, "graph/if.then_branch/gru");
  EXPECT_FALSE(check_before_run(model, {}).has_errors())
      << "shapes are left to the run, which may never get there";
}

// ONNX's inference hands no value of an outer graph into a body.
TEST(RecurrentCheck, KnowsConstantsOfTheGraphsAroundABody) {
  const std::string gru = "p = GRU <hidden_size = 1> (X, W, R, B, L) }";
  const std::string body = "If (c) <then_branch = t () => (float[a,b,d,e] p) { [gru] " + gru +
                           ", else_branch = e () => (float[a,b,d,e] q) { q = Identity(E) }>";
  const std::string loop =
      "Loop (n, c) <body = l (int64 i, bool k) => (bool m, float[a,b,d,e] p) { "
      "m = Identity(k) [gru] " +
      gru + ">";
  const std::string inner = "If (c) <then_branch = u () => (float[a,b,d,e] r) { r = " + body +
                            " }, else_branch = v () => (float[a,b,d,e] s) { s = Identity(E) }>";
  const std::string values = "float[1,6] B = {0, 0, 0, 0, 0, 1}, int32[3] L = {9, 0, 2}";
  const std::string nodes =
      "B = Constant <value = float[1,6] {0, 0, 0, 0, 0, 1}> () "
      "L = Constant <value = int32[3] {9, 0, 2}> () ";
  for (const std::string& call : {body, inner, loop}) {
    for (const bool initializers : {true, false}) {
      const onnx_io::Model model = model_from_text(
          R"(<ir_version: 8, opset_import: ["" : 14]> g (float[5,3,2] X, float[1,3,2] W, float[1,3,1] R,
            float[5,1,3,1] E, bool c, int64 n) => (float[a,b,d,e] Y) )" +
          (initializers ? "<" + values + "> { " : "{ " + nodes) + "Y = " + call + " }");
      const CheckResult result = check_model(model);
      for (const char* code : {"GRU027", "GRU065", "GRU070"}) {
        EXPECT_THAT(codes(result), testing::Contains(code)) << call << "\n" << listed(result);
      }
    }
  }
}

TEST(RecurrentCheck, AnInnerNameHidesAConstantAroundABody) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[5,3,2] X, float[1,3,2] W, float[1,3,1] R, int64 n, bool c) => (float[a,b,d,e] Y)
    <int32[3] L = {9, 1, 2}> {
      Y = Loop (n, c) <body = l (int64 i, bool k) => (bool m, float[a,b,d,e] p) {
        m = Identity(k)
        L = Cast <to = 6> (i)
        p = GRU <hidden_size = 1> (X, W, R, , L) }> })"));
  EXPECT_THAT(codes(result), testing::Not(testing::Contains("GRU027"))) << listed(result);
}

TEST(RecurrentCheck, JudgesBodiesOfLoopAndScan) {
  const std::string gru = "[gru] p = GRU <hidden_size = 4, clip = -1.0> (X, V, R)";
  for (const auto& [nodes, body] :
       {std::pair{
            "n = Constant <value = int64[1] {2}> () [loop] Y = Loop (n, c) <body = l (int64 i, bool k) => "
            "(bool m, float[a,b,d,e] p) { m = Identity(k) " +
                gru + " }>",
            "graph/loop.body/gru"},
        std::pair{
            "[scan] Y = Scan (X) <num_scan_inputs = 1, body = s (float[3,2] x) => (float[a,b,d,e] p) { " +
                gru + " }>",
            "graph/scan.body/gru"}}) {
    const CheckResult result = check_model(model_from_text(with_layer(nodes)));
    for (const char* code : {"GRU009", "GRU023"}) {
      const auto found = std::ranges::find(result.findings, code, &Finding::code);
      ASSERT_NE(found, result.findings.end()) << code << "\n" << listed(result);
      EXPECT_EQ(found->node, body);
    }
  }
}

TEST(RecurrentCheck, AFunctionThatHidesTheOperatorIsNoLayer) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[2] X) => (float[2] Y) { Y = GRU <size = 1> (X) }
    <domain: "", opset_import: ["" : 14]> GRU <size> (x) => (y) { y = Relu(x) })"));
  for (const std::string& code : codes(result)) EXPECT_FALSE(code.starts_with("GRU")) << listed(result);
}

}  // namespace
}  // namespace grurun::opset
