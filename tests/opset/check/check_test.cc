#include "opset/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <set>
#include <tuple>

#include "tests/opset/check_models.h"
#include "tests/sample.h"

namespace grurun::opset {
namespace {

using onnx_io::Model;
using onnx_io::Node;
using testing::HasSubstr;
using testing::IsEmpty;

struct MessageCase {
  const char* what;
  Make model;
  const char* code;
  const char* node;
  const char* op;
  const char* message;  // part of it
};

TEST(CheckModel, NamesTheNodeTheVersionAndWhatToDo) {
  const std::string gru = "(float[5,3,2] X, float[1,12,2] W, float[1,12,4] R) => (float[a,b,c,d] Y) ";
  const MessageCase cases[] = {
      {"an attribute of a newer version",
       text("<ir_version: 8, opset_import: [\"\" : 13]> g " + gru +
            "{ [n] Y = GRU <hidden_size = 4, layout = 1> (X, W, R) }"),
       "GRU001", "graph/n", "GRU-7", "GRU-14 has it: import opset 14"},
      {"an attribute of an older version",
       graph("g " + gru + "{ [n] Y = GRU <hidden_size = 4, output_sequence = 1> (X, W, R) }"), "GRU001",
       "graph/n", "GRU-14", "the last version that had it is GRU-3"},
      {"a misspelt attribute", graph("g " + gru + "{ [n] Y = GRU <hidden_sze = 4> (X, W, R) }"), "GRU001",
       "graph/n", "GRU-14", "did you mean 'hidden_size'?"},
      {"a misspelt operator", graph("g (float[2] X) => (float[2] Y) { Y = relu(X) }"), "SCHEMA001",
       "graph/relu#0", "relu", "did you mean 'Relu'"},
      {"an operator of a newer opset", graph("g (float[2] X) => (float[2] Y) { [n] Y = Gelu(X) }"),
       "SCHEMA001", "graph/n", "Gelu", "it exists from opset 20 on"},
      {"an operator of another domain", graph("g (float[2] X) => (float[2] Y) { [n] Y = Scaler(X) }"),
       "SCHEMA001", "graph/n", "Scaler", "it belongs to domain 'ai.onnx.ml'"},
      {"a type of a newer version",
       text("<ir_version: 8, opset_import: [\"\" : 14]> g (bfloat16[5,3,2] X, bfloat16[1,12,2] W, "
            "bfloat16[1,12,4] R) "
            "=> (bfloat16[a,b,c,d] Y) { [n] Y = GRU <hidden_size = 4> (X, W, R) }"),
       "GRU040", "graph/n", "GRU-14", "GRU-22 admits it: import opset 22 or newer"},
      {"a node in a subgraph",
       graph("g (float[2] X, bool c) => (float[2] Y) { [i] Y = If (c) <then_branch = t () => (float[2] a) { "
             "[n] a = "
             "Elu <alhpa = 1.0> (X) }, else_branch = e () => (float[2] b) { b = Relu(X) }> }"),
       "SCHEMA004", "graph/i.then_branch/n", "Elu-6", "did you mean 'alpha'?"},
      {"a node in a function",
       with_function("Y = ns.f(X)",
                     "<domain: \"ns\", opset_import: [\"\" : 14]> f (x) => (y) { [n] y = Elu <alhpa = "
                     "1.0> (x) }"),
       "SCHEMA004", "function ns.f/n", "Elu-6", "alhpa"},
      {"a call without a name for each output",
       with_function("[n] Y = ns.f(X)",
                     "<domain: \"ns\", opset_import: [\"\" : 14]> f (x) => (y, z) { y = Neg(x) z = Abs(x) }"),
       "SHAPE001", "graph/n", "ns.f",
       "1 output, but function ns.f has 2: 'z' must be named too, if only as \"\""},
      {"element types that a sequence does not mix",
       graph("g (float[2] X, int64[2] Z) => (seq(float[2]) S) { Q = SequenceConstruct(X) [n] S = "
             "SequenceInsert(Q, Z) }"),
       "SHAPE001", "graph/n", "SequenceInsert-11",
       "a tensor of int64 cannot go into a sequence of tensors of float"},
      {"a branch of another kind",
       graph("g (bool c, float[2] X) => (Y) { [n] Y = If (c) <then_branch = t () => (a) { a = Identity(X) }, "
             "else_branch = e () => (b) { b = SequenceConstruct(X) }> }"),
       "SHAPE001", "graph/n", "If-13", "the return values of both branches must be of the same data type"},
      {"a state that changes its type",
       graph("g (int64 n, bool c, float[2] X) => (Y) { [n] Y = Loop (n, c, X) <body = b (int64 i, bool d, "
             "float[2] v) => (bool e, int64[2] w) { e = Identity(d) w = Cast <to = 7> (v) }> }"),
       "SHAPE001", "graph/n", "Loop-13", "a state keeps its type"},
      {"shapes that do not fit, in a subgraph",
       graph("g (float[2,3] X, bool c) => (float[a,b] Y) { [i] Y = If (c) <then_branch = t () => (float[a,b] "
             "p) { [n] p "
             "= MatMul(X, X) }, else_branch = e () => (float[a,b] q) { q = Relu(X) }> }"),
       "SHAPE001", "graph/i.then_branch/n", "MatMul-13",
       "A [2,3] and B [2,3] do not multiply: 3 columns against 2 rows"},
      {"a name used in a subgraph that is computed later",
       graph("g (float[2] X, bool c) => (float[2] Y) { [i] Y = If (c) <then_branch = t () => (float[2] p) { "
             "[n] p = "
             "Relu(late) }, else_branch = e () => (float[2] q) { q = Relu(X) }> late = Relu(X) }"),
       "GRAPH002", "graph/i.then_branch/n", "Relu", "'late' is computed only later, by node 'Relu#1'"},
      {"an omitted import", graph("g (float[2] X) => (float[2] Y) { [n] Y = com.example.F(X) }"), "MODEL002",
       "graph/n", "com.example.F", "domain 'com.example' has no entry in opset_import"},
      {"a value of the wrong shape",
       graph("g (float[2] X) => (float[2] Y) <float[3] h> { [n] h = Relu(X) Y = Relu(h) }"), "SHAPE003",
       "graph/n", "Relu-14", "'h' is declared tensor(float) [3], but this node gives tensor(float) [2]"},
  };
  for (const MessageCase& c : cases) {
    SCOPED_TRACE(c.what);
    const CheckResult result = check_model(c.model());
    bool found = false;
    for (const Finding& finding : result.findings) {
      if (finding.code != c.code) continue;
      found = true;
      EXPECT_EQ(finding.node, c.node);
      EXPECT_EQ(finding.op, c.op);
      EXPECT_THAT(finding.message, HasSubstr(c.message));
    }
    EXPECT_TRUE(found) << listed(result);
  }
}

TEST(CheckModel, ListsAllFindingsAtOnce) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[2,3] X, float[4,5] Z, int32[2] I) => (float[2,3] Y, float[2,5] M, int32[2] S) {
      [a] Y = Elu <aplha = 1.0> (X)
      [b] M = MatMul(X, Z)
      [c] S = Sin(I)
      [d] unused = Add(X)
    })"));
  EXPECT_EQ(codes(result), (std::set<std::string>{"SCHEMA004", "SHAPE001", "TYPE001", "SCHEMA008"}))
      << listed(result);
}

