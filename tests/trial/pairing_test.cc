// Values of two models that belong together, found by names, structure and numbers.
#include "trial/pairing.h"

#include <gtest/gtest.h>

#include "tests/opset/model_text.h"
#include "trial/model_diff.h"

namespace grurun::trial {
namespace {

std::string model_header(const std::string& more = "") {
  return R"(<ir_version: 8, opset_import: ["" : 18)" + more + "]> ";
}

std::string partner_in(const Pairing& pairing, const std::string& name) {
  return pairing.partner(name).value_or("-");
}

TEST(Pairing, WithoutNamesByWhatNodesRead) {
  const auto ours =
      model_from_text(model_header() + R"(g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {
    a = Mul(x, w) b = Tanh(a) c = Cast<to = 10>(b) d = Cast<to = 1>(c) y = Neg(d) })");
  const auto theirs =
      model_from_text(model_header() + R"(g (float[4] x) => (float[4] out) <float[4] v = {1, 2, 3, 4}> {
    p = Mul(x, v) q = Tanh(p) out = Neg(q) })");
  const Pairing pairing(ours.graph, theirs.graph);
  EXPECT_EQ(partner_in(pairing, "a"), "p");
  EXPECT_EQ(partner_in(pairing, "b"), "q");
  EXPECT_EQ(partner_in(pairing, "d"), "q");  // seen through
  EXPECT_EQ(partner_in(pairing, "y"), "out");
  EXPECT_EQ(partner_in(pairing, "w"), "-");
  EXPECT_EQ(pairing.by_structure(), 3u);
}

TEST(Pairing, OfTwoNodesThatReadTheSameTheOneWithTheSameConstant) {
  const auto ours = model_from_text(model_header() + R"(g (float[2] x) => (float[2] y)
    <float[2] one = {1, 1}, float[2] two = {2, 2}> { a = Add(x, two) b = Add(x, one) y = Mul(a, b) })");
  const auto theirs = model_from_text(model_header() + R"(g (float[2] x) => (float[2] z)
    <float[2] one = {1, 1}, float[2] two = {2, 2}> { p = Add(x, one) q = Add(x, two) z = Mul(q, p) })");
  const Pairing pairing(ours.graph, theirs.graph);
  EXPECT_EQ(partner_in(pairing, "a"), "q");
  EXPECT_EQ(partner_in(pairing, "b"), "p");
}

TEST(Pairing, BodiesByPathAndStructure) {
  const auto text = [](const std::string& loop, const std::string& h, const std::string& k) {
    return model_header() +
           "g (float[2] x, int64 n) => (float[2] y) <bool go = {1}, float[2] w = {1, 2}> { " + loop +
           " = Loop(n, go, x) <body = b (int64 i" + k + ", bool c" + k + ", float[2] s" + k + ") => (bool d" +
           k + ", float[2] " + h + ") { d" + k + " = Identity(c" + k + ") t" + k + " = Mul(s" + k + ", w) " +
           h + " = Add(t" + k + ", x) }> y = Neg(" + loop + ") }";
  };
  const auto ours = model_from_text(text("loop", "h", "")), theirs = model_from_text(text("other", "r", "2"));
  const Pairing pairing(ours.graph, theirs.graph);
  EXPECT_EQ(partner_in(pairing, "loop"), "other");
  EXPECT_EQ(partner_in(pairing, "loop/0/s"), "other/0/s2");
  EXPECT_EQ(partner_in(pairing, "loop/3/t"), "other/3/t2");
  EXPECT_EQ(partner_in(pairing, "loop/12/h"), "other/12/r");
  EXPECT_EQ(partner_in(pairing, "loop/12/nobody"), "-");
}

constexpr const char* quantized_text = R"(g (float[1,2,4,4] x) => (float[1,2,4,4] y)
  <float s = {0.02}, uint8 z = {128}, int8[2,2,1,1] w = {1, 2, 3, 4}, float ws = {0.01}, int8 wz = {0}, int32[2] bias = {0, 1},
   float[2,2,1,1] fw = {0.01, 0.02, 0.03, 0.04}, float[2] fb = {0, 0.0002}> )";

