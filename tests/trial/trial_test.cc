// A model and its data sets from the check to the reasons.
#include "trial/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/opset/model_text.h"
#include "trial/diagnosis/explain.h"

namespace grurun::trial {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::from(shape, values);
}

float first_of(const Value& value) {
  return value.tensor().data<float>()[0];
}

// Multiply-adds that a plan makes one step, with a value between that is declared with another shape.
constexpr const char* chain = R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[n] X) => (float[n] Y) <float[m] B>
{ A = Mul(X, X) B = Add(A, X) C = Sub(B, A) Y = Exp(C) }
)";

TEST(Trial, TheSameBitsComeOutWithAndWithoutFusion) {
  const onnx_io::Model model = model_from_text(chain);
  const std::vector<Value> inputs = {floats({3}, {0.1f, -0.7f, 3})};
  std::vector<std::size_t> steps;
  std::vector<Value> outputs;
  for (const bool fuse : {true, false}) {
    TrialOptions options;
    options.fuse = fuse;
    Trial trial(model, options);
    steps.push_back(trial.plan(inputs)->steps.size());
    outputs.push_back(trial.run({"", inputs, {}}).outputs.at(0));
  }
  EXPECT_LT(steps[0], steps[1]);
  EXPECT_EQ(steps[1], 4u);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(outputs[0].tensor().data<float>()[i], outputs[1].tensor().data<float>()[i]);
}

TEST(Trial, ComparesWhatIsExpectedAndNothingElse) {
  const onnx_io::Model model = model_from_text(R"(
<ir_version: 8, opset_import: ["" : 14]> g (float[1] X) => (float[1] Y, float[1] Z) { Y = Neg(X) Z = Identity(X) })");
  TrialOptions options;
  options.tolerances = {{}, {{0.5, {}}, {}}};
  Trial trial(model, options);
  const std::vector<Value> inputs = {floats({1}, {2})};
  const Outcome unasked = trial.run({"", inputs, {}});
  EXPECT_FALSE(unasked.differs() || unasked.judgements.at(0).compared);
  EXPECT_EQ(first_of(unasked.outputs.at(0)), -2);
  const Outcome partly = trial.run({"", inputs, {Value(), floats({1}, {2.5})}});
  EXPECT_FALSE(partly.judgements.at(0).compared);
  EXPECT_TRUE(partly.judgements.at(1).compared && !partly.differs()) << "0.5 of its own tolerance";
  const Outcome wrong = trial.run({"", inputs, {floats({1}, {-2.5}), Value()}});
  EXPECT_TRUE(wrong.judgements.at(0).differs() && wrong.differs()) << "the tolerance is that of Z alone";
}

TEST(Trial, RandomOutputsAreCheckedByTheirDistribution) {
  const onnx_io::Model model = model_from_text(R"(
<ir_version: 8, opset_import: ["" : 15]> g () => (float[2] Y) { Y = RandomUniform <shape = [2], low = 4.0, high = 5.0> () })");
  Trial trial(model, {});
  const Outcome other = trial.run({"", {}, {floats({2}, {4.25, 4.75})}});
  EXPECT_TRUE(other.judgements.at(0).random && !other.differs());
  const Outcome outside = trial.run({"", {}, {floats({2}, {4.25, 5.75})}});
  EXPECT_TRUE(outside.judgements.at(0).random && outside.differs());
  EXPECT_THAT(describe(outside.judgements.at(0).comparison), HasSubstr("random values of RandomUniform"));
}

// Rbh is not 0, in a value that only constants make.
constexpr const char* computed_bias = R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[t,1,1] X) => (float[t,1,2,1] Y)
<float[1,3,1] W = {1,1,1}, float[1,3,1] R = {1,1,1}, float[1,3] Wb = {0,0,0}, float[1,3] Rb = {0,0,0.5}>
{ B = Concat <axis = 1> (Wb, Rb) [gru] Y = GRU <hidden_size = 1> (X, W, R, B) }
)";

TEST(Trial, WarnsOfTheModelOnceAndOfValuesInEachRun) {
  const onnx_io::Model model = model_from_text(computed_bias);
  std::vector<std::string> told;
  TrialOptions options;
  options.warn = [&](const opset::Finding& finding) { told.push_back(finding.code + " " + finding.node); };
  Trial trial(model, options);
  const DataSet set{"", {floats({1, 1, 1}, {1})}, {}};
  trial.check(set.inputs);
  EXPECT_THAT(told, ElementsAre("GRU065 graph/gru"));
  trial.run(set);
  trial.run(set);
  EXPECT_THAT(told, ElementsAre("GRU065 graph/gru", "SHAPE004 ", "SHAPE004 "));
}

TEST(Trial, AnErrorOfTheCheckEndsIt) {
  std::string text = computed_bias;
  text.replace(text.find("hidden_size = 1"), 15, "hidden_size = 2");
  const onnx_io::Model model = model_from_text(text);
  const std::vector<Value> inputs = {floats({1, 1, 1}, {1})};
  Trial trial(model, {});
  for (int i = 0; i < 2; ++i) {
    try {
      trial.plan(inputs);
      ADD_FAILURE() << "the second time as the first";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model);
      EXPECT_THAT(error.what(), HasSubstr("node 'graph/gru' (GRU-14): "));
    }
  }
}

TEST(Trial, ExplainsInDoubleWhatTheOptionsAskFor) {
  const onnx_io::Model model = model_from_text(R"(
<ir_version: 8, opset_import: ["" : 14]> g (float[1] X) => (float[1] Y, float[1] Z) { Y = Exp(X) Z = Exp(X) })");
  const DataSet set{"", {floats({1}, {1})}, {floats({1}, {3}), floats({1}, {2.7182818f})}};
  std::vector<std::size_t> told;
  for (const Precise precise : {Precise::none, Precise::differing, Precise::all}) {
    TrialOptions options;
    options.precise = precise;
    Trial trial(model, options);
    const Outcome outcome = trial.run(set);
    EXPECT_TRUE(outcome.differs());
    const Reasons why = explain(trial, outcome);
    EXPECT_FALSE(why.failed);
    told.push_back(why.explanations.size());
    if (!why.explanations.empty()) {
      EXPECT_THAT(describe(why.explanations[0]),
                  HasSubstr("output 'Y': in double precision: actual is the nearer"));
    }
  }
  EXPECT_THAT(told, ElementsAre(0, 1, 2));
}

TEST(Trial, ADeadlineThatHasPassedEndsIt) {
  const onnx_io::Model model = model_from_text(chain);
  TrialOptions options;
  options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  try {
    Trial(model, options).run({"", {floats({3}, {1, 2, 3})}, {}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
  }
}

}  // namespace
}  // namespace grurun::trial
