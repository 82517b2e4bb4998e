// Chains of element-wise operators, alone and behind products, against plans without fused steps: every bit
// is the same, for whatever shapes and types the run brings, and so is what an error says.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "engine/kernels/machine/parallel.h"
#include "tests/engine/graph/model_building.h"

namespace grurun::engine::testing {
namespace {

Tensor cast(const Tensor& x, DType to) {
  return run(model(graph({"X"}, {node("Cast", {"X"}, {"Y"}, {attr("to", static_cast<int>(to))})}, {"Y"})),
             {x})[0]
      .tensor();
}

void expect_same(const std::vector<Value>& a, const std::vector<Value>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Tensor &left = a[i].tensor(), &right = b[i].tensor();
    ASSERT_EQ(left.dtype(), right.dtype());
    ASSERT_EQ(left.shape(), right.shape());
    EXPECT_EQ(std::memcmp(left.raw(), right.raw(), left.byte_size()), 0) << "output " << i;
  }
}

std::size_t steps_of(const onnx_io::Model& made) {
  return make_plan(made)->steps.size();
}

// With both plans, and with several threads too. The inputs are not written to.
void expect_same_runs(const onnx_io::Model& made, const std::vector<Value>& inputs) {
  const std::vector<Value> plain = run_plan(*make_plan(made, {.fed = {}, .fuse = false}), inputs);
  const auto fused = make_plan(made);
  Runner runner(fused);
  for (const int threads : {1, 3}) {
    kernels::set_threads(threads);
    expect_same(run_plan(*fused, inputs), plain);
    for (int i = 0; i < 2; ++i) {
      runner.run(inputs);
      expect_same({runner.output(0)}, {plain[0]});
    }
    kernels::set_threads(1);
  }
}

struct ShapeCase {
  const char* name;
  Shape X, Z;
};

const ShapeCase shape_cases[] = {
    {"the same", {7, 301}, {7, 301}},
    {"one element", {7, 301}, {1}},
    {"one element of as many dimensions", {7, 301}, {1, 1}},
    {"scalars", {}, {}},
    {"a scalar and one element", {}, {1, 1}},
    {"a row", {70, 301}, {301}},
    {"a short row", {3000, 12}, {12}},
    {"a long row", {5, 3001}, {1, 3001}},
    {"rows on either side", {301}, {70, 301}},
    {"a column", {70, 301}, {70, 1}},
    {"a short run", {3000, 3}, {3000, 1}},
    {"channels", {2, 5, 37, 41}, {5, 1, 1}},
    {"channels of each batch", {2, 5, 37, 41}, {2, 5, 1, 1}},
    {"channels in the middle, small", {9, 5, 2, 1}, {5, 1, 1}},
    {"two dimensions apart", {4, 5, 6}, {4, 1, 6}},
    {"each the other's way", {7, 1}, {1, 301}},
    {"nothing", {0, 3}, {3}},
    {"nothing by a dimension of 1", {1, 3}, {0, 3}},
};

onnx_io::Model chain_model() {
  onnx_io::Model made = model(
      graph({"X", "Z"},
            {node("Mul", {"X", "Z"}, {"M"}), node("Tanh", {"M"}, {"T"}), node("Sub", {"Z", "T"}, {"S"}),
             node("Div", {"S", "three"}, {"D"}), node("LeakyRelu", {"D"}, {"Y"}, {attr("alpha", 0.3f)})},
            {"Y"}),
      20);
  made.graph.initializers.push_back({"three", Tensor::scalar(3.0f)});
  return made;
}

TEST(ChainFusion, KeepsEveryBitInAnyShape) {
  const onnx_io::Model made = chain_model();
  EXPECT_EQ(steps_of(made), 1u);
  for (const ShapeCase& test : shape_cases) {
    SCOPED_TRACE(test.name);
    expect_same_runs(made, {random_tensor(test.X, 1), random_tensor(test.Z, 2)});
    expect_same_runs(made, {random_tensor(test.Z, 1), random_tensor(test.X, 2)});
  }
}

TEST(ChainFusion, KeepsOtherTypesAsTheyAre) {
  onnx_io::Model made = model(graph(
      {"X", "Z"}, {node("Mul", {"X", "Z"}, {"M"}), node("Neg", {"M"}, {"N"}), node("Add", {"N", "X"}, {"Y"})},
      {"Y"}));
  EXPECT_EQ(steps_of(made), 1u);
  for (const DType dtype : {DType::float64, DType::float16, DType::int64})
    expect_same_runs(made, {cast(random_tensor({9, 31}, 1), dtype), cast(random_tensor({31}, 2), dtype)});
  made.graph.inputs[0].type = Value(Tensor::scalar(1.0)).type();
  EXPECT_EQ(steps_of(made), 3u) << "an input that is declared to be of another type";
}

TEST(ChainFusion, AConstantMayHaveMoreDimensions) {
  onnx_io::Model made =
      model(graph({"X"}, {node("Mul", {"X", "deep"}, {"M"}), node("Exp", {"M"}, {"Y"})}, {"Y"}));
  made.graph.initializers.push_back({"deep", Tensor::from(Shape{1, 1, 1}, std::vector{0.5f})});
  EXPECT_EQ(steps_of(made), 1u);
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{5, 6}, Shape{5, 6, 7}, Shape{2, 5, 6, 7}})
    expect_same_runs(made, {random_tensor(shape, 1)});
}

