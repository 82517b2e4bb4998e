// The first wrong node against values, another model and double; nodes alone; numbers that should not be.
#include "trial/bisecting/bisect.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tensor/error.h"
#include "tests/opset/model_text.h"
#include "trial/bisecting/lone_node.h"
#include "trial/bisecting/oddities.h"

namespace grurun::trial {
namespace {

Value row(const std::vector<float>& values) {
  return Tensor::from(Shape{1, static_cast<std::int64_t>(values.size())}, values);
}

std::string norms(double epsilon) {
  return R"(<ir_version: 8, opset_import: ["" : 18]> g (float[1,4] x) => (float[1,4] y) <float[4] one = {1, 1, 1, 1}> {
    a = Neg(x) b = LayerNormalization<epsilon: float = )" +
         std::to_string(epsilon) + ">(a, one) c = Exp(b) y = Neg(c) }";
}

std::vector<std::string> made_here(const Bisection& bisection) {
  std::vector<std::string> values;
  for (const ValueDifference& each : bisection.differences)
    if (each.is_made_here()) values.push_back(each.value);
  return values;
}

TEST(Bisect, TheNodeThatIsWrongAndThoseThatHandItOn) {
  const auto right = model_from_text(norms(0.00001)), wrong = model_from_text(norms(0.5));
  const std::vector<Value> inputs{row({1, 2, 3, -1})};
  Reference reference = reference_of(wrong, inputs, right, {}, "");
  BisectOptions options;
  options.all = true;
  const Bisection bisection = bisect(wrong, inputs, reference, options);
  EXPECT_EQ(bisection.compared, 4);
  EXPECT_EQ(made_here(bisection), std::vector<std::string>{"b"});
  ASSERT_EQ(bisection.differences.size(), 3u);
  EXPECT_EQ(bisection.differences[0].details.attributes, std::vector<std::string>{"epsilon = 0.5"});
  EXPECT_TRUE(bisection.differences[2].alone->ok);
  Reference same = reference_of(right, inputs, right, {}, "");
  EXPECT_TRUE(bisect(right, inputs, same, options).differences.empty());
  Reference precise = precise_reference_of(right, inputs, {}, "");
  EXPECT_EQ(bisect(right, inputs, precise, options).compared, 4);
}

TEST(Bisect, QuantizedNodesAreRunOnTheFloatsOfTheOther) {
  const auto quantized = [](const std::string& scale) {
    return model_from_text(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[1,2] x) => (float[1,2] y)
      <float s = {0.05}, uint8 z = {128}, int8[2,2] w = {1, 2, 3, 4}, float ws = {)" +
                           scale + R"(}, int8 wz = {0}> {
      q = QuantizeLinear(x, s, z) m = QLinearMatMul(q, s, z, w, ws, wz, s, z) n = QLinearMatMul(m, s, z, w, ws, wz, s, z) y = DequantizeLinear(n, s, z) })");
  };
  const auto floats =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[1,2] x) => (float[1,2] y)
    <float[2,2] w = {0.1, 0.2, 0.3, 0.4}> { h = MatMul(x, w) y = MatMul(h, w) })");
  const std::vector<Value> inputs{row({1, -2})};
  BisectOptions options;
  options.tolerances.flag = {0.0, 0.06};
  const auto good = quantized("0.1"), bad = quantized("0.3");
  Reference reference = reference_of(good, inputs, floats, {}, "");
  const Bisection bisection = bisect(good, inputs, reference, options);
  EXPECT_EQ(bisection.compared, 4);
  EXPECT_EQ(bisection.absent, 0);
  EXPECT_TRUE(bisection.differences.empty());
  Reference other = reference_of(bad, inputs, floats, {}, "");
  EXPECT_EQ(made_here(bisect(bad, inputs, other, options)), std::vector<std::string>{"m"});
  Reference back = reference_of(floats, inputs, bad, {}, "");
  EXPECT_EQ(made_here(bisect(floats, inputs, back, options)), std::vector<std::string>{"h"});
}

