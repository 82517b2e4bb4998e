#include "opset/summary/model_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/opset/check_models.h"
#include "tests/opset/model_text.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct FlopCase {
  const char* what;
  const char* graph;
  std::int64_t flops;
};

TEST(Flops, AreTwoForEachTermOfAProduct) {
  const FlopCase cases[] = {
      {"MatMul", "(float[5,2,3] A, float[3,4] B) => (float[5,2,4] Y) { Y = MatMul(A, B) }",
       2 * 5 * 2 * 4 * 3},
      {"MatMul of vectors", "(float[7] A, float[7] B) => (float Y) { Y = MatMul(A, B) }", 2 * 7},
      {"Gemm",
       "(float[2,3] A, float[4,3] B, float[4] C) => (float[2,4] Y) { Y = Gemm <transB = 1> (A, B, C) }",
       2 * 2 * 4 * 3},
      {"Gemm of a transposed A",
       "(float[3,2] A, float[3,4] B) => (float[2,4] Y) { Y = Gemm <transA = 1> (A, B) }", 2 * 2 * 4 * 3},
      {"Conv in groups",
       "(float[1,4,8,8] X, float[6,2,3,3] W) => (float[1,6,6,6] Y) { Y = Conv <group = 2> (X, W) }",
       2 * 6 * 6 * 6 * 2 * 3 * 3},
      {"ConvTranspose", "(float[1,4,5] X, float[4,3,2] W) => (float[1,3,6] Y) { Y = ConvTranspose(X, W) }",
       2 * 4 * 5 * 3 * 2},
      {"GRU",
       "(float[5,3,2] X, float[1,12,2] W, float[1,12,4] R) => (float[1,3,4] Y) { \"\", Y = GRU <hidden_size "
       "= 4> "
       "(X, W, R) }",
       2 * 5 * 3 * 12 * (2 + 4)},
      {"LSTM of two directions, batch first",
       "(float[3,5,2] X, float[2,16,2] W, float[2,16,4] R) => (float[3,5,2,4] Y) { Y = LSTM <direction = "
       "\"bidirectional\", layout = 1> (X, W, R) }",
       2 * 5 * 3 * 2 * 16 * (2 + 4)},
      {"nothing that is counted", "(float[9] X) => (float[9] Y) { Y = Relu(X) }", 0},
  };
  for (const FlopCase& c : cases) {
    const auto model =
        model_from_text(std::string("<ir_version: 8, opset_import: [\"\" : 14]> g ") + c.graph);
    const FlopCount count = summarise(model, {}).flops;
    EXPECT_EQ(count.flops, c.flops) << c.what;
    EXPECT_THAT(count.uncounted, IsEmpty()) << c.what;
  }
}

TEST(Flops, NameWhatIsNotKnown) {
  const auto model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[batch,3] A, float[3,4] B, bool c) => (float[a,b] Y, float[2,3] Z) {
      Y = MatMul(A, B)
      Z = If (c) <then_branch = t () => (float[a,b] p) { p = MatMul(A, B) },
                  else_branch = e () => (float[a,b] q) { q = Relu(A) }>
    })");
  const FlopCount open = summarise(model, {}).flops;
  EXPECT_EQ(open.flops, 0);
  EXPECT_THAT(open.uncounted, ElementsAre(Pair("MatMul", 2)));
  const FlopCount set = summarise(model, {{"batch", 2}}).flops;
  EXPECT_EQ(set.flops, 2 * (2 * 2 * 4 * 3)) << "the branch that takes more";
  EXPECT_THAT(set.uncounted, IsEmpty());
}

