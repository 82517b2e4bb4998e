// One plan, run by several threads at once: each gets what it would get alone.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/engine/graph/model_building.h"

namespace grurun::engine {
namespace {

using namespace testing;

// A recurrent layer, a Loop that adds its output up, and a Clip that runs through its function body, which is
// planned anew for every other shape.
onnx_io::Model layer_loop_and_body() {
  constexpr std::int64_t hidden = 24, input = 5;
  auto body =
      graph({"i", "go", "sum"}, {node("Identity", {"go"}, {"go_on"}), node("Add", {"sum", "Y"}, {"more"})},
            {"go_on", "more"});
  body.inputs[0].type = ValueType::tensor(DType::int64, SymbolicShape{});
  body.inputs[1].type = ValueType::tensor(DType::boolean, SymbolicShape{});
  auto made = model(graph({"X"},
                          {node("GRU", {"X", "W", "R"}, {"Y"}, {attr("hidden_size", hidden)}),
                           node("Loop", {"trips", "", "Y"}, {"sum"}, {attr("body", std::move(body))}),
                           node("Clip", {"sum", "low", "high"}, {"out"})},
                          {"out"}));
  made.graph.inputs[0].type = ValueType::tensor(DType::float32);
  made.graph.initializers = {{"W", random_tensor({1, 3 * hidden, input}, 1)},
                             {"R", random_tensor({1, 3 * hidden, hidden}, 2)},
                             {"trips", Tensor::scalar<std::int64_t>(3)},
                             {"low", Tensor::scalar(-1.5F)},
                             {"high", Tensor::scalar(2.5F)}};
  return made;
}

TEST(SideBySide, RunsOfOnePlanDoNotDisturbEachOther) {
  constexpr int threads = 4, runs = 30;
  const onnx_io::Model made = layer_loop_and_body();
  PlanOptions options;
  options.prefer_function_bodies = true;
  std::vector<Value> inputs;
  std::vector<std::vector<float>> alone;
  for (int length = 1; length <= 3; ++length) {
    inputs.emplace_back(random_tensor({length, 2, 5}, static_cast<unsigned>(length)));
    alone.push_back(as_floats(run_plan(*make_plan(made, options), {inputs.back()})[0]));
  }
  const auto plan = make_plan(made, options);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < threads; ++caller) {
    callers.emplace_back([&, caller] {
      for (int number = 0; number < runs; ++number) {
        const auto which = static_cast<std::size_t>(number + caller) % inputs.size();
        if (as_floats(run_plan(*plan, {inputs[which]})[0]) != alone[which]) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace grurun::engine
