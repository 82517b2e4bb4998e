// Steps of constants are computed while the plan is made.
#include <gtest/gtest.h>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "tests/engine/graph/model_building.h"

namespace grurun::engine::testing {
namespace {

Value integers(std::vector<std::int64_t> values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

// Y = X + Concat(Slice(W), Unsqueeze(...)), as exporters put gates in another order.
onnx_io::Model rearranged() {
  onnx_io::Model made = model(
      graph({"X"},
            {node("Slice", {"W", "two", "four"}, {"back"}), node("Slice", {"W", "zero", "two"}, {"front"}),
             node("Concat", {"back", "front"}, {"R"}, {attr("axis", 0)}),
             node("Unsqueeze", {"R", "zero"}, {"U"}), node("Add", {"X", "U"}, {"Y"})},
            {"Y"}),
      17);
  made.graph.initializers.push_back({"W", floats({1, 2, 3, 4}).tensor()});
  made.graph.initializers.push_back({"zero", integers({0}).tensor()});
  made.graph.initializers.push_back({"two", integers({2}).tensor()});
  made.graph.initializers.push_back({"four", integers({4}).tensor()});
  return made;
}

TEST(ConstantFolding, LeavesWhatDependsOnInputs) {
  const onnx_io::Model made = rearranged();
  const auto plan = make_plan(made);
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->steps[0].op, "Add-14");
  EXPECT_EQ(plan->constants.size(), 1u);  // what U was computed from is gone
  EXPECT_EQ(make_plan(made, {.fed = {}, .fuse = false})->steps.size(), 5u);
  onnx_io::Model with_input = made;
  with_input.graph.inputs.push_back({"W", {}});
  EXPECT_EQ(make_plan(with_input)->steps.size(), 1u);
  EXPECT_EQ(make_plan(with_input, {.fed = {"W"}})->steps.size(), 5u);
  EXPECT_EQ(as_floats(run_plan(*plan, {floats({10, 20, 30, 40})})[0]), (std::vector<float>{13, 24, 31, 42}));
}

TEST(ConstantFolding, MayMakeAnOutput) {
  onnx_io::Model made = rearranged();
  made.graph.outputs.push_back({"R", {}});
  const std::vector<Value> outputs = run(made, {floats({0, 0, 0, 0})});
  EXPECT_EQ(as_floats(outputs.at(1)), (std::vector<float>{3, 4, 1, 2}));
}

TEST(ConstantFolding, LeavesStepsThatFailToTheRun) {
  onnx_io::Model made = rearranged();
  made.graph.initializers[1].tensor = integers({9}).tensor();  // Unsqueeze finds no such axis
  const auto plan = make_plan(made);
  const auto [kind, message] = error_of([&] { run_plan(*plan, {floats({1})}); });
  EXPECT_EQ(kind, ErrorKind::invalid_model);
  EXPECT_NE(message.find("Unsqueeze"), std::string::npos) << message;
}

// As long as it is clear beforehand that little comes of it.
TEST(ConstantFolding, ComputesWhatIsNotLarge) {
  const auto steps_of = [](const std::string& op, Tensor first, Tensor second) {
    onnx_io::Model made = model(graph({"X"},
                                      {node(op, {"first", "second"}, {"made"}),
                                       node("Concat", {"X", "made"}, {"Y"}, {attr("axis", 0)})},
                                      {"Y"}),
                                18);
    made.graph.initializers.push_back({"first", std::move(first)});
    made.graph.initializers.push_back({"second", std::move(second)});
    return make_plan(made)->steps.size();
  };
  const auto sizes = [](std::vector<std::int64_t> values) { return integers(std::move(values)).tensor(); };
  const auto zeros = [](Shape shape) { return Tensor::zeros(DType::float32, std::move(shape)); };
  EXPECT_EQ(steps_of("Expand", zeros({1}), sizes({300})), 1u);
  EXPECT_EQ(steps_of("Expand", zeros({1}), sizes({1 << 20, 1 << 20})), 2u);
  EXPECT_EQ(steps_of("Expand", zeros({1}), sizes({std::int64_t{1} << 62, std::int64_t{1} << 62})), 2u);
  EXPECT_EQ(steps_of("Tile", zeros({5}), sizes({1 << 30})), 2u);
  EXPECT_EQ(steps_of("Mul", zeros({30, 1}), zeros({20})), 1u);
  EXPECT_EQ(steps_of("Mul", zeros({100'000, 1}), zeros({100'000})), 2u);
  EXPECT_EQ(steps_of("Gather", zeros({300, 8}), sizes({1, 2})), 1u);
  EXPECT_EQ(steps_of("Gather", zeros({1, 100'000}), Tensor::zeros(DType::int64, {100'000})), 2u);
  onnx_io::Model huge = model(graph({}, {node("ConstantOfShape", {"shape"}, {"Y"})}, {"Y"}), 18);
  huge.graph.initializers.push_back({"shape", sizes({1 << 20, 1 << 20})});
  EXPECT_EQ(make_plan(huge)->steps.size(), 1u);
  huge.graph.initializers[0].tensor = sizes({3, 4});
  EXPECT_EQ(make_plan(huge)->steps.size(), 0u);
}

// Y = X + DequantizeLinear(W) + DequantizeLinear(V), 4 and 2 codes.
TEST(ConstantFolding, ConvertsWeightsWhileTheyFit) {
  onnx_io::Model made = model(
      graph({"X"},
            {node("DequantizeLinear", {"W", "scale"}, {"w"}), node("DequantizeLinear", {"V", "scale"}, {"v"}),
             node("Add", {"X", "w"}, {"S"}), node("Add", {"S", "v"}, {"Y"})},
            {"Y"}),
      21);
  made.graph.initializers.push_back({"W", Tensor::from<std::int8_t>({2, 2}, {1, -2, 3, 127})});
  made.graph.initializers.push_back({"V", Tensor::from<std::int8_t>({2}, {4, -5})});
  made.graph.initializers.push_back({"scale", Tensor::scalar(0.5f)});
  const auto steps_within = [&](std::size_t growth) {
    PlanOptions options;
    options.most_folded_growth = growth;
    const auto plan = make_plan(made, options);
    EXPECT_EQ(as_floats(run_plan(*plan, {floats({10, 20})})[0]), (std::vector<float>{12.5, 16.5, 13.5, 81}));
    return plan->steps.size();
  };
  // Sixteen bytes come of 4 and a scale, eight of 2 and a scale. Sums of what stays a step are two steps.
  const std::size_t all = steps_within(10);
  EXPECT_EQ(steps_within(std::size_t{1} << 20), all);
  EXPECT_GT(steps_within(9), all);
  EXPECT_GT(steps_within(1), steps_within(9));
}

// Y = X * (c + c + c ...), where no step makes more of what it is given.
TEST(ConstantFolding, KeepsNoMoreThanTwiceTheConstantsAndTheGrowth) {
  onnx_io::Model made = model(graph({"X"}, {}, {"Y"}), 21);
  made.graph.initializers.push_back({"c0", floats({1, 2, 3, 4}).tensor()});
  for (int i = 0; i < 6; ++i)
    made.graph.nodes.push_back(
        node("Add", {"c" + std::to_string(i), "c" + std::to_string(i)}, {"c" + std::to_string(i + 1)}));
  made.graph.nodes.push_back(node("Mul", {"X", "c6"}, {"Y"}));
  const auto first_step_within = [&](std::size_t growth) {
    PlanOptions options;
    options.most_folded_growth = growth;
    const auto plan = make_plan(made, options);
    EXPECT_EQ(as_floats(run_plan(*plan, {floats({1, 1, 1, 2})})[0]), (std::vector<float>{64, 128, 192, 512}));
    return plan->steps.front().label;
  };
  EXPECT_NE(first_step_within(63), first_step_within(64));  // 16 bytes each: five, or all six
}

}  // namespace
}  // namespace grurun::engine::testing
