#include "trial/random_outputs.h"

#include <gtest/gtest.h>

#include <set>

#include "opset/schema/registry.h"
#include "tests/engine/one_node.h"

namespace grurun::trial {
namespace {

using engine::testing::attr;
using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Graph;
using onnx_io::Model;
using onnx_io::Node;

Node node(const std::string& type, std::vector<std::string> inputs, std::vector<std::string> outputs,
          std::vector<Attribute> attributes = {}, const std::string& domain = "") {
  Node out;
  out.op_type = type;
  out.domain = domain;
  out.inputs = std::move(inputs);
  out.outputs = std::move(outputs);
  out.attributes = std::move(attributes);
  return out;
}

Graph graph(std::vector<std::string> inputs, std::vector<std::string> outputs, std::vector<Node> nodes) {
  Graph out;
  for (const std::string& name : inputs) out.inputs.push_back({name, {}});
  for (const std::string& name : outputs) out.outputs.push_back({name, {}});
  out.nodes = std::move(nodes);
  return out;
}

Model model(Graph graph, std::int64_t opset = 17) {
  Model out;
  out.opset_imports[""] = opset;
  out.graph = std::move(graph);
  return out;
}

/// "rn" for outputs random, not random.
std::string found(const Model& model, const std::vector<Value>& inputs = {}) {
  std::string out;
  for (const auto& origin : find_random_outputs(model, inputs)) out += origin ? 'r' : 'n';
  return out;
}

TEST(RandomOutputs, FollowsValuesButNotShapes) {
  const Model m =
      model(graph({"x", "y"}, {"a", "b", "c", "d", "x"},
                  {node("RandomNormalLike", {"x"}, {"r"}), node("Add", {"r", "y"}, {"a"}),
                   node("Abs", {"y"}, {"b"}), node("Shape", {"a"}, {"c"}), node("Identity", {"a"}, {"d"})}));
  EXPECT_EQ(found(m), "rnnrn");
}

TEST(RandomOutputs, EachOperatorInItsDomainOnly) {
  for (const char* type : {"Bernoulli", "Multinomial", "RandomNormal", "RandomUniform", "RandomNormalLike",
                           "RandomUniformLike"}) {
    EXPECT_EQ(found(model(graph({"x"}, {"y"}, {node(type, {"x"}, {"y"})}))), "r") << type;
    EXPECT_EQ(found(model(graph({"x"}, {"y"}, {node(type, {"x"}, {"y"}, {}, "custom")}))), "n") << type;
  }
}

TEST(RandomOutputs, TellsTheNodeAndItsKnownInputs) {
  Model m = model(graph({"p"}, {"y", "z"}, {node("Bernoulli", {"p"}, {"y"}), node("Neg", {"y"}, {"z"})}));
  const auto origins = find_random_outputs(m, {Tensor::scalar(0.25f)});
  ASSERT_TRUE(origins[0] && origins[1]);
  EXPECT_EQ(origins[0]->op_type, "Bernoulli");
  EXPECT_EQ(origins[0]->node, &m.graph.nodes[0]);
  EXPECT_EQ(*origins[0]->inputs.at(0).data<float>(), 0.25f);
  EXPECT_EQ(origins[1]->op_type, "Bernoulli");
  EXPECT_EQ(origins[1]->node, nullptr);
}

TEST(RandomOutputs, DropoutOnlyWhereItTrains) {
  const auto old = [](std::vector<Attribute> attributes, std::int64_t opset) {
    return found(model(graph({"x"}, {"y"}, {node("Dropout", {"x"}, {"y"}, std::move(attributes))}), opset));
  };
  EXPECT_EQ(old({}, 6), "r");
  EXPECT_EQ(old({attr("is_test", 1)}, 6), "n");
  EXPECT_EQ(old({attr("is_test", 0), attr("ratio", 0.0f)}, 1), "n");
  EXPECT_EQ(old({}, 7), "n");
  EXPECT_EQ(old({}, 11), "n");
  EXPECT_EQ(old({}, 12), "n");

  const auto fed = [](Value ratio, Value mode) {
    const Model m =
        model(graph({"x", "r", "t"}, {"y", "mask"}, {node("Dropout", {"x", "r", "t"}, {"y", "mask"})}), 12);
    return found(m, {Tensor::scalar(1.0f), std::move(ratio), std::move(mode)});
  };
  EXPECT_EQ(fed(Tensor::scalar(0.5f), Tensor::scalar(true)), "rr");
  EXPECT_EQ(fed(Tensor::scalar(0.5f), Tensor::scalar(false)), "nn");
  EXPECT_EQ(fed(Tensor::scalar(0.0f), Tensor::scalar(true)), "nn");
  EXPECT_EQ(fed(Tensor::scalar(Float16(0.0f)), Tensor::scalar(true)), "nn");
  EXPECT_EQ(fed(Tensor::scalar(0.5f), Value()), "rr");  // a mode that only the run knows
}

TEST(RandomOutputs, DropoutModeFromInitializersAndConstants) {
  Model m = model(graph({"x"}, {"y"},
                        {node("Constant", {}, {"t"}, {attr("value", Tensor::scalar(true))}),
                         node("Dropout", {"x", "r", "t"}, {"y"})}),
                  13);
  m.graph.initializers.push_back({"r", Tensor::scalar(0.5f)});
  EXPECT_TRUE(deciding_values(m).empty()) << "all are known before a run";
  EXPECT_EQ(found(m), "r");
  m.graph.initializers[0].tensor = Tensor::scalar(0.0f);
  EXPECT_EQ(found(m), "n");
}

TEST(RandomOutputs, DropoutModeThatARunHasMade) {
  const Model m = model(graph({"x", "flag"}, {"y"},
                              {node("Not", {"flag"}, {"mode"}), node("Dropout", {"x", "", "mode"}, {"y"})}));
  EXPECT_EQ(deciding_values(m), std::unordered_set<std::string>{"mode"});
  const auto origin = [&](bool mode) {
    return find_random_outputs(m, {}, {{"mode", Tensor::scalar(mode)}})[0];
  };
  EXPECT_EQ(found(m), "r");  // nothing is known before a run
  EXPECT_TRUE(origin(true));
  EXPECT_FALSE(origin(false));
}

TEST(RandomOutputs, ThroughFunctionsOutputByOutput) {
  Model m = model(graph({"x"}, {"a", "b"}, {node("F", {"x"}, {"a", "b"}, {}, "local")}));
  Function f;
  f.domain = "local";
  f.name = "F";
  f.inputs = {"u"};
  f.outputs = {"v", "w"};
  f.opset_imports[""] = 17;
  f.nodes = {node("Abs", {"u"}, {"v"}), node("RandomUniformLike", {"u"}, {"w"})};
  m.functions.push_back(f);
  EXPECT_EQ(found(m), "nr");
}

TEST(RandomOutputs, ARatioThatTheCallerGivesIsNotZero) {
  Model m = model(graph({"x"}, {"y"}, {node("F", {"x"}, {"y"}, {attr("p", 0.5f)}, "local")}));
  Attribute ratio = attr("value_float", 0.0f);
  ratio.ref_attr_name = "p";
  Function f;
  f.domain = "local";
  f.name = "F";
  f.inputs = {"u"};
  f.outputs = {"v"};
  f.opset_imports[""] = 17;
  f.nodes = {node("Constant", {}, {"r"}, {ratio}),
             node("Constant", {}, {"t"}, {attr("value", Tensor::scalar(true))}),
             node("Dropout", {"u", "r", "t"}, {"v"})};
  m.functions.push_back(f);
  EXPECT_EQ(found(m), "r");
}

TEST(RandomOutputs, ThroughBranchesOutputByOutput) {
  const Graph then_branch = graph({}, {"p", "q"}, {node("Abs", {"x"}, {"p"}), node("Abs", {"x"}, {"q"})});
  const Graph else_branch =
      graph({}, {"p", "q"}, {node("Abs", {"x"}, {"p"}), node("RandomNormalLike", {"x"}, {"q"})});
  const auto with_condition = [&](const std::string& condition) {
    return found(model(graph({"x", "c"}, {"a", "b"},
                             {node("RandomUniformLike", {"c"}, {"r"}),
                              node("If", {condition}, {"a", "b"},
                                   {attr("then_branch", then_branch), attr("else_branch", else_branch)})})));
  };
  EXPECT_EQ(with_condition("c"), "nr");
  EXPECT_EQ(with_condition("r"), "rr");
}

TEST(RandomOutputs, LoopStatesTurnRandomOverTrips) {
  // s2 takes s1's last value: random from the second trip on; s3 and the scan output never are.
  const Graph body = graph(
      {"i", "c", "s1", "s2", "s3"}, {"c_out", "s1_out", "s2_out", "s3_out", "scan"},
      {node("Identity", {"c"}, {"c_out"}), node("RandomNormalLike", {"s1"}, {"s1_out"}),
       node("Identity", {"s1"}, {"s2_out"}), node("Abs", {"s3"}, {"s3_out"}), node("Neg", {"s3"}, {"scan"})});
  const Model m =
      model(graph({"m", "c", "x"}, {"a", "b", "d", "e"},
                  {node("Loop", {"m", "c", "x", "x", "x"}, {"a", "b", "d", "e"}, {attr("body", body)})}));
  EXPECT_EQ(found(m), "rrnn");
}

TEST(RandomOutputs, LoopsWithinLoopsAreNotBegunAnew) {
  // Each body's state begins as 0 and turns random by what is made in the innermost: without a memory of that
  // forty levels would take 2^40 passes.
  Node inner = node("RandomNormalLike", {"zero"}, {"made"});
  for (int level = 0; level < 40; ++level) {
    Graph body = graph({"i", "c", "state"}, {"d", "next"},
                       {node("Identity", {"c"}, {"d"}), inner, node("Add", {"state", "made"}, {"next"})});
    inner = node("Loop", {"n", "", "zero"}, {"made"}, {attr("body", std::move(body))});
  }
  EXPECT_EQ(found(model(graph({"n", "zero"}, {"made", "other"}, {inner, node("Abs", {"zero"}, {"other"})}))),
            "rn");
}

TEST(RandomOutputs, ScanStatesAndScanOutputs) {
  const Graph body = graph(
      {"s", "x"}, {"s_out", "y", "z"},
      {node("Identity", {"s"}, {"s_out"}), node("Bernoulli", {"x"}, {"y"}), node("Add", {"s", "x"}, {"z"})});
  const Model m = model(
      graph({"s", "x"}, {"a", "b", "d"},
            {node("Scan", {"s", "x"}, {"a", "b", "d"}, {attr("body", body), attr("num_scan_inputs", 1)})}));
  EXPECT_EQ(found(m), "nrn");
}

TEST(RandomOutputs, OnlyBernoullisFunctionBodyIsRandom) {
  const std::set<std::string> random = {"Bernoulli",     "Multinomial",      "RandomNormal",
                                        "RandomUniform", "RandomNormalLike", "RandomUniformLike",
                                        "Dropout"};
  std::size_t bodies = 0;
  for (const opset::SchemaInfo* schema : opset::all_schemas()) {
    if (!schema->has_function_body || schema->name == "Bernoulli") continue;
    if (opset::function_body_needs_types(schema->name, schema->domain, schema->since_version)) continue;
    Node call = node(schema->name, {}, {}, {}, schema->domain);
    for (const auto& input : schema->inputs) call.inputs.push_back(input.name);
    for (const auto& output : schema->outputs) call.outputs.push_back(output.name);
    const auto body = opset::function_body(call, schema->since_version, {});
    if (!body) continue;
    ++bodies;
    for (const Node& inner : body->nodes) EXPECT_FALSE(random.contains(inner.op_type)) << schema->name;
  }
  EXPECT_GT(bodies, 20u);
}

}  // namespace
}  // namespace grurun::trial