TEST(Bisect, WhatDrawsIsNeitherBlamedNorPassedOver) {
  const auto drawing = [](const std::string& nodes, const std::string& factor) {
    return model_from_text(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[1,64] x) => (float[1,64] y)
      <float half = {0.5}, bool train = {1}, bool infer = {0}, float f = {)" +
                           factor + "}> { p = Exp(x) " + nodes + " q = Abs(d) y = Mul(q, f) }");
  };
  const std::vector<std::pair<std::string, std::string>> draws = {
      {"[drop] d = Dropout(p, half, train)", "node 'drop' runs in training mode"},
      {"[noise] n = RandomNormal<shape = [1, 64]>() d = Add(n, p)",
       "node 'noise' (RandomNormal-1) draws random values"},
      {"[pick] i = Multinomial<sample_size = 64>(p) d = Cast<to = 1>(i)",
       "node 'pick' (Multinomial-7) draws random values"},
      {R"(d = If(train) <then_branch = a () => (float[1,64] u) { n = RandomUniform<shape = [1, 64]>() u = Add(n, p) },
          else_branch = b () => (float[1,64] v) { v = Neg(p) }>)",
       "draws random values"},
  };
  const std::vector<Value> inputs{row(std::vector<float>(64, 0.1f))};
  for (const auto& [nodes, cause] : draws) {
    SCOPED_TRACE(nodes);
    const auto model = drawing(nodes, "2"), wrong = drawing(nodes, "3");
    Reference same = reference_of(model, inputs, model, {}, "");
    EXPECT_EQ(bisect(model, inputs, same, {}).conclusion, Conclusion::nothing);
    Rerun other_draw;
    other_draw.seed = 1;
    Reference reference = reference_of(model, inputs, model, other_draw, "");
    const Bisection bisection = bisect(model, inputs, reference, {});
    EXPECT_EQ(made_here(bisection), std::vector<std::string>());
    EXPECT_EQ(bisection.conclusion, Conclusion::unexplained);
    ASSERT_FALSE(bisection.differences.empty());
    const std::string said = cause + ": the reference has another draw";
    EXPECT_TRUE(std::ranges::any_of(bisection.differences, [&](const ValueDifference& each) {
      return each.not_alone.find(said) != std::string::npos;
    })) << bisection.differences.front().not_alone;
    EXPECT_EQ(made_here(bisect(wrong, inputs, reference, {})), std::vector<std::string>{"y"});
  }
  // A Dropout that does not train is judged like any other node.
  const auto idle = drawing("[drop] d = Dropout(p, half, infer)", "2"), neg = drawing("d = Neg(p)", "2");
  Reference reference = reference_of(idle, inputs, neg, {}, "");
  EXPECT_EQ(made_here(bisect(idle, inputs, reference, {})), std::vector<std::string>{"d"});
}

TEST(Bisect, NoValueInCommonIsUsage) {
  const auto model = model_from_text(norms(0.1));
  Reference reference{ValueStore::make()};
  reference.values.add("nobody", row({1}));
  try {
    bisect(model, {row({1, 2, 3, 4})}, reference, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST(LoneNode, BringsAlongWhatMakesWhatIsNotKnown) {
  const auto model = model_from_text(norms(0.1));
  const Scopes scopes(model);
  const auto lone = [&](const std::string& known) {
    const std::function<bool(const std::string&)> is_known = [known](const std::string& name) {
      return name == known;
    };
    const LoneNode node(model, scopes.main(), model.graph.nodes[2], is_known);
    return std::pair(node.needs(), node.others().size());
  };
  EXPECT_EQ(lone("b"), std::pair(std::vector<std::string>{"b"}, std::size_t{0}));
  EXPECT_EQ(lone("a"), std::pair(std::vector<std::string>{"a"}, std::size_t{1}));
  EXPECT_EQ(lone("x"), std::pair(std::vector<std::string>{"x"}, std::size_t{2}));
}

TEST(Oddities, TheFirstNodeThatMakesSuchANumber) {
  const auto model =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[1,3] x) => (float[1,3] y) {
    a = Neg(x) b = Exp(a) c = Exp(b) d = Sub(c, c) y = Neg(d) })");
  const auto found = [&](Oddity oddity, const std::vector<float>& x) {
    const auto one = find_oddity(model, {row(x)}, oddity, {});
    return one ? one->value + " " + one->element : "none";
  };
  EXPECT_EQ(found(Oddity::nan, {0, -5, 0}), "d nan");
  EXPECT_EQ(found(Oddity::inf, {0, -5, 0}), "c inf");
  EXPECT_EQ(found(Oddity::overflow_float16, {0, -12, 0}), "b 162755");
  EXPECT_EQ(found(Oddity::denormal, {0, 100, 0}), "b 3.78351e-44");
  EXPECT_EQ(found(Oddity::nan, {0, 1, 2}), "none");
}

}  // namespace
}  // namespace grurun::trial
