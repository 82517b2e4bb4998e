// A layer whose weights are constants takes no memory once what a run takes is laid out.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/engine/allocations.h"
#include "tests/engine/ops/rnn/layer_case.h"
#include "tests/engine/ops/rnn/quantized_layer.h"

namespace grurun::engine {
namespace {

using namespace testing;

struct Row {
  const char* op;
  std::int64_t seq_length, batch_size, hidden_size;
  DType dtype;
  bool lengths;
};

constexpr Row rows[] = {
    {"GRU", 1, 1, 64, DType::float32, false},    {"GRU", 1, 1, 512, DType::float32, false},
    {"GRU", 30, 1, 100, DType::float32, false},  {"GRU", 7, 5, 40, DType::float64, true},
    {"LSTM", 20, 3, 70, DType::float32, true},   {"LSTM", 20, 3, 70, DType::float16, false},
    {"RNN", 50, 32, 128, DType::float32, false}, {"RNN", 3, 2, 17, DType::bfloat16, true},
};

Value ramp(DType dtype, const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 17) / 64 - 0.125;
  return tensor_of(values, shape, dtype);
}

OneNode node_of_row(const Row& row) {
  const std::int64_t gates = row.op[0] == 'G' ? 3 : row.op[0] == 'L' ? 4 : 1;
  const std::int64_t directions = 2, input_size = 24, hidden = row.hidden_size;
  OneNode node{.op = row.op, .domain = "", .opset = 22, .inputs = {}, .attributes = {}};
  node.inputs = {ramp(row.dtype, {row.seq_length, row.batch_size, input_size}),
                 ramp(row.dtype, {directions, gates * hidden, input_size}),
                 ramp(row.dtype, {directions, gates * hidden, hidden}),
                 ramp(row.dtype, {directions, 2 * gates * hidden}),
                 Value(),
                 ramp(row.dtype, {directions, row.batch_size, hidden})};
  if (row.lengths) {
    std::vector<std::int32_t> lengths(static_cast<std::size_t>(row.batch_size));
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::int32_t>(1 + i % 3);
    node.inputs[4] = Tensor::from(Shape{row.batch_size}, lengths);
  }
  node.attributes = {attr("hidden_size", hidden), attr("direction", "bidirectional")};
  node.outputs = {true, true};
  node.initializers = {false, true, true, true, false, false};
  return node;
}

void expect_no_allocations(const OneNode& node, const std::string& what) {
  Runner runner(make_plan(one_node_model(node)));
  const std::vector<Value> inputs = fed_values(node);
  const RunOptions options;
  EXPECT_GT(allocations_of([&] { runner.run(inputs, options); }), 0U) << what;
  runner.run(inputs, options);  // is recorded
  runner.run(inputs, options);  // lays out
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(allocations_of([&] { runner.run(inputs, options); }), 0U) << what << ", run " << i + 4;
}

TEST(LayerAllocation, NoneInASteadyRun) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations are not counted in this build";
  for (const Row& row : rows)
    expect_no_allocations(node_of_row(row),
                          std::string(row.op) + " of " + std::to_string(row.hidden_size) + " units");
}

TEST(LayerAllocation, NoneInASteadyRunOfQuantizedLayers) {
  if (!counts_allocations()) GTEST_SKIP() << "allocations are not counted in this build";
  std::uint64_t seed = 7;
  for (const QuantizedCase& c : {QuantizedCase{"plain"},
                                 {.what = "ragged", .direction = "bidirectional", .lengths = {2, 4}},
                                 {.what = "unsigned", .is_signed = false, .by_column = true}})
    expect_no_allocations(quantized_node(QuantizedProblem(c, ++seed)), c.what);
}

}  // namespace
}  // namespace grurun::engine
