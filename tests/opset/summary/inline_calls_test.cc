#include "opset/summary/inline_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opset/summary/model_summary.h"
#include "tests/opset/model_text.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* lstm_cell = R"(
  <domain: "ns", opset_import: ["" : 14]> Cell <axis> (x, h, c, W, R, b) => (hn, cn) {
    a = Gemm <transB = 1> (x, W, b)
    s = Gemm <transB = 1> (h, R)
    g = Add (a, s)
    gi, gf, gg, go = Split <axis: int = @axis> (g)
    i = Sigmoid (gi) f = Sigmoid (gf) t = Tanh (gg) o = Sigmoid (go)
    kept = Mul (f, c)
    new = Mul (i, t)
    cn = Add (kept, new)
    ct = Tanh (cn)
    hn = Mul (o, ct)
  })";

// Three steps, each a call of the cell.
constexpr const char* three_calls = R"(
    p0, p1, p2 = Split <axis = 0> (X)
    x0 = Squeeze (p0, zero) x1 = Squeeze (p1, zero) x2 = Squeeze (p2, zero)
    [a] h1, c1 = ns.Cell <axis = 1> (x0, H0, C0, W, R, b)
    [b] h2, c2 = ns.Cell <axis = 1> (x1, h1, c1, W, R, b)
    [c] h3, c3 = ns.Cell <axis = 1> (x2, h2, c2, W, R, b))";

std::string model_of(const std::string& nodes, const std::string& functions) {
  return R"(<ir_version: 8, opset_import: ["" : 14, "ns" : 1]>
    g (float[3,2,4] X, float[2,5] H0, float[2,5] C0, float[20,4] W, float[20,5] R, float[20] b, bool yes) => (float[2,5] h3)
    <float[20,4] W, float[20,5] R, float[20] b, int64[1] zero = {0}> { )" +
         nodes + " }" + functions;
}

// The parser fills no initializer without values.
onnx_io::Model with_weights(const std::string& text) {
  onnx_io::Model model = model_from_text(text);
  model.graph.initializers = {{"W", Tensor::zeros(DType::float32, {20, 4})},
                              {"R", Tensor::zeros(DType::float32, {20, 5})},
                              {"b", Tensor::zeros(DType::float32, {20})},
                              {"zero", Tensor::from<std::int64_t>({1}, {0})}};
  return model;
}

void expect_three_steps(const onnx_io::Model& model, const char* where) {
  const ModelSummary summary = summarise(model, {});
  ASSERT_THAT(summary.cells, SizeIs(1)) << where;
  const FoundCells& cells = summary.cells[0];
  EXPECT_EQ(cells.kind, "unrolled");
  EXPECT_EQ(cells.op_type, "LSTM");
  EXPECT_EQ(cells.where, where);
  EXPECT_EQ(cells.steps, 3);
  EXPECT_EQ(cells.input_size, 4);
  EXPECT_EQ(cells.hidden_size, 5);
  EXPECT_EQ(cells.direction, "forward");
  EXPECT_EQ(cells.gate_order, "ifco");
}

TEST(InlineCalls, AFunctionForEachStep) {
  expect_three_steps(with_weights(model_of(three_calls, lstm_cell)), "graph/a/Mul#12");
}

TEST(InlineCalls, AFunctionForTheLayerThatCallsOneForEachStep) {
  const std::string layer =
      R"(<domain: "ns", opset_import: ["" : 14, "ns" : 1]> Layer (X, H0, C0, W, R, b, zero) => (h3) { )" +
      std::string(three_calls) + " }";
  expect_three_steps(
      with_weights(model_of("[l] h3 = ns.Layer (X, H0, C0, W, R, b, zero)", lstm_cell + layer)),
      "graph/l/a/Mul#12");
}

TEST(InlineCalls, ACallInASubgraph) {
  const std::string branch = "{ " + std::string(three_calls) + " }";
  const std::string nodes = "[if] h3 = If (yes) <then_branch = t () => (float[2,5] h3) " + branch +
                            ", else_branch = e () => (float[2,5] H0x) { H0x = Identity (H0) }>";
  expect_three_steps(with_weights(model_of(nodes, lstm_cell)), "graph/if.then_branch/a/Mul#12");
}

TEST(InlineCalls, NamesStayApart) {
  const onnx_io::Model model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 14, "ns" : 1]>
    g (float[2] X, float[2] t) => (float[2] Y, float[2] Z) {
      [n] u = ns.F (X) [n] Y = ns.F (u) Z, other = ns.Pass (t, X) }
    <domain: "ns", opset_import: ["" : 14]> F (x) => (y) { t = Relu (x) y = Neg (t) }
    <domain: "ns", opset_import: ["" : 14]> Pass (a, b) => (a, c) { c = Abs (b) })");
  const onnx_io::Graph graph = inline_calls(model, FunctionIndex(model.functions));
  std::vector<std::string> lines;
  for (const onnx_io::Node& node : graph.nodes)
    lines.push_back(node.op_type + " " + node.inputs.at(0) + " -> " + node.outputs.at(0));
  EXPECT_THAT(lines, ElementsAre("Relu X -> n/t", "Neg n/t -> u", "Relu u -> n:2/t", "Neg n:2/t -> Y",
                                 "Identity t -> Z", "Abs X -> other"));
  EXPECT_THAT(summarise(model, {}).cells, IsEmpty());
}

}  // namespace
}  // namespace grurun::opset