TEST(CheckModel, JudgesEachOfTheNodesThatShareAName) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[2,3] X, float[4,5] Z, bool c, float[5,3,2] S, float[1,12,2] W, float[1,12,4] R)
      => (float[2,3] Y, float[2,5] M, float[a,b,c,d] G, float[a,b,c,d] H, float[p] K, float[q] L) {
      [a] Y = Elu <aplha = 1.0> (X)
      [a] M = MatMul(X, Z)
      [r] G = GRU <hidden_size = 4, clip = -1.0> (S, W, R)
      [r] H = GRU <hidden_size = 4, clip = -1.0> (S, W, R)
      [i] K = If (c) <then_branch = t () => (float[a,b] k) { [n] k = Elu <aplha = 1.0> (X) },
                      else_branch = e () => (float[a,b] l) { l = Relu(X) }>
      [i] L = If (c) <then_branch = t () => (float[a,b] m) { [n] m = MatMul(X, Z) },
                      else_branch = e () => (float[a,b] o) { o = Relu(X) }>
    })"));
  std::multiset<std::pair<std::string, std::string>> found;
  for (const Finding& finding : result.findings) found.emplace(finding.code, finding.node);
  for (const auto& [code, node, count] : {std::tuple{"SCHEMA004", "graph/a", 1u},
                                          {"SHAPE001", "graph/a", 1u},
                                          {"GRU009", "graph/r", 2u},
                                          {"SCHEMA004", "graph/i.then_branch/n", 1u},
                                          {"SHAPE001", "graph/i.then_branch/n", 1u}}) {
    EXPECT_EQ(found.count({code, node}), count) << code << " at " << node << "\n" << listed(result);
  }
}

