#include "onnx_io/models/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace grurun::onnx_io {
namespace {

using testing::ElementsAre;

Node node(const std::string& name, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  Node made;
  made.op_type = name;
  made.name = name;
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

void add_body(Node& holder, const std::string& attribute, Graph body) {
  Attribute made;
  made.name = attribute;
  made.type = AttributeType::graph;
  made.graphs = {std::make_shared<const Graph>(std::move(body))};
  holder.attributes.push_back(std::move(made));
}

/// first -> loop { state; inside -> nested { deepest } } -> last; and one function.
Model nested_model() {
  Graph innermost;
  innermost.nodes = {node("deepest", {"b", "first_out", "inner"}, {"e"})};
  innermost.outputs = {{"e", {}}, {"d", {}}};
  Node nested = node("nested", {"inner"}, {"n"});
  add_body(nested, "then_branch", innermost);
  Graph body;
  body.inputs = {{"state", {}}};
  body.initializers = {{"b", {}}};
  body.nodes = {node("inside", {"state", "a", ""}, {"inner"}), nested};
  body.outputs = {{"n", {}}, {"c", {}}};
  Node loop = node("loop", {"", "first_out"}, {"looped"});
  add_body(loop, "body", body);
  Model model;
  model.graph.nodes = {node("first", {"x"}, {"", "first_out"}), loop,
                       node("last", {"looped"}, {"first_out"})};
  Function function;
  function.nodes = {node("of_function", {"x"}, {"y"})};
  model.functions = {function};
  return model;
}

std::vector<std::string> names_of(const std::vector<Read>& reads) {
  std::vector<std::string> names;
  for (const Read& read : reads)
    names.push_back((read.by == nullptr ? "return" : read.by->name) + ":" + std::string(read.name));
  return names;
}

TEST(Walk, VisitsANodeBeforeItsBodiesAndFunctionsLast) {
  const Model model = nested_model();
  std::vector<std::string> visited;
  for_each_node(model, [&](const Node& each) { visited.push_back(each.name); });
  EXPECT_THAT(visited, ElementsAre("first", "loop", "inside", "nested", "deepest", "last", "of_function"));
}

TEST(Walk, FindsTheFirstNodeInThatOrder) {
  const Model model = nested_model();
  const auto reads_inner = [](const Node& each) { return !each.inputs.empty() && each.inputs[0] == "inner"; };
  EXPECT_EQ(find_node(model, reads_inner)->name, "nested");
  EXPECT_EQ(find_node(model.graph.nodes[0], reads_inner), nullptr);
  const auto of_function = [](const Node& each) { return each.name == "of_function"; };
  EXPECT_NE(find_node(model, of_function), nullptr);
  EXPECT_EQ(find_node(model.graph.nodes, of_function), nullptr);
}

TEST(Walk, ABodyReadsWhatItDoesNotDefine) {
  const Model model = nested_model();
  const Node& loop = model.graph.nodes[1];
  // 'b' is the body's initializer, 'inner' the output of one of its nodes, 'state' its input.
  EXPECT_THAT(names_of(reads_of(loop)),
              ElementsAre("loop:first_out", "inside:a", "deepest:first_out", "return:d", "return:c"));
  EXPECT_THAT(names_of(reads_of(model.graph.nodes[0])), ElementsAre("first:x"));
  for_each_body(loop, [](const Graph& body, const Attribute& attribute) {
    EXPECT_EQ(attribute.name, "body");
    EXPECT_THAT(names_of(outer_reads(body)),
                ElementsAre("inside:a", "deepest:first_out", "return:d", "return:c"));
  });
}

TEST(Walk, RewritesTheBodiesOfANode) {
  Model model = nested_model();
  Node& loop = model.graph.nodes[1];
  rewrite_bodies(loop, [](const Graph& body) {
    Graph out = body;
    out.nodes.pop_back();
    return out;
  });
  EXPECT_TRUE(has_body(loop));
  EXPECT_FALSE(has_body(model.graph.nodes[0]));
  std::vector<std::string> visited;
  for_each_node(loop, [&](const Node& each) { visited.push_back(each.name); });
  EXPECT_THAT(visited, ElementsAre("loop", "inside"));
}

TEST(Producers, TheFirstOfANameCountsAndBodiesAreNotLookedInto) {
  const Model model = nested_model();
  const Producers producers(model.graph.nodes);
  const Producers::Producer* made = producers.find("first_out");
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->node->name, "first");
  EXPECT_EQ(made->index, 0U);
  EXPECT_EQ(made->output, 1U);
  EXPECT_EQ(producers.node("looped")->name, "loop");
  EXPECT_EQ(producers.find(""), nullptr);
  EXPECT_EQ(producers.find("inner"), nullptr);
  EXPECT_EQ(producers.node("x"), nullptr);
  EXPECT_EQ(producers.size(), 2U);
}

}  // namespace
}  // namespace grurun::onnx_io