TEST(ChainFusion, WhatOthersReadIsMade) {
  const std::vector<onnx_io::Node> nodes{node("Relu", {"X"}, {"A"}),     node("Sigmoid", {"A"}, {"B"}),
                                         node("Mul", {"A", "B"}, {"C"}), node("Flatten", {"B"}, {"F"}),
                                         node("Neg", {"C"}, {"D"}),      node("Add", {"D", "A"}, {"E"}),
                                         node("Add", {"E", "F"}, {"Y"}), node("Abs", {"E"}, {"unread"})};
  for (const std::vector<std::string>& outputs : std::vector<std::vector<std::string>>{
           {"Y"}, {"Y", "A"}, {"E", "Y"}, {"Y", "D", "C"}, {"B"}, {"unread"}}) {
    const onnx_io::Model made = model(graph({"X"}, nodes, outputs));
    expect_same_runs(made, {random_tensor({40, 50}, 1)});
  }
}

TEST(ChainFusion, ClipWithConstantBoundsTakesPart) {
  onnx_io::Model made =
      model(graph({"X", "low"},
                  {node("Add", {"X", "three"}, {"A"}), node("Clip", {"A", "zero", "six"}, {"B"}),
                   node("Clip", {"B", "", "three"}, {"C"}), node("Clip", {"C", "zero"}, {"D"}),
                   node("Mul", {"X", "D"}, {"E"}), node("Clip", {"E", "low"}, {"Y"})},
                  {"Y"}));
  made.graph.initializers = {
      {"zero", Tensor::scalar(0.0f)}, {"three", Tensor::scalar(3.0f)}, {"six", Tensor::scalar(6.0f)}};
  EXPECT_EQ(steps_of(made), 2u);
  expect_same_runs(made, {random_tensor({40, 50}, 1), Tensor::scalar(-0.5f)});
}

// A graph of `count` operators on X, values of other shapes, constants and what those before made.
onnx_io::Model random_graph(unsigned seed, int count) {
  std::mt19937 draw(seed);
  const auto below = [&](std::size_t n) { return draw() % n; };
  std::vector<std::string> values{"X", "Z", "row", "column", "three"};
  std::vector<onnx_io::Node> nodes;
  std::vector<std::string> outputs;
  for (int i = 0; i < count; ++i) {
    const std::string name = "v" + std::to_string(i);
    const auto value = [&] { return values[below(2) == 0 ? values.size() - 1 : below(values.size())]; };
    switch (below(8)) {
      case 0:
        nodes.push_back(node("Tanh", {value()}, {name}));
        break;
      case 1:
        nodes.push_back(node("Elu", {value()}, {name}, {attr("alpha", 0.7f)}));
        break;
      case 2:
        nodes.push_back(node("Sigmoid", {value()}, {name}));
        break;
      case 3:
        nodes.push_back(node("Gelu", {value()}, {name}));
        break;
      case 4:
        nodes.push_back(node("Sub", {value(), value()}, {name}));
        break;
      case 5:
        nodes.push_back(node("Div", {value(), "three"}, {name}));
        break;
      case 6:
        nodes.push_back(node("Mul", {value(), value()}, {name}));
        break;
      default:
        nodes.push_back(node("Add", {value(), value()}, {name}));
    }
    values.push_back(name);
    if (below(6) == 0) outputs.push_back(name);
  }
  outputs.push_back(values.back());
  onnx_io::Model made = model(graph({"X", "Z", "row", "column"}, std::move(nodes), outputs));
  made.graph.initializers.push_back({"three", Tensor::scalar(3.0f)});
  return made;
}

TEST(ChainFusion, KeepsEveryBitOfRandomGraphs) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const onnx_io::Model made = random_graph(seed, 3 + static_cast<int>(seed % 17));
    const std::int64_t rows = 1 + seed * 7 % 23, columns = 1 + seed * 131 % 1777;
    expect_same_runs(made, {random_tensor({rows, columns}, seed), random_tensor({rows, columns}, seed + 1),
                            random_tensor({columns}, seed + 2), random_tensor({rows, 1}, seed + 3)});
  }
}

