// Runs that repeat with the same shapes take no memory from the heap, whatever operator they run.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "engine/kernels/machine/parallel.h"
#include "tests/engine/allocations.h"
#include "tests/engine/graph/model_building.h"
#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

using namespace testing;

Value x(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 16 + 0.25F;
  return Tensor::from(shape, values);
}
Value ints(std::vector<std::int64_t> values) {
  return Tensor::from(Shape{std::ssize(values)}, values);
}
Value index(std::int64_t value) {
  return Tensor::scalar(value);
}
Value bytes(const Shape& shape) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(shape.element_count()));
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  return Tensor::from(shape, values);
}

/// The first `fed` inputs are fed, the model holds the others.
struct Row {
  const char* op;
  std::vector<Value> inputs;
  Attributes attributes{};
  std::size_t fed = 1;
  std::size_t outputs = 1;
};

std::vector<Row> elementwise() {
  return {
      {"Add", {x({4, 5, 6}), x({5, 1})}, {}, 2},
      {"Mul", {x({4, 1, 6, 1}), x({3, 1, 7})}, {}, 2},
      {"Greater", {x({4, 5}), x({5})}, {}, 2},
      {"Pow", {x({4, 5}), x({1})}},
      {"Mod", {x({4, 5}), x({5})}, {attr("fmod", 1)}, 2},
      {"Min", {x({4, 5}), x({5}), x({4, 1})}, {}, 3},
      {"Sum", {x({4, 5}), x({5}), x({4, 1})}, {}, 3},
      {"PRelu", {x({4, 5}), x({5})}},
      {"Clip", {x({4, 5}), Tensor::scalar(0.5F), Tensor::scalar(1.0F)}},
      {"Exp", {x({4, 5})}},
      {"Sqrt", {x({70, 1000})}},
      {"Gelu", {x({4, 5})}},
      {"HardSwish", {x({4, 5})}},
      {"Cast", {x({4, 5})}, {attr("to", 11)}},
      {"QuantizeLinear", {x({4, 6}), Tensor::scalar(0.1F), bytes({})}},
      {"DequantizeLinear", {bytes({4, 6}), Tensor::scalar(0.1F), bytes({})}},
      {"DynamicQuantizeLinear", {x({4, 6})}, {}, 1, 3},
  };
}

std::vector<Row> products() {
  return {
      {"MatMul", {x({8, 6}), x({6, 5})}, {}, 2},
      {"MatMul", {x({8, 6}), x({6, 5})}},
      {"MatMul", {x({2, 3, 8, 6}), x({3, 6, 5})}, {}, 2},
      {"MatMulInteger", {bytes({8, 6}), bytes({6, 5})}, {}, 2},
      {"Gemm", {x({8, 6}), x({5, 6}), x({5})}, {attr("transB", 1)}},
      {"Gemm", {x({6, 8}), x({6, 5}), x({8, 1})}, {attr("transA", 1)}, 3},
      {"Einsum", {x({2, 3, 4}), x({2, 4, 5})}, {attr("equation", "bij,bjk->bik")}, 2},
      {"Einsum", {x({3, 4, 4})}, {attr("equation", "...ii->...i")}},
      {"Conv",
       {x({1, 8, 12, 12}), x({16, 8, 3, 3}), x({16})},
       {attr("pads", std::vector<std::int64_t>{1, 1, 1, 1})}},
      {"Conv", {x({1, 8, 12, 12}), x({16, 8, 3, 3})}, {}, 2},
      {"Conv", {x({1, 8, 12, 12}), x({16, 8, 3, 3})}, {attr("strides", std::vector<std::int64_t>{2, 2})}},
      {"Conv", {x({2, 8, 12, 12}), x({16, 8, 1, 1})}},
      {"Conv", {x({1, 8, 12, 12}), x({8, 1, 3, 3})}, {attr("group", 8)}},
      {"Conv", {x({1, 8, 12, 12}), x({8, 4, 3, 3})}, {attr("group", 2)}},
      {"Conv", {x({1, 8, 40}), x({16, 8, 3})}},
      {"Conv", {x({1, 2, 6, 6, 6}), x({4, 2, 3, 3, 3})}},
      {"ConvTranspose",
       {x({1, 8, 6, 6}), x({8, 4, 3, 3})},
       {attr("strides", std::vector<std::int64_t>{2, 2})}},
      {"Attention", {x({1, 2, 6, 8}), x({1, 2, 6, 8}), x({1, 2, 6, 8})}, {}, 3},
      {"Attention", {x({1, 2, 6, 8}), x({1, 2, 6, 8}), x({1, 2, 6, 8}), x({6, 6})}, {}, 4},
      {"Attention",
       {x({1, 6, 16}), x({1, 6, 16}), x({1, 6, 16})},
       {attr("q_num_heads", 2), attr("kv_num_heads", 2), attr("is_causal", 1)},
       3},
      {"RotaryEmbedding", {x({1, 2, 6, 8}), x({1, 6, 4}), x({1, 6, 4})}},
  };
}