TEST(Flops, OfWhatBranchesAndBodiesRun) {
  const FlopCase cases[] = {
      {"the larger branch",
       "(float[2,3] A, float[3,4] B, bool c) => (float[a,b] Y) { Y = If (c) <then_branch = t () => "
       "(float[a,b] "
       "p) { p = MatMul(A, B) }, else_branch = e () => (float[a,b] q) { r = MatMul(A, B) s = Transpose(B) q "
       "= "
       "MatMul(r, s) }> }",
       2 * 2 * 4 * 3 + 2 * 2 * 3 * 4},
      {"a Loop of a constant number of iterations",
       "(float[2,3] A, float[3,3] B) => (float[2,3] Y) <int64 M = {5}> { Y = Loop (M, , A) <body = b (int64 "
       "i, "
       "bool go, float[2,3] h) => (bool on, float[2,3] k) { on = Identity(go) k = MatMul(h, B) }> }",
       5 * 2 * 2 * 3 * 3},
      {"Loops of less than no iteration, one in the other",
       "(float[3,3] A) => (float[3,3] Y) <int64 M = {-5}> { Y = Loop (M, , A) <body = b (int64 i, bool go, "
       "float[3,3] h) => (bool on, float[3,3] k) { on = Identity(go) k = Loop (M, , h) <body = c (int64 j, "
       "bool go2, float[3,3] p) => (bool on2, float[3,3] q) { on2 = Identity(go2) q = MatMul(p, A) }> }> }",
       0},
      {"a Loop in a branch",
       "(float[2,3] A, float[3,3] B, bool c) => (float[2,3] Y) <int64 M = {5}, bool yes = {1}> { Y = If (c) "
       "<then_branch = t () => (float[2,3] p) { p = Loop (M, yes, A) <body = b (int64 i, bool go, float[2,3] "
       "h) => (bool on, float[2,3] k) { on = Identity(yes) k = MatMul(h, B) }> }, else_branch = e () => "
       "(float[2,3] q) { q = Relu(A) }> }",
       5 * 2 * 2 * 3 * 3},
      {"a Scan",
       "(float[7,2,3] X, float[2,3] A, float[3,3] B) => (float[2,3] Y) { Y = Scan (A, X) <num_scan_inputs = "
       "1, "
       "body = b (float[2,3] h, float[2,3] x) => (float[2,3] k) { s = Add(h, x) k = MatMul(s, B) }> }",
       7 * 2 * 2 * 3 * 3},
  };
  for (const FlopCase& c : cases) {
    const auto model =
        model_from_text(std::string("<ir_version: 8, opset_import: [\"\" : 14]> g ") + c.graph);
    const FlopCount count = summarise(model, {}).flops;
    EXPECT_EQ(count.flops, c.flops) << c.what;
    EXPECT_THAT(count.uncounted, IsEmpty()) << c.what;
  }
}

TEST(Flops, NameWhatRunsNobodyKnowsHowOften) {
  const char* const loops[] = {
      "(float[3,3] A, int64 M) => (float[3,3] Y) { Y = Loop (M, , A) <body = b (int64 i, bool go, float[3,3] "
      "h) "
      "=> (bool on, float[3,3] k) { on = Identity(go) k = MatMul(h, A) }> }",
      "(float[3,3] A, bool first) => (float[3,3] Y) <int64 M = {5}> { Y = Loop (M, first, A) <body = b "
      "(int64 "
      "i, bool go, float[3,3] h) => (bool on, float[3,3] k) { on = Identity(go) k = MatMul(h, A) }> }",
      "(float[3,3] A) => (float[3,3] Y) <int64 M = {5}, float zero = {0}> { Y = Loop (M, , A) <body = b "
      "(int64 "
      "i, bool go, float[3,3] h) => (bool on, float[3,3] k) { s = ReduceSum <keepdims = 0> (h) on = "
      "Greater(s, zero) k = MatMul(h, A) }> }",
  };
  for (const char* loop : loops) {
    const auto model = model_from_text(std::string("<ir_version: 8, opset_import: [\"\" : 14]> g ") + loop);
    const FlopCount count = summarise(model, {}).flops;
    EXPECT_EQ(count.flops, 0) << loop;
    EXPECT_THAT(count.uncounted, ElementsAre(Pair("MatMul", 1))) << loop;
  }
}

TEST(Flops, OfFunctionsAtEachCall) {
  const auto model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 14, "ns" : 1]>
    g (float[5,3,2] X, float[batch,3] A, float[1,12,2] W, float[1,12,4] R, float[3,3] B) => (float[2,3] Y, float[a,b,d] Z) {
      h = ns.Dense(A, B)
      Y = ns.Twice(h, B)
      Z = ns.Layer(X, W, R)
    }
    <domain: "ns", opset_import: ["" : 14]> Dense (x, w) => (y) { y = MatMul(x, w) }
    <domain: "ns", opset_import: ["" : 14, "ns" : 1]> Twice (x, w) => (y) { m = ns.Dense(x, w) y = ns.Dense(m, w) }
    <domain: "ns", opset_import: ["" : 14]> Layer (x, w, r) => (h) { y, h = GRU <hidden_size = 4> (x, w, r) })");
  const std::int64_t of_layer = 2 * 5 * 3 * 12 * (2 + 4);
  const FlopCount set = summarise(model, {{"batch", 2}}).flops;
  EXPECT_EQ(set.flops, 3 * (2 * 2 * 3 * 3) + of_layer);
  EXPECT_THAT(set.uncounted, IsEmpty());
  const FlopCount open = summarise(model, {}).flops;
  EXPECT_THAT(open.uncounted, ElementsAre(Pair("MatMul", 3)));
}

