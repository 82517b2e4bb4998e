// Rules about values see what constant folding gives.
#include "engine/graph/computed_values.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opset/check/check_before_run.h"
#include "tests/opset/check_models.h"

namespace grurun::opset {
namespace {

// The right B has no Rbh; the lengths are as long as X.
onnx_io::Model rearranged(const std::string& inputs = "", const std::string& node = "") {
  return model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[5,batch,2] X, float[1,3,2] W, float[1,3,1] R)" +
                         inputs + R"() => (float[a,b,c,d] Y)
    <float[1,4] Wb = {0, 0, 0, 7}, float[1,3] Rb = {0, 0, 1}, int64[1] zero = {0}, int64[1] three = {3},
     int64[1] one = {1}, int64[2] lengths = {9, 5}, float[2,1] state = {0, 0}> {
      Wb_in = Slice(Wb, zero, three, one)
      B = Concat <axis = 1> (Wb_in, Rb)
      L = Cast <to = 6> (lengths)
      H = Unsqueeze(state, zero) )" +
                         (node.empty() ? "Y = GRU <hidden_size = 1> (X, W, R, B, L, H)" : node) + "}");
}

TEST(ComputedValues, AreThoseThatLayersTake) {
  const onnx_io::Model model = rearranged();
  const ComputedValues values = engine::computed_values(model);
  EXPECT_EQ(values.size(), 3u);
  ASSERT_TRUE(values.contains("B"));
  EXPECT_EQ(values.at("B").shape(), (Shape{1, 6}));
  EXPECT_EQ(values.at("B").data<float>()[5], 1);
  EXPECT_EQ(engine::computed_values(model, {"Rb"}).count("B"), 0u);
  EXPECT_EQ(engine::computed_values(rearranged("", "Y = Identity(B)")).size(), 0u);
  // One step of what makes it is not constant.
  EXPECT_EQ(engine::computed_values(rearranged(", float[1,3] Rb_in",
                                               "B_in = Concat <axis = 1> (Wb_in, Rb_in)"
                                               "Y = GRU <hidden_size = 1> (X, W, R, B_in)"))
                .size(),
            0u);
}

TEST(ComputedValues, AreJudgedAsConstantsAre) {
  const std::string inner =
      "Loop (n, c) <body = l (int64 i, bool k) => (bool m, float[a,b,d,e] p) { "
      "m = Identity(k) p = GRU <hidden_size = 1> (X, W, R, B, L, H) }>";
  for (const onnx_io::Model& model : {rearranged(), rearranged(", int64 n, bool c", "Y = " + inner)}) {
    const ComputedValues computed = engine::computed_values(model);
    const CheckResult result = check_model(model, computed);
    EXPECT_THAT(codes(result), testing::IsSupersetOf({"GRU065", "GRU066", "GRU027"})) << listed(result);
  }
  const onnx_io::Model model = rearranged();
  EXPECT_THAT(codes(check_model(model)), testing::Not(testing::Contains("GRU065")));
  const CheckResult before_run = check_before_run(model, {}, engine::computed_values(model));
  EXPECT_THAT(codes(before_run), testing::IsSupersetOf({"GRU065", "GRU066", "GRU027"})) << listed(before_run);
}

// X [5,batch,2] leaves the batch open; H is made by these nodes.
onnx_io::Model with_state(const std::string& nodes) {
  return model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[5,batch,2] X, float[4,n] F) => (float[a,b,c,d] Y)
    <float[1,3,2] W = {0, 0, 0, 0, 0, 0}, float[1,3,1] R = {0, 0, 0}, int64[3] sizes = {1, 2, 1}, float zero = {0},
     int64[1] one = {1}, int64[1] two = {2}, int64[1] huge = {4611686018427387904}> {)" +
                         nodes + " Y = GRU <hidden_size = 1> (X, W, R, , , H) }");
}

TEST(ComputedValues, StatesMadeOfConstantsFixTheBatch) {
  struct State {
    const char* nodes;
    bool fixed, seen_by_run;
  };
  const State states[] = {
      {"H = ConstantOfShape(sizes)", true, true},
      {"H = Expand(zero, sizes)", true, true},
      {"w = Shape(W) d = Gather(w, one) e = Slice(w, zero_i, one) s = Concat <axis = 0> (e, two, one) "
       "zero_i = Constant <value = int64[1] {0}> () H = ConstantOfShape(s)",
       true, true},
      {"c = ConstantOfShape(sizes) s = Shape(c) h = Identity(zero) H = Expand(h, s)", true, true},
      // of the sizes of inputs only the batch is open
      {"x = Shape(X) i = Sub(two, one) s = Concat <axis = 0> (one, two, i) H = ConstantOfShape(s)", true,
       true},
      {"f = Shape(F) i = Constant <value = int64[1] {0}> () b = Gather(f, i) s = Concat <axis = 0> (one, b, "
       "one) "
       "H = ConstantOfShape(s)",
       true, false},
      {"x = Shape(X) b = Gather(x, one) s = Concat <axis = 0> (one, b, one) H = ConstantOfShape(s)", false,
       false},
      {"x = Shape(X) b = Gather(x, one) s = Concat <axis = 0> (one, b, one) H = Expand(zero, s)", false,
       false},
      {"s = Concat <axis = 0> (huge, huge, huge) H = ConstantOfShape(s)", true, false},
      // no value can be made of itself
      {"s = Shape(H) H = ConstantOfShape(s)", false, false},
  };
  for (const State& c : states) {
    SCOPED_TRACE(c.nodes);
    const onnx_io::Model model = with_state(c.nodes);
    const ComputedValues computed = engine::computed_values(model);
    EXPECT_EQ(codes(check_model(model, computed)).contains("GRU066"), c.fixed)
        << listed(check_model(model, computed));
    EXPECT_EQ(codes(check_before_run(model, {}, computed)).contains("GRU066"), c.seen_by_run);
  }
}

TEST(ComputedValues, ManyStepsEnd) {
  std::string nodes = "h0 = ConstantOfShape(sizes)";
  for (int i = 0; i < 1000; ++i)
    nodes += fmt::format(" s{0} = Shape(h{0}) h{1} = Expand(h{0}, s{0})", i, i + 1);
  EXPECT_EQ(engine::computed_values(with_state(nodes + " H = Identity(h1000)")).size(), 0u);
  EXPECT_EQ(engine::computed_values(with_state(nodes + " H = Identity(h20)")).size(), 1u);
}

}  // namespace
}  // namespace grurun::opset