std::vector<Row> windows_and_rows() {
  const std::vector<std::int64_t> three{3, 3};
  return {
      {"MaxPool",
       {x({1, 8, 12, 12})},
       {attr("kernel_shape", three), attr("strides", std::vector<std::int64_t>{2, 2})}},
      {"MaxPool", {x({1, 8, 12, 12})}, {attr("kernel_shape", three)}, 1, 2},
      {"AveragePool",
       {x({1, 8, 12, 12})},
       {attr("kernel_shape", three), attr("pads", std::vector<std::int64_t>{1, 1, 1, 1})}},
      {"LpPool", {x({1, 8, 12, 12})}, {attr("kernel_shape", three)}},
      {"GlobalAveragePool", {x({1, 8, 12, 12})}},
      {"GlobalMaxPool", {x({1, 8, 12, 12})}},
      {"ReduceMean", {x({4, 5, 6}), ints({1})}, {attr("keepdims", 0)}},
      {"ReduceSum", {x({4, 5, 6}), ints({-1})}},
      {"ReduceMax", {x({4, 5, 6})}},
      {"ReduceL2", {x({4, 5, 6}), ints({0, 2})}},
      {"ReduceLogSumExp", {x({4, 5, 6}), ints({-1})}},
      {"ArgMax", {x({4, 5, 6})}, {attr("axis", 1)}},
      {"CumSum", {x({4, 5}), index(1)}},
      {"TopK", {x({4, 9}), ints({3})}, {}, 1, 2},
      {"Softmax", {x({4, 5, 6})}},
      {"Softmax", {x({4, 5, 6})}, {attr("axis", 1)}},
      {"LogSoftmax", {x({4, 5, 6})}},
      {"LayerNormalization", {x({4, 5, 6}), x({6}), x({6})}},
      {"RMSNormalization", {x({4, 5, 6}), x({6})}},
      {"GroupNormalization", {x({2, 6, 5}), x({6}), x({6})}, {attr("num_groups", 3)}},
      {"InstanceNormalization", {x({2, 6, 5}), x({6}), x({6})}},
      {"BatchNormalization", {x({2, 6, 5, 5}), x({6}), x({6}), x({6}), x({6})}},
      {"LRN", {x({2, 6, 5, 5})}, {attr("size", 3)}},
      {"LpNormalization", {x({4, 5})}},
  };
}

