// Convolutions with fused steps against the same plans without: every bit is the same, and what others read
// is not fused away.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "tests/engine/graph/model_building.h"

namespace grurun::engine::testing {
namespace {

struct FusionCase {
  const char* name;
  std::size_t steps;                 // that are left
  std::vector<onnx_io::Node> after;  // the convolution, which makes C
  std::vector<std::string> outputs{"Y"};
};

onnx_io::Model model_of(const FusionCase& test, std::int64_t kernel) {
  const std::int64_t pad = kernel / 2;
  std::vector<onnx_io::Node> nodes{
      node("Conv", {"X", "W", "B"}, {"C"}, {attr("pads", std::vector{pad, pad, pad, pad})})};
  nodes.insert(nodes.end(), test.after.begin(), test.after.end());
  onnx_io::Model made = model(graph({"X", "Z"}, std::move(nodes), test.outputs), 20);
  made.graph.initializers.push_back({"W", random_tensor(Shape{5, 3, kernel, kernel}, 1)});
  made.graph.initializers.push_back({"B", random_tensor(Shape{5}, 2)});
  made.graph.initializers.push_back({"three", Tensor::scalar(3.0f)});
  made.graph.initializers.push_back({"sixth", Tensor::from(Shape{1, 1, 1}, std::vector{1 / 6.0f})});
  made.graph.initializers.push_back({"deep", Tensor::from(Shape{1, 1, 1, 1, 1}, std::vector{2.0f})});
  made.graph.initializers.push_back({"columns", random_tensor(Shape{41}, 3)});
  return made;
}

const FusionCase cases[] = {
    {"one operator", 1, {node("Relu", {"C"}, {"Y"})}},
    {"with attributes", 1, {node("LeakyRelu", {"C"}, {"Y"}, {attr("alpha", 0.3f)})}},
    {"x sigmoid(x)", 1, {node("Sigmoid", {"C"}, {"S"}), node("Mul", {"C", "S"}, {"Y"})}},
    {"sigmoid(x) x", 1, {node("Sigmoid", {"C"}, {"S"}), node("Mul", {"S", "C"}, {"Y"})}},
    {"a gate between others",
     1,
     {node("Add", {"C", "three"}, {"A"}), node("Sigmoid", {"A"}, {"S"}), node("Mul", {"A", "S"}, {"M"}),
      node("Add", {"M", "C"}, {"D"}), node("Mul", {"D", "M"}, {"Y"})}},
    {"a gate that is read twice",
     1,
     {node("Sigmoid", {"C"}, {"S"}), node("Mul", {"C", "S"}, {"M"}), node("Add", {"M", "S"}, {"Y"})}},
    {"constants on either side",
     1,
     {node("Add", {"C", "three"}, {"A"}), node("Relu", {"A"}, {"R"}), node("Mul", {"sixth", "R"}, {"M"}),
      node("Mul", {"C", "M"}, {"Y"})}},
    {"a value with itself", 1, {node("Mul", {"C", "C"}, {"Y"})}},
    {"as far as it goes", 2, {node("Tanh", {"C"}, {"T"}), node("Add", {"T", "columns"}, {"Y"})}},
    {"more than a chain holds",
     2,
     {node("Abs", {"C"}, {"1"}), node("Sqrt", {"1"}, {"2"}), node("Neg", {"2"}, {"3"}),
      node("Exp", {"3"}, {"4"}), node("Sin", {"4"}, {"5"}), node("Cos", {"5"}, {"6"}),
      node("Erf", {"6"}, {"7"}), node("Neg", {"7"}, {"8"}), node("Softplus", {"8"}, {"Y"})}},
    {"an output of the graph", 2, {node("Relu", {"C"}, {"Y"})}, {"Y", "C"}},
    {"read later",
     2,
     {node("Relu", {"C"}, {"R"}), node("Add", {"R", "Z"}, {"A"}), node("Add", {"A", "C"}, {"Y"})}},
    {"another shape", 2, {node("Add", {"C", "deep"}, {"Y"})}},
    {"another type", 3, {node("IsNaN", {"C"}, {"N"}), node("Cast", {"N"}, {"Y"}, {attr("to", 1)})}},
    {"another operand", 2, {node("Add", {"C", "Z"}, {"Y"})}},
};

TEST(Fusion, KeepsEveryBit) {
  for (const FusionCase& test : cases) {
    for (const std::int64_t kernel : {1, 3}) {
      SCOPED_TRACE(std::string(test.name) + ", kernel " + std::to_string(kernel));
      const onnx_io::Model made = model_of(test, kernel);
      const auto fused = make_plan(made);
      const auto plain = make_plan(made, {.fed = {}, .fuse = false});
      EXPECT_EQ(fused->steps.size(), test.steps);
      EXPECT_EQ(plain->steps.size(), test.after.size() + 1);
      const std::vector<Value> inputs{random_tensor(Shape{2, 3, 37, 41}, 4),
                                      random_tensor(Shape{2, 5, 37, 41}, 5)};
      const auto a = run_plan(*fused, inputs), b = run_plan(*plain, inputs);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        const Tensor &left = a[i].tensor(), &right = b[i].tensor();
        ASSERT_EQ(left.shape(), right.shape());
        EXPECT_EQ(std::memcmp(left.raw(), right.raw(), left.byte_size()), 0);
      }
    }
  }
}

TEST(Fusion, NeedsWeightsOfKnownType) {
  onnx_io::Model made =
      model(graph({"X", "W"}, {node("Conv", {"X", "W"}, {"C"}), node("Relu", {"C"}, {"Y"})}, {"Y"}), 20);
  EXPECT_EQ(make_plan(made)->steps.size(), 2u);
  made.graph.inputs.pop_back();
  made.graph.initializers.push_back({"W", Tensor::zeros(DType::float64, {1, 1, 1, 1})});
  EXPECT_EQ(make_plan(made)->steps.size(), 2u);
  made.graph.initializers[0].tensor = Tensor::zeros(DType::float32, {1, 1, 1, 1});
  EXPECT_EQ(make_plan(made)->steps.size(), 1u);
}

}  // namespace
}  // namespace grurun::engine::testing