TEST(CheckModel, WhatOnnxCheckerMissesIsNamed) {
  onnx::ModelProto proto = proto_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[2] X) => (float[2] Y, float[2] Z) { Y = Relu(X) Z = Neg(X) })");
  proto.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->clear_shape();
  const CheckResult result = check_model(model_from_proto(proto));
  ASSERT_EQ(result.findings.size(), 1u) << listed(result);
  EXPECT_EQ(result.findings[0].code, "ONNX001");
  EXPECT_THAT(result.findings[0].message, HasSubstr("output 'Z' declares no shape; give it one"));
}

TEST(CheckModel, OnnxCheckerIsANoteBesideOtherErrors) {
  const CheckResult result = check_model(model_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) { Y = Add(X) }"));
  ASSERT_EQ(result.findings.size(), 2u) << listed(result);
  EXPECT_EQ(result.findings[1].code, "ONNX002");
  EXPECT_EQ(result.findings[1].severity, Severity::note);
}

TEST(CheckModel, TellsInferredTypesWithSymbolicDimensionsByName) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[batch, 3] X) => (float[a, b] Y) {
      h = Relu(X)
      s = Shape(h)
      r = Reshape(h, s)
      Y = Transpose(r)
    })"));
  EXPECT_THAT(result.findings, IsEmpty()) << listed(result);
  EXPECT_EQ(to_string(*result.inferred.at("h").shape), "[batch,3]");
  EXPECT_EQ(result.inferred.at("s").elem, DType::int64);
  EXPECT_EQ(to_string(*result.inferred.at("r").shape), "[batch,3]") << "the values of shapes are followed";
}

TEST(CheckModel, TakesABodyThatHandsItsInputOn) {
  const std::string loop =
      "Y, Z = Loop (n, c, X, W) <body = b (int64 i, bool d, float[2] v, float[2] w) => "
      "(bool d, float[2] u, float[2] w) { u = Add(v, w) }>";
  const std::string scan =
      "Y, Z = Scan <num_scan_inputs = 1, body = b (float[2] v, float[2] w) => "
      "(float[2] v, float[2] u) { u = Add(v, w) }> (X, W2)";
  for (const std::string& body : {loop, scan}) {
    const CheckResult result = check_model(model_from_text(
        R"(<ir_version: 8, opset_import: ["" : 14]> g (int64 n, bool c, float[2] X, float[2] W, float[5,2] W2)
        => (float[2] Y, Z) { )" +
        body + " }"));
    EXPECT_FALSE(codes(result).contains("SHAPE001")) << listed(result);
  }
}

TEST(CheckModel, GoesAroundOperatorsNobodyKnows) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14, "ns" : 1]>
    g (float[2] X) => (float[2] Y) {
      h = ns.Mystery(X)
      Y = Relu(h)
    })"));
  EXPECT_EQ(codes(result), std::set<std::string>{"SCHEMA002"}) << listed(result);
  EXPECT_FALSE(result.has_errors());
}