std::vector<Row> movement() {
  return {
      {"Transpose", {x({4, 5, 6})}, {attr("perm", std::vector<std::int64_t>{2, 0, 1})}},
      {"Reshape", {x({4, 6}), ints({2, -1})}},
      {"Squeeze", {x({4, 1, 6}), ints({1})}},
      {"Unsqueeze", {x({4, 6}), ints({0, 2})}},
      {"Flatten", {x({4, 6, 2})}},
      {"Identity", {x({4, 6})}},
      {"Concat", {x({4, 6}), x({4, 3})}, {attr("axis", 1)}, 2},
      {"Split", {x({4, 6})}, {attr("axis", 1), attr("num_outputs", 2)}, 1, 2},
      {"Slice", {x({4, 6}), ints({1, 0}), ints({3, 6}), ints({0, 1}), ints({1, 2})}},
      {"Gather", {x({4, 6}), ints({1, 0})}, {attr("axis", 1)}},
      {"GatherND", {x({4, 6}), Tensor::from(Shape{2, 1}, std::vector<std::int64_t>{1, 2})}},
      {"GatherElements",
       {x({2, 6}), Tensor::from(Shape{2, 1}, std::vector<std::int64_t>{1, 2})},
       {attr("axis", 1)}},
      {"ScatterND", {x({4, 6}), Tensor::from(Shape{2, 1}, std::vector<std::int64_t>{1, 2}), x({2, 6})}},
      {"ScatterElements", {x({4, 2}), Tensor::from(Shape{1, 2}, std::vector<std::int64_t>{1, 2}), x({1, 2})}},
      {"ConstantOfShape", {ints({4, 5})}},
      {"ConstantOfShape", {ints({1 << 20})}},  // large enough to be mapped
      {"Expand", {x({4, 1}), ints({4, 5})}},
      {"Tile", {x({4, 6}), ints({2, 2})}},
      {"Pad", {x({4, 6}), ints({1, 1, 1, 1})}},
      {"Pad", {x({4, 6}), ints({1, 1, 1, 1})}, {attr("mode", "reflect")}},
      {"Where",
       {Tensor::from(Shape{4, 1}, std::vector<bool>{true, false, true, true}), x({4, 5}), x({5})},
       {},
       3},
      {"Resize", {x({1, 2, 4, 4}), Value(), Value(), ints({1, 2, 7, 9})}, {attr("mode", "linear")}},
      {"DepthToSpace", {x({1, 8, 4, 4})}, {attr("blocksize", 2)}},
      {"OneHot", {ints({1, 2, 0}), index(5), x({2})}},
      {"Trilu", {x({4, 6})}},
      {"Shape", {x({4, 6})}},
  };
}

std::uint64_t taken_in_steady_runs(const onnx_io::Model& made, const std::vector<Value>& inputs) {
  Runner runner(make_plan(made));
  const RunOptions options;
  for (int i = 0; i < 4; ++i) runner.run(inputs, options);
  return allocations_of([&] {
    for (int i = 0; i < 4; ++i) runner.run(inputs, options);
  });
}

std::uint64_t taken_in_steady_runs(const Row& row) {
  OneNode one{.op = row.op, .domain = "", .opset = 23, .inputs = row.inputs, .attributes = row.attributes};
  one.outputs.assign(row.outputs, true);
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    one.initializers.push_back(i >= row.fed && !one.inputs[i].empty());
  }
  return taken_in_steady_runs(one_node_model(one), fed_values(one));
}

TEST(SteadyRun, TakesNothing) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations are not counted in this build";
  // Which thread takes which piece of work, and with it whether it has memory at hand, is open with more.
  const int threads = kernels::threads();
  kernels::set_threads(1);
  for (const auto& rows : {elementwise(), products(), windows_and_rows(), movement()}) {
    for (const Row& row : rows) {
      EXPECT_EQ(taken_in_steady_runs(row), 0U)
          << row.op << " of " << row.inputs.front().describe() << ", " << row.fed << " inputs fed";
    }
  }
  kernels::set_threads(threads);
}

// Element-wise steps in a row, of a type that they are not fused for; a body that is chosen anew each time;
// one that runs again and again.
TEST(SteadyRun, TakesNothingInBodies) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations are not counted in this build";
  const auto chain = model(graph(
      {"a", "b"}, {node("Add", {"a", "b"}, {"s"}), node("Mul", {"s", "b"}, {"m"}), node("Abs", {"m"}, {"y"})},
      {"y"}));
  EXPECT_EQ(taken_in_steady_runs(chain, {ints({1, 2, 3}), ints({4, 5, 6})}), 0U);

  const auto branch = [](const char* op) {
    return graph({}, {node(op, {"x"}, {"t"}), node("MatMul", {"t", "x"}, {"u"})}, {"u"});
  };
  const auto chosen = model(graph(
      {"c", "x"},
      {node("If", {"c"}, {"y"}, {attr("then_branch", branch("Exp")), attr("else_branch", branch("Abs"))})},
      {"y"}));
  EXPECT_EQ(taken_in_steady_runs(chosen, {Tensor::scalar(true), x({6, 6})}), 0U);

  const auto body =
      graph({"i", "go_on", "before"},
            {node("Identity", {"go_on"}, {"still"}), node("MatMul", {"before", "x"}, {"after"})},
            {"still", "after"});
  const auto repeated =
      model(graph({"n", "x"}, {node("Loop", {"n", "", "x"}, {"y"}, {attr("body", body)})}, {"y"}));
  EXPECT_EQ(taken_in_steady_runs(repeated, {index(5), x({6, 6})}), 0U);
}

}  // namespace
}  // namespace grurun::engine