TEST(Pairing, QuantizedOperatorsAndTheReluThatTheyTakeIn) {
  const auto quantized = model_from_text(model_header() + quantized_text + R"({ q = QuantizeLinear(x, s, z)
    c = QLinearConv(q, s, z, w, ws, wz, s, z, bias) e = QLinearConv(c, s, z, w, ws, wz, s, z, bias) y = DequantizeLinear(e, s, z) })");
  const auto floats =
      model_from_text(model_header() + quantized_text +
                      R"({ conv = Conv(x, fw, fb) relu = Relu(conv) y = Conv(relu, fw, fb) })");
  const Pairing pairing(quantized.graph, floats.graph);
  EXPECT_EQ(partner_in(pairing, "q"), "x");
  EXPECT_EQ(partner_in(pairing, "c"), "relu");
  EXPECT_EQ(partner_in(pairing, "e"), "y");
  EXPECT_EQ(partner_in(pairing, "y"), "y");
  const Pairing back(floats.graph, quantized.graph);
  EXPECT_EQ(partner_in(back, "relu"), "c");
  EXPECT_EQ(partner_in(back, "y"), "e");  // the same once dequantized
}

TEST(Pairing, NamesOfTheQuantizerOfOnnxRuntime) {
  const auto quantized = model_from_text(model_header() + R"(g (float[2,2] x) => (float[2,2] y)
    <float s = {0.02}, uint8 z = {128}, int8[2,2] w = {1, 2, 3, 4}, float ws = {0.01}, int8 wz = {0}> {
    q = QuantizeLinear(x, s, z) a_quantized = QLinearMatMul(q, s, z, w, ws, wz, s, z) a_out = DequantizeLinear(a_quantized, s, z)
    y = Exp(a_out) })");
  const auto floats = model_from_text(model_header() + R"(g (float[2,2] other) => (float[2,2] y)
    <float[2,2] w = {0.01, 0.02, 0.03, 0.04}> { hidden = Neg(other) a = MatMul(hidden, w) y = Exp(a) })");
  EXPECT_EQ(partner_in(Pairing(quantized.graph, floats.graph), "a_quantized"), "a");
  EXPECT_EQ(partner_in(Pairing(floats.graph, quantized.graph), "a"), "a_quantized");
}

TEST(Pairing, OtherModelsGetTheNames) {
  const auto ours =
      model_from_text(model_header() + "g (float[2] x) => (float[2] y) { a = Neg(x) b = Exp(a) y = Neg(b) }");
  const auto theirs =
      model_from_text(model_header() + "g (float[2] x) => (float[2] z) { b = Neg(x) c = Exp(b) z = Neg(c) }");
  const onnx_io::Model renamed = with_names_of(ours, theirs);
  std::vector<std::string> names;
  for (const onnx_io::Node& node : renamed.graph.nodes)
    names.push_back(node.inputs[0] + ">" + node.outputs[0]);
  EXPECT_EQ(names, (std::vector<std::string>{"x>a", "a>b", "b>y"}));
  EXPECT_EQ(renamed.graph.outputs[0].name, "y");
}

TEST(ModelDiff, NodesAttributesAndWeights) {
  const auto a = model_from_text(model_header() + R"(g (float[2,2] x) => (float[2,2] y)
    <float[2,2] w = {1, 2, 3, 4}, float[2] one = {1, 1}> { p = MatMul(x, w) q = LayerNormalization<epsilon: float = 0.001>(p, one) y = Exp(q) })");
  const auto b = model_from_text(model_header() + R"(g (float[2,2] x) => (float[2,2] y)
    <float[2,2] v = {1, 3, 2, 4}, float[2] one = {1, 1}> { m = MatMul(x, v) n = LayerNormalization<epsilon: float = 0.5>(m, one) y = Neg(n) })");
  const ModelDiff diff = diff_models(a, b);
  EXPECT_EQ(diff.paired, 2u);
  ASSERT_EQ(diff.attributes.size(), 1u);
  EXPECT_EQ(diff.attributes[0].what, "epsilon of node 'q' (LayerNormalization)");
  EXPECT_EQ(diff.attributes[0].b, "0.5");
  ASSERT_EQ(diff.weights.size(), 1u);
  EXPECT_EQ(diff.weights[0].relation.text, "transposed, perm 1, 0");
  EXPECT_EQ(diff.equal_weights, 1u);
  EXPECT_EQ(diff.only_a, std::vector<std::string>{"node 'y' (Exp)"});
  EXPECT_EQ(diff.only_b, std::vector<std::string>{"node 'y' (Neg)"});
  EXPECT_TRUE(diff_models(a, a).is_empty());
}

}  // namespace
}  // namespace grurun::trial