TEST(CheckModel, JudgesOnlyWhatDoesNotDependOnAFault) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[2,3] X, bool c) => (float[a,b] Y, float[a,b] M, float[a,b] I) {
      [bad] h = Elu <aplha = 1.0> (X)
      [behind] Y = MatMul(h, X)
      [apart] M = MatMul(X, X)
      [branches] I = If (c) <then_branch = t () => (p) { p = Elu <aplha = 1.0> (X) },
                             else_branch = e () => (q) { q = Relu(X) }>
    })"));
  std::set<std::string> nodes;
  for (const Finding& finding : result.findings) {
    if (finding.severity == Severity::error) nodes.insert(finding.code + " " + finding.node);
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"SCHEMA004 graph/bad", "SCHEMA004 graph/branches.then_branch/Elu#0",
                                          "SHAPE001 graph/apart"}))
      << listed(result);
}

TEST(CheckModel, BlamesNoNodeForAFaultInItsBody) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[4,5,2] X, int64[2] Z, float[1,9,3] W, float[1,9,3] R, int64 n, bool c) => (Y, I) {
      Y = Loop (n, c) <body = l (int64 i, bool k) => (bool m, p) {
        m = Identity(k) [layer] p = GRU <hidden_size = 3> (X, W, R) }>
      I = If (c) <then_branch = t () => (o) { [elu] o = Elu(Z) }, else_branch = e () => (q) { q = Relu(X) }>
    })"));
  std::set<std::string> nodes;
  for (const Finding& finding : result.findings) {
    if (finding.severity == Severity::error) nodes.insert(finding.code + " " + finding.node);
  }
  EXPECT_EQ(nodes,
            (std::set<std::string>{"GRU023 graph/Loop#0.body/layer", "TYPE001 graph/If#1.then_branch/elu"}))
      << listed(result);
}

// Nodes that take the value, and those behind them, are judged by what it is.
TEST(CheckModel, TellsAWrongDeclarationWhereItsValueIsMadeOnly) {
  const CheckResult result = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[2,3] X, bool c) => (float[2,3] Y, float[a,b] M, float[2,3] I) <int64[3] h> {
      [made] h = Relu(X)
      [taken] k = Relu(h)
      Y = Relu(k)
      [apart] M = MatMul(h, X)
      [branches] I = If (c) <then_branch = t () => (float[2,3] o) { o = Relu(h) },
                             else_branch = e () => (float[2,3] q) { q = Relu(h) }>
    })"));
  EXPECT_THAT(listed(result), HasSubstr("SHAPE002 [graph/made]"));
  EXPECT_THAT(listed(result), HasSubstr("SHAPE001 [graph/apart]"));
  EXPECT_EQ(std::ranges::count(result.findings, Severity::error, &Finding::severity), 2) << listed(result);
}

TEST(CheckModel, TakesBothSpellingsOfTheDefaultDomain) {
  onnx::ModelProto proto = proto_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) { Y = Relu(X) }");
  proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  EXPECT_EQ(listed(check_model(model_from_proto(proto))), "");
  proto.mutable_opset_import(0)->set_domain("ai.onnx");
  EXPECT_EQ(listed(check_model(model_from_proto(proto))), "");
}

TEST(CheckModel, StopsAtDeepCallsAndSelfRecursion) {
  std::string chain =
      "<ir_version: 8, opset_import: [\"\" : 14, \"ns\" : 1]> g (float[2] X) => (float[2] Y) { Y = ns.f0(X) "
      "} ";
  for (int i = 0; i < 90; ++i) {
    chain += "<domain: \"ns\", opset_import: [\"\" : 14, \"ns\" : 1]> f" + std::to_string(i) +
             " (x) => (y) { y = " + (i + 1 < 90 ? "ns.f" + std::to_string(i + 1) : std::string("Relu")) +
             "(x) } ";
  }
  EXPECT_EQ(codes(check_model(model_from_text(chain))), std::set<std::string>{"MODEL005"});
  const CheckResult self = check_model(model_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14, \"ns\" : 1]> g (float[2] X) => (float[2] Y) { Y = ns.f(X) } "
      "<domain: \"ns\", opset_import: [\"\" : 14, \"ns\" : 1]> f (x) => (y) { y = ns.f(x) }"));
  EXPECT_EQ(codes(self), std::set<std::string>{"FUNCTION002"}) << listed(self);
}