TEST(ChainFusion, AnErrorNamesTheOperatorAndBothShapes) {
  onnx_io::Model made = chain_model();
  made.graph.nodes[2].name = "third";
  const std::vector<Value> inputs{random_tensor({2, 3}, 1), random_tensor({4, 5}, 2)};
  const auto [kind, text] = error_of([&] { run_plan(*make_plan(made), inputs); });
  const auto [plain_kind, plain] =
      error_of([&] { run_plan(*make_plan(made, {.fed = {}, .fuse = false}), inputs); });
  EXPECT_EQ(kind, plain_kind);
  const std::string what = plain.substr(plain.find("node"));
  EXPECT_NE(text.find(what), std::string::npos) << text << "\nshould hold\n" << what;
}

struct ProductCase {
  const char* name;
  std::size_t steps;
  std::vector<onnx_io::Node> nodes;
};

const ProductCase product_cases[] = {
    {"MatMul, bias, activation",
     1,
     {node("MatMul", {"X", "W"}, {"P"}), node("Add", {"P", "bias"}, {"S"}), node("Relu", {"S"}, {"Y"})}},
    {"bias first, x sigmoid(x)",
     1,
     {node("MatMul", {"X", "W"}, {"P"}), node("Add", {"bias", "P"}, {"S"}), node("Sigmoid", {"S"}, {"G"}),
      node("Mul", {"S", "G"}, {"Y"})}},
    {"two rows and a number",
     1,
     {node("MatMul", {"X", "W"}, {"P"}), node("Mul", {"P", "scale"}, {"M"}),
      node("Add", {"M", "bias"}, {"S"}), node("Div", {"S", "three"}, {"Y"})}},
    {"Gemm", 1, {node("Gemm", {"X", "W", "bias"}, {"P"}), node("Tanh", {"P"}, {"Y"})}},
    {"Gemm without C", 1, {node("Gemm", {"X", "W"}, {"P"}), node("Sub", {"bias", "P"}, {"Y"})}},
    {"Gemm with a computed C", 1, {node("Gemm", {"X", "W", "C"}, {"P"}), node("Gelu", {"P"}, {"Y"})}},
    {"a column", 2, {node("Gemm", {"X", "W"}, {"P"}), node("Add", {"P", "C"}, {"Y"})}},
    {"a matrix", 2, {node("MatMul", {"X", "W"}, {"P"}), node("Add", {"P", "matrix"}, {"Y"})}},
};

TEST(ChainFusion, ProductsKeepEveryBit) {
  for (const ProductCase& test : product_cases) {
    for (const auto& [M, N, K] : std::vector<std::array<std::int64_t, 3>>{
             {1, 7, 5}, {2, 1, 9}, {33, 48, 64}, {700, 100, 16}, {4000, 20, 3}, {70, 600, 300}, {0, 4, 4}}) {
      SCOPED_TRACE(std::string(test.name) + ", M " + std::to_string(M) + ", N " + std::to_string(N));
      onnx_io::Model made = model(graph({"X", "C"}, test.nodes, {"Y"}), 20);
      made.graph.initializers = {{"W", random_tensor({K, N}, 1)},
                                 {"bias", random_tensor({N}, 2)},
                                 {"scale", random_tensor({N}, 3)},
                                 {"matrix", random_tensor({M == 0 ? 1 : M, N}, 4)},
                                 {"three", Tensor::scalar(3.0f)}};
      if (N > 1) {
        EXPECT_EQ(steps_of(made), test.steps);
      }
      expect_same_runs(made, {random_tensor({M, K}, 5), random_tensor({M, 1}, 6)});
    }
  }
}

TEST(ChainFusion, AProductOfAVectorIsARow) {
  onnx_io::Model made =
      model(graph({"X"}, {node("MatMul", {"X", "W"}, {"P"}), node("Add", {"P", "bias"}, {"Y"})}, {"Y"}));
  made.graph.initializers = {{"W", random_tensor({9, 30}, 1)}, {"bias", random_tensor({30}, 2)}};
  EXPECT_EQ(steps_of(made), 1u);
  for (const Shape& shape : {Shape{9}, Shape{3, 9}, Shape{2, 1, 5, 9}})
    expect_same_runs(made, {random_tensor(shape, 3)});
  made.graph.initializers[1] = {"bias", Tensor::from(Shape{1, 1}, std::vector{2.0f})};
  EXPECT_EQ(steps_of(made), 2u) << "the sum with a vector has two dimensions";
  for (const Shape& shape : {Shape{9}, Shape{3, 9}}) expect_same_runs(made, {random_tensor(shape, 3)});
}

}  // namespace
}  // namespace grurun::engine::testing
