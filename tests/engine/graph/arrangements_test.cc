// Constants that several nodes use are arranged once: memory tells.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "tensor/memory/memory.h"
#include "tests/engine/graph/model_building.h"

namespace grurun::engine::testing {
namespace {

constexpr std::int64_t width = 256;

struct SharedCase {
  const char* name;
  std::vector<std::int64_t> weights;  // of W's shape
  std::vector<onnx_io::Node> (*step)(const std::string& from, const std::string& to);
  DType dtype = DType::float32;
  std::vector<std::int64_t> input{1, width};
};

Tensor ramp(DType dtype, const Shape& shape) {
  Tensor made = Tensor::zeros(dtype, shape);
  if (dtype == DType::float32) {
    float* to = made.mutable_data<float>();
    for (std::int64_t i = 0; i < made.size(); ++i) to[i] = static_cast<float>(i % 17 - 8) / 64;
  } else {
    auto* to = made.mutable_data<std::uint8_t>();
    for (std::int64_t i = 0; i < made.size(); ++i) to[i] = static_cast<std::uint8_t>(i % 13);
  }
  return made;
}

const SharedCase float_cases[] = {
    {"MatMul",
     {width, width},
     [](const std::string& from, const std::string& to) {
       return std::vector{node("MatMul", {from, "W"}, {to})};
     }},
    {"Gemm",
     {width, width},
     [](const std::string& from, const std::string& to) {
       return std::vector{node("Gemm", {from, "W", "B"}, {to}, {attr("transB", std::int64_t{1})})};
     }},
    {"GRU",
     {1, 3 * width, width},
     [](const std::string& from, const std::string& to) {
       return std::vector{node("GRU", {from, "W", "W"}, {"", to + "_h"}, {attr("hidden_size", width)}),
                          node("Identity", {to + "_h"}, {to})};
     },
     DType::float32,
     {1, 1, width}},
};

const SharedCase byte_cases[] = {
    {"MatMulInteger",
     {width, width},
     [](const std::string& from, const std::string& to) {
       return std::vector{node("MatMulInteger", {from, "W"}, {to + "_sums"}),
                          node("Cast", {to + "_sums"}, {to}, {attr("to", std::int64_t{2})})};
     },
     DType::uint8},
    {"ConvInteger",
     {width, width, 1},
     [](const std::string& from, const std::string& to) {
       return std::vector{node("ConvInteger", {from, "W"}, {to + "_sums"}),
                          node("Cast", {to + "_sums"}, {to}, {attr("to", std::int64_t{2})})};
     },
     DType::uint8,
     {1, width, 8}},
};

onnx_io::Model steps_of(const SharedCase& test, int count) {
  std::vector<onnx_io::Node> nodes;
  for (int i = 0; i < count; ++i) {
    for (onnx_io::Node& made : test.step("x" + std::to_string(i), "x" + std::to_string(i + 1)))
      nodes.push_back(std::move(made));
  }
  onnx_io::Model made = model(graph({"x0"}, std::move(nodes), {"x" + std::to_string(count)}), 20);
  made.graph.initializers.push_back({"W", ramp(test.dtype, Shape(test.weights))});
  made.graph.initializers.push_back({"B", ramp(DType::float32, Shape{width})});
  return made;
}

/// Bytes that a plan of so many steps holds beside its model.
std::size_t held_by(const SharedCase& test, int count) {
  const onnx_io::Model made = steps_of(test, count);
  const std::size_t before = memory::in_use();
  const auto plan = make_plan(made);
  return memory::in_use() - before;
}

class SharedWeights : public ::testing::TestWithParam<SharedCase> {};
class CountedWeights : public SharedWeights {};  // whose memory is counted: not that of 8-bit factors

TEST_P(CountedWeights, AreHeldOnce) {
  const std::size_t one = held_by(GetParam(), 1);
  EXPECT_GT(one, width * width) << "nothing was arranged";
  EXPECT_LT(held_by(GetParam(), 20), one + one / 4);
}

TEST_P(SharedWeights, GiveWhatTheyGiveAlone) {
  const Tensor x = ramp(GetParam().dtype, Shape(GetParam().input));
  const std::vector<Value> at_once = run(steps_of(GetParam(), 3), {x});
  const std::vector<Value> first = run(steps_of(GetParam(), 1), {x});
  const std::vector<Value> second = run(steps_of(GetParam(), 1), {first[0]});
  const std::vector<Value> third = run(steps_of(GetParam(), 1), {second[0]});
  const Tensor &a = at_once[0].tensor(), &b = third[0].tensor();
  ASSERT_EQ(a.byte_size(), b.byte_size());
  EXPECT_EQ(std::memcmp(a.raw(), b.raw(), a.byte_size()), 0);
}

std::string name_of(const ::testing::TestParamInfo<SharedCase>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Floats, SharedWeights, ::testing::ValuesIn(float_cases), name_of);
INSTANTIATE_TEST_SUITE_P(Bytes, SharedWeights, ::testing::ValuesIn(byte_cases), name_of);
INSTANTIATE_TEST_SUITE_P(Floats, CountedWeights, ::testing::ValuesIn(float_cases), name_of);

TEST(Arrangements, MakesWhatIsTheSameOnce) {
  Arrangements arrangements;
  const Tensor a = ramp(DType::float32, Shape{2, 3}), b = ramp(DType::float32, Shape{2, 3});
  int made = 0;
  const auto number = [&](std::vector<const Tensor*> of, std::vector<std::int64_t> by) {
    return *arrangements.get<int>(of, by, [&] { return std::make_shared<int>(made++); });
  };
  EXPECT_EQ(number({&a}, {1}), 0);
  EXPECT_EQ(number({&a, nullptr}, {1}), 1);
  EXPECT_EQ(number({&a, &b}, {1}), 2);
  EXPECT_EQ(number({&a}, {2}), 3);
  EXPECT_EQ(number({&b}, {1}), 4);
  const Tensor same_buffer = a, other_shape = a.reshaped(Shape{3, 2});
  EXPECT_EQ(number({&same_buffer}, {1}), 0);
  EXPECT_EQ(number({&other_shape}, {1}), 5);
  const auto other_kind = arrangements.get<long>({&a}, {1}, [] { return std::make_shared<long>(7); });
  EXPECT_EQ(*other_kind, 7);
}

// The same matrix as it is and transposed, with this row and that: each is another arrangement.
TEST(Arrangements, DistinguishesWhatTheyAreMadeBy) {
  std::vector<onnx_io::Node> nodes{node("Gemm", {"x", "W", "B"}, {"a"}),
                                   node("Gemm", {"a", "W", "B"}, {"b"}, {attr("transB", std::int64_t{1})}),
                                   node("Gemm", {"b", "W", "C"}, {"c"}), node("MatMul", {"c", "W"}, {"y"})};
  onnx_io::Model made = model(graph({"x"}, std::move(nodes), {"y"}), 20);
  made.graph.initializers.push_back({"W", Tensor::from(Shape{2, 2}, std::vector{1.f, 2.f, 3.f, 4.f})});
  made.graph.initializers.push_back({"B", Tensor::from(Shape{2}, std::vector{1.f, 0.f})});
  made.graph.initializers.push_back({"C", Tensor::from(Shape{2}, std::vector{0.f, 1.f})});
  // [1 1] W + B = [5 6]; [5 6] W' + B = [18 39]; [18 39] W + C = [135 193]; [135 193] W = [714 1042]
  const std::vector<Value> y = run(made, {Tensor::from(Shape{1, 2}, std::vector{1.f, 1.f})});
  EXPECT_EQ(as_floats(y[0]), (std::vector{714.f, 1042.f}));
}

}  // namespace
}  // namespace grurun::engine::testing
