// Time of one-dimensional convolutions of short signals through the whole engine: every size of a grid.
// Weights are initializers, as in a model.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "bench/count.h"
#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

struct SignalForm {
  std::int64_t batch = 1, stride = 1, dilation = 1;
  bool is_depthwise = false;
};

Value signal_values(std::mt19937& generator, Shape shape) {
  Tensor tensor(DType::float32, std::move(shape));
  std::uniform_real_distribution<float> draw(-1, 1);
  float* values = tensor.mutable_data<float>();
  for (std::int64_t i = 0; i < tensor.size(); ++i) values[i] = draw(generator);
  return tensor;
}

// places of X, taps of the kernel, channels of X and Y. Y has as many places, by the stride.
void conv_1d(benchmark::State& state, const SignalForm& form) {
  const std::int64_t places = state.range(0), kernel = state.range(1), channels = state.range(2);
  const std::int64_t depth = form.is_depthwise ? 1 : channels, pad = form.dilation * (kernel - 1) / 2;
  std::mt19937 generator(7);
  const testing::OneNode node{
      .op = "Conv",
      .domain = "",
      .opset = 22,
      .inputs = {signal_values(generator, {form.batch, channels, places}),
                 signal_values(generator, {channels, depth, kernel}), signal_values(generator, {channels})},
      .attributes = {testing::attr("group", channels / depth),
                     testing::attr("pads", std::vector<std::int64_t>{pad, pad}),
                     testing::attr("strides", std::vector<std::int64_t>{form.stride}),
                     testing::attr("dilations", std::vector<std::int64_t>{form.dilation})},
      .initializers = {false, true, true}};
  Runner runner(make_plan(testing::one_node_model(node)));
  const std::vector<Value> inputs = testing::fed_values(node);
  for (auto _ : state) {
    runner.run(inputs);
    benchmark::DoNotOptimize(runner.output(0));
  }
  const std::int64_t sums = form.batch * channels * places / form.stride;
  count(state, 2.0 * static_cast<double>(sums * depth * kernel),
        4.0 * static_cast<double>(form.batch * channels * places + sums + channels * depth * kernel));
}

#define GRURUN_SIGNALS                                                  \
  ArgNames({"places", "kernel", "channels"})                            \
      ->ArgsProduct({{64, 128, 256, 512}, {3, 5, 7, 9}, {32, 64, 128}}) \
      ->MinTime(0.05)
BENCHMARK_CAPTURE(conv_1d, plain, {})->GRURUN_SIGNALS;
BENCHMARK_CAPTURE(conv_1d, stride_2, {.stride = 2})->GRURUN_SIGNALS;
BENCHMARK_CAPTURE(conv_1d, dilation_2, {.dilation = 2})->GRURUN_SIGNALS;
BENCHMARK_CAPTURE(conv_1d, batch_4, {.batch = 4})->GRURUN_SIGNALS;
BENCHMARK_CAPTURE(conv_1d, depthwise, {.is_depthwise = true})->GRURUN_SIGNALS;
#undef GRURUN_SIGNALS

}  // namespace
}  // namespace grurun::engine