TEST(CheckModel, SurvivesShapesMeantToExhaustInference) {
  const CheckResult huge = check_model(model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (int64[1000000000000] X) => (int64[n] Y) { h = Add(X, X) k = Mul(h, h) Y = Concat <axis = 0> (k, h) })"));
  EXPECT_FALSE(huge.has_errors()) << listed(huge);
  onnx::ModelProto ranks = proto_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) { Y = Relu(X) }");
  auto* shape =
      ranks.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < 100'000; ++i) shape->add_dim()->set_dim_value(1);
  *ranks.mutable_graph()->mutable_output(0)->mutable_type() = ranks.graph().input(0).type();
  EXPECT_FALSE(check_model(model_from_proto(ranks)).has_errors());
}

TEST(CheckModel, FindsFaultsOfMalformedTypesWithoutThrowing) {
  onnx::ModelProto proto = proto_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) { Y = Relu(X) }");
  proto.mutable_graph()->mutable_input(0)->clear_type();
  EXPECT_EQ(codes(check_model(model_from_proto(proto))), std::set<std::string>{"ONNX001"});
  proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type()->mutable_elem_type();
  EXPECT_TRUE(check_model(model_from_proto(proto)).has_errors());
}

TEST(CheckModel, TakesTimeInProportionToTheModel) {
  const auto ticks = [](int length) {
    Model plain = relu_chain(length);
    onnx::ModelProto proto;
    proto.set_ir_version(8);
    proto.add_opset_import()->set_version(14);
    proto.mutable_graph()->set_name("g");
    for (const auto* side : {&plain.graph.inputs, &plain.graph.outputs}) {
      auto* value = side == &plain.graph.inputs ? proto.mutable_graph()->add_input()
                                                : proto.mutable_graph()->add_output();
      value->set_name(side->front().name);
      value->mutable_type()->mutable_tensor_type()->set_elem_type(1);
      value->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(2);
    }
    for (const Node& node : plain.graph.nodes) {
      auto* copy = proto.mutable_graph()->add_node();
      copy->set_op_type(node.op_type);
      copy->add_input(node.inputs[0]);
      copy->add_output(node.outputs[0]);
    }
    const Model model = model_from_proto(proto);
    // Processor time, the least of some tries: what else the machine does is not measured.
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t begin = std::clock();
      EXPECT_EQ(listed(check_model(model)), "");
      least = std::min(least, static_cast<double>(std::clock() - begin));
    }
    return least;
  };
  ticks(100);  // the registry's first use
  const double small = ticks(1'000);
  constexpr int times = slow_build ? 20 : 100;
  const double large = ticks(times * 1'000);
  // In proportion it is `times`, by the square times that: a busy machine makes neither the other.
  EXPECT_LT(large, 10 * times * small)
      << times << " times the nodes took " << large / small << " times as long";
}

TEST(CheckModel, ReadsNoFilesForExternalData) {
  onnx::ModelProto proto = proto_from_text(
      "<ir_version: 8, opset_import: [\"\" : 14]> g (float[2] X) => (float[2] Y) <float[2] w = {1, 2}> { Y = "
      "Add(X, w) }");
  Model model = model_from_proto(proto);
  auto* tensor = proto.mutable_graph()->mutable_initializer(0);
  tensor->clear_float_data();
  tensor->clear_raw_data();
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = tensor->add_external_data();
  entry->set_key("location");
  entry->set_value("is_not_there.bin");
  model.proto = std::make_shared<const onnx::ModelProto>(proto);
  EXPECT_EQ(listed(check_model(model)), "");
}

}  // namespace
}  // namespace grurun::opset