TEST(Flops, DoNotOverflow) {
  const auto model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[4000000000,4000000000] A) => (float[a,b] Y) { Y = MatMul(A, A) })");
  EXPECT_THAT(summarise(model, {}).flops.uncounted, ElementsAre(Pair("MatMul", 1)));
}

TEST(ModelSummary, DescribesLayersWhereverTheyStand) {
  const auto model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 14, "ns" : 1]>
    g (float[time,batch,2] X, bool c) => (float[a,b,d,e] Y, float[a,b,d] H)
    <float[2,3,2] W = {1,1,1,1,1,1,1,1,1,1,1,1}, float[2,3,1] R = {1,1,1,1,1,1}, float[2,6] B = {0,0,0,0,0,0,0,0,0,0,0,0}> {
      [first] Y, H = GRU <direction = "bidirectional", clip = 2.0, linear_before_reset = 1> (X, W, R, B)
      [if] Q = If (c) <then_branch = t () => (float[a,b,d,e] p) { [inner] p = GRU (X, W, R) },
                       else_branch = e () => (float[a,b,d,e] q) { q = ns.Layer(X, W, R) }>
    }
    <domain: "ns", opset_import: ["" : 14]> Layer (x, w, r) => (y) { [called] y = LSTM <hidden_size = 3, layout = 1> (x, w, r) })");
  const ModelSummary summary = summarise(model, {});
  EXPECT_EQ(summary.nodes, 5u);
  std::map<std::string, std::size_t> operators;
  for (const OperatorCount& op : summary.operators) operators[op.op] = op.count;
  EXPECT_THAT(operators,
              ElementsAre(Pair("GRU-14", 2), Pair("If-13", 1), Pair("LSTM-14", 1), Pair("ns.Layer", 1)));
  EXPECT_EQ(summary.parameters.elements, 12 + 6 + 12);
  EXPECT_EQ(summary.parameters.bytes, 4 * (12 + 6 + 12));
  EXPECT_EQ(summary.parameters.tensors, 3u);
  ASSERT_EQ(summary.layers.size(), 3u);
  const RecurrentLayer& first = summary.layers[0];
  EXPECT_EQ(first.node, "graph/first");
  EXPECT_EQ(first.op, "GRU-14");
  EXPECT_EQ(first.direction, "bidirectional");
  EXPECT_EQ(first.input_size, 2);
  EXPECT_EQ(first.hidden_size, 1) << "from R";
  EXPECT_EQ(first.layout, 0);
  EXPECT_THAT(first.activations, ElementsAre("Sigmoid", "Tanh", "Sigmoid", "Tanh"));
  EXPECT_EQ(first.clip, 2.0F);
  EXPECT_EQ(first.linear_before_reset, true);
  EXPECT_THAT(first.given, ElementsAre("B"));
  EXPECT_THAT(first.outputs, ElementsAre("Y", "Y_h"));
  EXPECT_EQ(first.parameters, 30);
  EXPECT_EQ(summary.layers[1].node, "graph/if.then_branch/inner");
  EXPECT_EQ(summary.layers[1].hidden_size, 1) << "initializers of the outer graph are seen";
  EXPECT_EQ(summary.layers[2].node, "function ns.Layer/called");
  EXPECT_EQ(summary.layers[2].hidden_size, 3);
  EXPECT_EQ(summary.layers[2].layout, 1);
  EXPECT_EQ(summary.layers[2].input_forget, false);
  EXPECT_EQ(to_string(*summary.types.at("Y").shape), "[a,2,d,1]")
      << "what inference knows fills what is declared";
}

TEST(ModelSummary, TakesSizesForNames) {
  const auto model = model_from_text(R"(<ir_version: 8, opset_import: ["" : 14]>
    g (float[n,2] X) => (float[n,2] Y) { h = Relu(X) Y = Relu(h) })");
  EXPECT_EQ(to_string(*summarise(model, {{"n", 7}}).types.at("h").shape), "[7,2]");
}

}  // namespace
}  // namespace grurun::opset
