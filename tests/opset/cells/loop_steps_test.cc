// How often a Loop runs, by its M and conditions.
#include "opset/cells/loop_steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/opset/model_text.h"

namespace grurun::opset {
namespace {

struct LoopCase {
  const char* inputs;          // M and condition
  const char* body;            // makes on, the condition, of i, c, t and u: counters from begin and 7
  const char* steps;           // "at most 5" and the like
  const char* begin = "zero";  // of t
};

std::string steps_of(const LoopCase& c) {
  const auto model = model_from_text(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (int64 open, bool maybe, float[2] X) => (Y, Z, S) <int64 "
      "five = {{5}}, int64 below = {{-3}}, int64 zero = {{0}}, int64 seven = {{7}}, bool yes = {{1}}, bool "
      "no = {{0}}, int64 lowest = {{-9223372036854775808}}, float two = {{2}}> {{ first = Less(zero, five) "
      "last = And(first, no) Y, Z, S = Loop ({}, "
      "{}, seven, X) <body = b (int64 i, bool c, int64 t, int64 u, float[2] s) => (bool on, int64 tt, "
      "int64 uu, float[2] ss) <int64 one = {{1}}, int64 three = {{3}}, float half = {{3.5}}, bool true = "
      "{{1}}> {{ tt = Add(t, one) uu = Add(u, one) ss = Add(s, two) {} }}> }}",
      c.inputs, c.begin, c.body));
  const onnx_io::Node& node = model.graph.nodes.back();
  const onnx_io::Graph& body = *node.attributes[0].graphs[0];
  const GraphView outer(model.graph);
  const LoopSteps steps = loop_steps({node, body, outer, GraphView::of_loop(node, body, outer)});
  if (!steps.most) return "?";
  return (steps.exact ? "" : "at most ") + std::to_string(*steps.most);
}

TEST(LoopSteps, AreThoseThatConstantsAndCountersTell) {
  const LoopCase cases[] = {
      {"five, ", "on = Identity(c)", "5"},
      {"five, yes", "on = Identity(true)", "5"},
      {"five, first", "on = Identity(c)", "5"},
      {"five, maybe", "on = Identity(c)", "at most 5"},
      {"five, no", "on = Identity(c)", "0"},
      {"five, last", "on = Identity(c)", "0"},
      {"below, maybe", "on = Identity(c)", "0"},
      {"open, ", "on = Identity(c)", "?"},
      {"open, no", "on = Identity(c)", "0"},
      {", ", "on = Identity(c)", "?"},
      {"five, ", "r = ReduceSum <keepdims = 0> (s) on = Greater(r, two)", "at most 5"},
      {"five, ", "on = Less(i, seven)", "5"},
      {"five, ", "on = Less(i, three)", "4"},
      {"five, ", "on = Less(tt, three)", "3"},
      {"five, ", "on = LessOrEqual(t, three)", "5"},
      {", ", "on = LessOrEqual(t, three)", "5"},
      {", ", "on = Greater(three, t)", "4"},
      {", ", "f = Cast <to = 1> (t) on = LessOrEqual(f, half)", "5"},
      {", ", "f = Cast <to = 1> (t) on = GreaterOrEqual(half, f)", "5"},
      {", ", "f = Cast <to = 1> (t) on = Less(f, half)", "5"},
      {", ", "f = Cast <to = 9> (t) g = Cast <to = 1> (f) on = Less(g, half)", "?"},
      {", ", "on = Less(u, three)", "1"},
      {"open, maybe", "on = Less(t, three)", "?", "lowest"},
      {"five, ", "on = Greater(t, three)", "at most 5"},
      {"open, ", "on = Less(t, three)", "at most 4"},
      {"five, ", "a = Less(i, seven) b = Less(tt, three) on = And(a, b)", "3"},
      {"five, ", "a = Cast <to = 9> (s) b = Less(tt, three) on = And(a, b)", "at most 3"},
      {"five, ", "a = Add(t, u) on = Less(a, three)", "at most 5"},
  };
  for (const LoopCase& c : cases) EXPECT_EQ(steps_of(c), c.steps) << c.inputs << " : " << c.body;
}

}  // namespace
}  // namespace grurun::opset
