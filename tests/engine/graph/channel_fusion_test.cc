// What a convolution is followed by that differs by channel: the same bits as by itself, however the
// convolution is computed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/cast.h"
#include "tests/engine/graph/model_building.h"

namespace grurun::engine::testing {
namespace {

struct ConvForm {
  const char* name;
  Shape x, w;
  std::vector<std::int64_t> pads;
  std::int64_t group = 1, stride = 1;
};

const ConvForm conv_forms[] = {
    {"pointwise", {2, 6, 9, 10}, {5, 6, 1, 1}, {0, 0, 0, 0}},
    {"direct", {2, 6, 19, 13}, {7, 6, 3, 3}, {1, 1, 1, 1}},
    {"strided", {1, 6, 19, 26}, {9, 6, 3, 3}, {1, 1, 1, 1}, 1, 2},
    {"several parts", {1, 16, 60, 70}, {33, 16, 3, 3}, {1, 1, 1, 1}},
    {"sums in several pieces", {1, 150, 9, 11}, {6, 150, 3, 3}, {1, 1, 1, 1}},
    {"groups", {2, 8, 11, 12}, {6, 4, 3, 3}, {1, 1, 1, 1}, 2},
    {"depthwise", {2, 6, 13, 15}, {6, 1, 3, 3}, {1, 1, 1, 1}, 6},
    {"depthwise, two filters each", {2, 5, 13, 15}, {10, 1, 5, 5}, {2, 2, 2, 2}, 5, 2},
    {"one filter", {2, 3, 9, 21}, {1, 3, 3, 3}, {1, 1, 1, 1}},
    {"few filters", {2, 3, 9, 21}, {3, 3, 3, 3}, {1, 1, 1, 1}},
    {"one place", {2, 40, 1, 1}, {7, 40, 1, 1}, {0, 0, 0, 0}},
    {"few places", {2, 8, 4, 4}, {6, 8, 3, 3}, {0, 0, 0, 0}},
    {"signals", {2, 13, 64}, {5, 13, 7}, {3, 3}},
    {"strided signals", {1, 13, 64}, {8, 13, 3}, {1, 1}, 1, 2},
    {"depthwise signals", {2, 13, 64}, {13, 1, 5}, {2, 2}, 13},
    {"a batch of short signals", {5, 24, 4}, {16, 24, 3}, {1, 1}},
    {"volumes", {2, 3, 4, 5, 18}, {5, 3, 2, 3, 3}, {1, 1, 1, 1, 1, 1}},
    {"no channels", {2, 0, 5, 6}, {4, 0, 3, 3}, {1, 1, 1, 1}},
    {"no images", {0, 3, 5, 6}, {4, 3, 3, 3}, {1, 1, 1, 1}},
};

struct ChannelCase {
  const char* name;
  std::size_t steps;                 // that are left
  std::vector<onnx_io::Node> after;  // the convolution, which makes C
};

const ChannelCase channel_cases[] = {
    {"BatchNormalization", 1, {node("BatchNormalization", {"C", "s", "b", "m", "v"}, {"Y"})}},
    {"and an activation",
     1,
     {node("BatchNormalization", {"C", "s", "b", "m", "v"}, {"N"}, {attr("epsilon", 0.01f)}),
      node("Relu", {"N"}, {"Y"})}},
    {"and a gate",
     1,
     {node("BatchNormalization", {"C", "s", "b", "m", "v"}, {"N"}), node("Sigmoid", {"N"}, {"S"}),
      node("Mul", {"N", "S"}, {"M"}), node("Add", {"M", "C"}, {"Y"})}},
    {"after an activation",
     1,
     {node("Tanh", {"C"}, {"T"}), node("BatchNormalization", {"T", "s", "b", "m", "v"}, {"Y"})}},
    {"Mul and Add",
     1,
     {node("Mul", {"C", "short"}, {"M"}), node("Add", {"long", "M"}, {"A"}),
      node("Sub", {"A", "short"}, {"D"}), node("HardSigmoid", {"D"}, {"Y"})}},
    // Each has a factor of its own.
    {"more than a chain reads",
     2,
     {node("BatchNormalization", {"C", "s", "b", "m", "v"}, {"1"}),
      node("BatchNormalization", {"1", "s", "b", "m", "v"}, {"2"}),
      node("BatchNormalization", {"2", "s", "b", "m", "v"}, {"3"}),
      node("BatchNormalization", {"3", "s", "b", "m", "v"}, {"Y"})}},
};

onnx_io::Model channel_model(const ConvForm& form, const std::vector<onnx_io::Node>& after, DType dtype) {
  const std::size_t axes = form.x.rank() - 2;
  std::vector<onnx_io::Node> nodes{node(
      "Conv", {"X", "W", "B"}, {"C"},
      {attr("pads", form.pads), attr("group", form.group), attr("strides", std::vector(axes, form.stride))})};
  nodes.insert(nodes.end(), after.begin(), after.end());
  onnx_io::Model made = model(graph({"X"}, std::move(nodes), {"Y"}), 22);
  const std::int64_t filters = form.w[0];
  const auto add = [&](const char* name, Shape shape, unsigned seed) {
    made.graph.initializers.push_back({name, cast_tensor(random_tensor(std::move(shape), seed), dtype)});
  };
  add("W", form.w, 1);
  for (const char* name : {"B", "s", "b", "m"}) add(name, Shape{filters}, static_cast<unsigned>(*name));
  Tensor variance = random_tensor(Shape{filters}, 3);
  for (std::int64_t i = 0; i < filters; ++i)
    variance.mutable_data<float>()[i] = std::abs(variance.data<float>()[i]);
  made.graph.initializers.push_back({"v", cast_tensor(variance, dtype)});
  Shape by_channel{filters};
  for (std::size_t i = 0; i < axes; ++i) by_channel.push_back(1);
  add("short", by_channel, 4);
  by_channel.insert(0, 1);
  add("long", by_channel, 5);
  return made;
}

void expect_same_bits(const Value& a, const Value& b) {
  const Tensor &left = a.tensor(), &right = b.tensor();
  ASSERT_EQ(left.shape(), right.shape());
  ASSERT_EQ(left.dtype(), right.dtype());
  if (left.byte_size() == 0) return;
  EXPECT_EQ(std::memcmp(left.raw(), right.raw(), left.byte_size()), 0);
}

TEST(ChannelFusion, KeepsEveryBit) {
  for (const ConvForm& form : conv_forms) {
    for (const ChannelCase& test : channel_cases) {
      SCOPED_TRACE(std::string(form.name) + ": " + test.name);
      const onnx_io::Model made = channel_model(form, test.after, DType::float32);
      const auto fused = make_plan(made);
      EXPECT_EQ(fused->steps.size(), test.steps);
      const std::vector<Value> inputs{random_tensor(form.x, 6)};
      const Value plain = run_plan(*make_plan(made, {.fed = {}, .fuse = false}), inputs).front();
      for (const int threads : {1, 3}) {
        kernels::set_threads(threads);
        const Value result = run_plan(*fused, inputs).front();
        kernels::set_threads(1);
        expect_same_bits(result, plain);
      }
    }
  }
}

TEST(ChannelFusion, LeavesOtherTypesAlone) {
  for (const DType dtype : {DType::float64, DType::float16, DType::bfloat16}) {
    for (const ChannelCase& test : channel_cases) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + ": " + test.name);
      const onnx_io::Model made = channel_model(conv_forms[1], test.after, dtype);
      const std::vector<Value> inputs{cast_tensor(random_tensor(conv_forms[1].x, 6), dtype)};
      const auto plan = make_plan(made);
      EXPECT_GT(plan->steps.size(), 1u);
      expect_same_bits(run_plan(*plan, inputs).front(),
                       run_plan(*make_plan(made, {.fed = {}, .fuse = false}), inputs).front());
    }
  }
}

