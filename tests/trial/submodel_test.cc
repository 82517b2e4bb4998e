// Parts of a model, and bodies as nodes of the main graph.
#include "trial/submodel.h"

#include <gtest/gtest.h>

#include "onnx_io/models/walk.h"
#include "tests/opset/model_text.h"
#include "trial/inline_bodies.h"

namespace grurun::trial {
namespace {

Value two_floats(float a, float b) {
  return Tensor::from(Shape{2}, std::vector<float>{a, b});
}

TEST(Extraction, ANodeIsFedWithWhatIsKnown) {
  const auto model =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y)
    <float[2] w = {1, 2}> { a = Neg(x) b = Mul(a, w) y = Exp(b) })");
  const std::vector<Value> inputs{two_floats(1, 2)};
  const KnownValues fed = fed_values(model.graph, inputs), known = values_of(model, inputs, {});
  const Submodel part = Extraction(model, fed, known).take({false, true, false});
  ASSERT_EQ(part.model.graph.nodes.size(), 1u);
  EXPECT_EQ(part.model.graph.inputs[0].name, "a");
  EXPECT_EQ(part.inputs[0].tensor().data<float>()[1], -2);
  EXPECT_EQ(part.model.graph.initializers[0].name, "w");
  EXPECT_EQ(part.expected[0].tensor().data<float>()[1], -4);
  EXPECT_EQ(part.unknown, 0u);
  EXPECT_EQ(Extraction(model, fed, {}).take({false, true, false}).unknown, 1u);
}

std::string loop_text(const std::string& go_on, const std::string& more = "") {
  return R"(<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] last, float[a,b] all)
    <int64 n = {10}, bool yes = {1}, float most = {20}> { last, all = Loop(n, yes, x) <body = b (int64 i, bool c, float[2] s)
      => (bool d, float[2] h, float[2] k) { h = Add(s, s) k = Neg(h) m = ReduceMax<keepdims: int = 0>(h) )" +
         go_on + " }>" + more + " }";
}

void expect_same_without_bodies(const std::string& text, const std::vector<Value>& inputs,
                                std::size_t nodes) {
  const auto model = model_from_text(text);
  const Flattened flat = without_bodies(model, inputs, {});
  EXPECT_EQ(flat.replaced > 0, nodes > 0);
  std::size_t count = 0;
  for (const onnx_io::Node& node : flat.model.graph.nodes) {
    EXPECT_FALSE(onnx_io::has_body(node) && nodes > 0) << node.op_type;
    count += node.op_type == "Neg" ? 1 : 0;
  }
  EXPECT_EQ(count, nodes);
  const std::vector<Value> whole = run_again(model, inputs, {}), parts = run_again(flat.model, inputs, {});
  ASSERT_EQ(whole.size(), parts.size());
  Tolerances exact;
  exact.flag = {0.0, 0.0};
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_TRUE(compare_values(parts[i], whole[i], exact).ok) << i;
}

TEST(WithoutBodies, ALoopGoesAsOftenAsItDid) {
  // Until one is not below 20: 2, 4, 8, 16, 32.
  expect_same_without_bodies(loop_text("d = Less(m, most)"), {two_floats(1, 0)}, 5);
  expect_same_without_bodies(loop_text("d = Identity(c)"), {two_floats(1, 0)}, 10);
}

TEST(WithoutBodies, ALoopInsideOneAndABranch) {
  expect_same_without_bodies(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y)
    <int64 n = {2}, int64 k = {3}, bool yes = {1}> {
      l = Loop(n, yes, x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] h) {
        d = Identity(c) h = Loop(k, yes, s) <body = inner (int64 j, bool e, float[2] r) => (bool f, float[2] o) { f = Identity(e) o = Neg(r) }> }>
      y = If(yes) <then_branch = t () => (float[2] z) { z = Abs(l) }, else_branch = e () => (float[2] u) { u = Exp(l) }> })",
                             {two_floats(1, -3)}, 6);
}

TEST(WithoutBodies, NoStepAtAllAndTooManyStay) {
  const std::string text =
      R"(<ir_version: 8, opset_import: ["" : 18]> g (float[2] x, int64 n) => (float[2] y) <bool yes = {1}> {
    y = Loop(n, yes, x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] h) { d = Identity(c) h = Neg(s) }> })";
  const auto model = model_from_text(text);
  for (const auto& [steps, replaced] : {std::pair<std::int64_t, std::size_t>{0, 1}, {3, 1}, {1000, 0}}) {
    const std::vector<Value> inputs{two_floats(1, 2), Tensor::scalar(steps)};
    const Flattened flat = without_bodies(model, inputs, {});
    EXPECT_EQ(flat.replaced, replaced) << steps;
    EXPECT_TRUE(compare_values(run_again(flat.model, inputs, {})[0], run_again(model, inputs, {})[0], {}).ok)
        << steps;
  }
}

}  // namespace
}  // namespace grurun::trial
