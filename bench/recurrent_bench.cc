// Time of one recurrent layer through the whole engine: plan made once, then run. Weights are initializers,
// as in a model.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/count.h"
#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

struct Layer {
  const char* op;
  std::int64_t seq_length, batch_size, input_size, hidden_size, num_directions;
};

std::int64_t gates(const std::string& op) {
  return op == "GRU" ? 3 : op == "LSTM" ? 4 : 1;
}

Value uniform(std::mt19937& generator, Shape shape, float bound) {
  Tensor tensor(DType::float32, std::move(shape));
  std::uniform_real_distribution<float> draw(-bound, bound);
  float* values = tensor.mutable_data<float>();
  for (std::int64_t i = 0; i < tensor.size(); ++i) values[i] = draw(generator);
  return tensor;
}

testing::OneNode node_of(const Layer& layer) {
  std::mt19937 generator(7);
  const std::int64_t rows = gates(layer.op) * layer.hidden_size;
  const float bound = 1 / std::sqrt(static_cast<float>(layer.hidden_size));
  testing::Attributes attributes{
      testing::attr("hidden_size", layer.hidden_size),
      testing::attr("direction", layer.num_directions == 2 ? "bidirectional" : "forward")};
  if (std::string(layer.op) == "GRU") attributes.push_back(testing::attr("linear_before_reset", 1));
  return {.op = layer.op,
          .domain = "",
          .opset = 14,
          .inputs = {uniform(generator, {layer.seq_length, layer.batch_size, layer.input_size}, 1),
                     uniform(generator, {layer.num_directions, rows, layer.input_size}, bound),
                     uniform(generator, {layer.num_directions, rows, layer.hidden_size}, bound),
                     uniform(generator, {layer.num_directions, 2 * rows}, bound)},
          .attributes = std::move(attributes),
          .outputs = {true, true},
          .initializers = {false, true, true, true}};
}

void layer(benchmark::State& state, const Layer& layer) {
  const testing::OneNode node = node_of(layer);
  Runner runner(make_plan(testing::one_node_model(node)));
  const std::vector<Value> inputs = testing::fed_values(node);
  for (auto _ : state) {
    runner.run(inputs);
    benchmark::DoNotOptimize(runner.output(0));
  }
  const std::int64_t weights =
      layer.num_directions * gates(layer.op) * layer.hidden_size * (layer.input_size + layer.hidden_size);
  const std::int64_t states = layer.num_directions * layer.batch_size * layer.hidden_size;
  const std::int64_t steps = layer.seq_length;
  count(state, 2.0 * static_cast<double>(weights * steps * layer.batch_size),
        4.0 * static_cast<double>(weights + steps * (states + layer.batch_size * layer.input_size)));
}

BENCHMARK_CAPTURE(layer, gru_stream_h64, {"GRU", 1, 1, 40, 64, 1});
BENCHMARK_CAPTURE(layer, gru_stream_h512, {"GRU", 1, 1, 512, 512, 1});
BENCHMARK_CAPTURE(layer, gru_seq_h128, {"GRU", 100, 1, 80, 128, 1});
BENCHMARK_CAPTURE(layer, gru_seq_h256_bi, {"GRU", 100, 1, 256, 256, 2});
BENCHMARK_CAPTURE(layer, gru_batch_h512, {"GRU", 50, 32, 512, 512, 1});
BENCHMARK_CAPTURE(layer, lstm_seq_h256, {"LSTM", 100, 1, 256, 256, 1});
BENCHMARK_CAPTURE(layer, lstm_batch_h512, {"LSTM", 50, 32, 512, 512, 1});
BENCHMARK_CAPTURE(layer, rnn_seq_h256, {"RNN", 100, 1, 256, 256, 1});

}  // namespace
}  // namespace grurun::engine