// What it is called in profiles and errors.
TEST(ChannelFusion, NamesItsOperators) {
  const auto plan = make_plan(channel_model(conv_forms[0], channel_cases[1].after, DType::float32));
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->steps[0].op, "Conv-22 BatchNormalization-15 Relu-14");
}

std::size_t steps_left(const onnx_io::Model& made, std::int64_t opset = 22) {
  onnx_io::Model of = made;
  of.opset_imports[""] = opset;
  return make_plan(of)->steps.size();
}

TEST(ChannelFusion, NeedsWhatIsConstantAndOfAChannelEach) {
  const ConvForm& form = conv_forms[1];
  const auto made = [&](std::vector<onnx_io::Node> after) {
    return channel_model(form, after, DType::float32);
  };
  const onnx_io::Node plain = node("BatchNormalization", {"C", "s", "b", "m", "v"}, {"Y"});
  onnx_io::Node training = plain;
  training.attributes = {attr("training_mode", 1)};
  training.outputs = {"Y", "mean", "var"};
  EXPECT_EQ(steps_left(made({training})), 2u);
  onnx_io::Node by_element = plain;
  by_element.attributes = {attr("spatial", 0)};
  EXPECT_EQ(steps_left(made({by_element}), 7), 2u);
  EXPECT_EQ(steps_left(made({plain}), 7), 1u);

  onnx_io::Model fed = made({plain});
  fed.graph.inputs.push_back({"m", {}});
  EXPECT_EQ(make_plan(fed, {.fed = {"m"}})->steps.size(), 2u);
  onnx_io::Model wide = made({plain});
  for (auto& initializer : wide.graph.initializers) {
    if (initializer.name == "v") initializer.tensor = cast_tensor(initializer.tensor, DType::float64);
  }
  EXPECT_EQ(steps_left(wide), 2u);

  // Of other channels: refused as without fusion.
  onnx_io::Model other = made({plain});
  for (auto& initializer : other.graph.initializers) {
    if (initializer.name.size() == 1 && initializer.name != "W" && initializer.name != "B")
      initializer.tensor = random_tensor(Shape{3}, 1);
  }
  const std::vector<Value> inputs{random_tensor(form.x, 6)};
  const auto fused = error_of([&] { run_plan(*make_plan(other), inputs); });
  EXPECT_EQ(fused.first, ErrorKind::invalid_model);
  EXPECT_EQ(fused, error_of([&] { run_plan(*make_plan(other, {.fed = {}, .fuse = false}), inputs); }));

  // By row, by column, or with one dimension too many.
  for (const Shape& shape : {Shape{13}, Shape{19, 1}, Shape{7, 1}, Shape{1, 1, 7, 1, 1}}) {
    onnx_io::Model added = made({node("Relu", {"C"}, {"R"}), node("Add", {"R", "a"}, {"Y"})});
    added.graph.initializers.push_back({"a", random_tensor(shape, 1)});
    EXPECT_EQ(steps_left(added), 2u) << shape.to_string();
  }
}

}  // namespace
}  // namespace grurun::engine::testing
