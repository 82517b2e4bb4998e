// Models made smaller while they fail in the same way.
#include "conformance/reduce/reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/reduce/inner_nodes.h"
#include "conformance/reduce/parts.h"
#include "onnx_io/models/walk.h"
#include "tests/opset/model_text.h"
#include "tests/places/scratch.h"

namespace grurun::conformance {
namespace {

using testing::ElementsAre;

Value four_floats() {
  return Tensor::from(Shape{4}, std::vector<float>{1, -2, 3, -4});
}

std::vector<std::string> operators_of(const onnx_io::Model& model) {
  std::vector<std::string> names;
  onnx_io::for_each_node(model.graph.nodes,
                         [&](const onnx_io::Node& node) { names.push_back(node.op_type); });
  return names;
}

std::optional<Reduction> reduce_in(const tests::Scratch& scratch, const std::string& model,
                                   const std::vector<Value>& inputs, std::optional<Truth> truth) {
  ReduceOptions options;
  options.scratch = scratch.folder();
  options.each.diagnose = false;
  return reduce(model_from_text(model), inputs, truth ? &*truth : nullptr, options);
}

TEST(Reduce, ListsBecomeMinimal) {
  std::vector<int> items(40);
  for (int i = 0; i < 40; ++i) items[static_cast<std::size_t>(i)] = i;
  const auto holds = [](const std::vector<int>& some) {
    return std::ranges::count(some, 7) > 0 && std::ranges::count(some, 31) > 0;
  };
  EXPECT_THAT(minimal_list(items, holds), ElementsAre(7, 31));
}

TEST(Reduce, MessagesWithoutNamesAndNumbers) {
  EXPECT_EQ(kind_of_message("node 'a' (GRU-22): W has shape [1,12,5]"), "node '' (GRU-#): W has shape []");
  EXPECT_EQ(kind_of_message("node 'l' (Loop-21): node 'l/0/h' (Add-14): no"),
            kind_of_message("node 'h' (Add-14): no"));
  EXPECT_EQ(kind_of_message("cannot read /tmp/x/model.onnx: short"), "cannot read path: short");
}

std::string layers(const std::string& alpha, const std::string& prefix = "") {
  return R"(<ir_version: 8, opset_import: ["" : 18]> g (float[4] x) => (float[4] y) { )" + prefix +
         "a = Neg(x) " + prefix + "b = LeakyRelu<alpha: float = " + alpha + ">(" + prefix + "a) " + prefix +
         "c = Exp(" + prefix + "b) y = Neg(" + prefix + "c) }";
}

TEST(Reduce, OneNodeIsLeftAgainstAModelOfOtherNames) {
  const tests::Scratch scratch;
  const auto reduction =
      reduce_in(scratch, layers("0.5"), {four_floats()}, Truth(model_from_text(layers("0.1", "other_"))));
  ASSERT_TRUE(reduction);
  EXPECT_THAT(operators_of(reduction->part.model), ElementsAre("LeakyRelu"));
  EXPECT_EQ(reduction->part.inputs[0].tensor().size(), 1);
  EXPECT_FALSE(
      reduce_in(scratch, layers("0.5"), {four_floats()}, Truth(model_from_text(layers("0.5", "other_")))));
}

std::string growing(const std::string& alpha) {
  return R"(<ir_version: 8, opset_import: ["" : 18]> g (float[4] x) => (float[4] y) <int64 n = {50}, bool yes = {1}, float most = {40}> {
    l = Loop(n, yes, x) <body = b (int64 i, bool c, float[4] s) => (bool d, float[4] h)
      { t = Add(s, s) h = LeakyRelu<alpha: float = )" +
         alpha + R"(>(t) m = ReduceMax<keepdims: int = 0>(h) d = Less(m, most) }> y = Neg(l) })";
}

TEST(Reduce, AStepOfALoopThatEndsByItself) {
  const tests::Scratch scratch;
  const auto reduction =
      reduce_in(scratch, growing("0.5"), {four_floats()}, Truth(model_from_text(growing("0.1"))));
  ASSERT_TRUE(reduction);
  EXPECT_THAT(operators_of(reduction->part.model), ElementsAre("LeakyRelu"));
}

TEST(Reduce, WhatIsRefusedInABodyIsCutOut) {
  const tests::Scratch scratch;
  const auto reduction = reduce_in(
      scratch,
      R"(<ir_version: 8, opset_import: ["" : 18, "their.domain" : 1]> g (float[4] x, bool yes) => (float[4] y) {
    y = If(yes) <then_branch = t () => (float[4] z) { p = Neg(x) q = their.domain.Nobody(p) z = Exp(q) }, else_branch = e () => (float[4] u) { u = Exp(x) }> })",
      {four_floats(), Tensor::scalar(true)}, std::nullopt);
  ASSERT_TRUE(reduction);
  EXPECT_EQ(reduction->reduced.verdict, Verdict::unsupported);
  EXPECT_THAT(operators_of(reduction->part.model), ElementsAre("Nobody"));
}

TEST(Reduce, NodesOfBodiesThatStay) {
  Candidate candidate;
  candidate.part.model = model_from_text(growing("0.5"));
  std::vector<std::string> outputs;
  for (const InnerNode& node : inner_nodes_of(candidate.part.model)) outputs.push_back(node.output);
  EXPECT_THAT(outputs, ElementsAre("d", "m", "h", "t"));
  const auto without_t = without_inner_node(candidate, "t", "s");
  ASSERT_TRUE(without_t);
  EXPECT_THAT(operators_of(without_t->part.model),
              ElementsAre("Loop", "LeakyRelu", "ReduceMax", "Less", "Neg"));
  const auto without_h = without_inner_node(candidate, "h", "t");
  ASSERT_TRUE(without_h);
  EXPECT_THAT(operators_of(without_h->part.model),
              ElementsAre("Loop", "Add", "Identity", "ReduceMax", "Less", "Neg"));
  EXPECT_FALSE(without_inner_node(candidate, "nobody", "t"));
  candidate.other = model_from_text(layers("0.5"));
  EXPECT_FALSE(without_inner_node(candidate, "t", "s"));
}

}  // namespace
}  // namespace grurun::conformance
