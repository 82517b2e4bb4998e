// Operators that convert 16-bit floats piece by piece: what they give is, bit by bit, what they give for the
// same numbers in float32, rounded once. And 8- and 16-bit integers in Einsum, which are computed in int32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/ops/shared/cast.h"
#include "tests/engine/one_node.h"

namespace grurun::engine::testing {
namespace {

struct NarrowCase {
  std::string name, op;
  std::int64_t opset;
  std::vector<Tensor> inputs;  // those of float32 are converted
  Attributes attributes = {};
};

Tensor waves(Shape shape, double size = 3) {
  Tensor x(DType::float32, std::move(shape));
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.mutable_data<float>()[i] = static_cast<float>(size * std::sin(0.7 * static_cast<double>(i)));
  return x;
}

Tensor places(const std::vector<std::int64_t>& values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values));
}

std::vector<NarrowCase> narrow_cases() {
  std::vector<NarrowCase> all;
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceProd"}) {
    const std::int64_t opset = std::string(op) == "ReduceSum" ? 13 : 18;
    all.push_back({"last", op, opset, {waves({3, 101}, 1), places({1})}});
    all.push_back({"first", op, opset, {waves({5, 301}, 1), places({0})}});
    all.push_back({"middle", op, opset, {waves({3, 7, 33}, 1), places({1})}});
    all.push_back({"short", op, opset, {waves({131, 7}, 1), places({1})}});
    all.push_back({"two axes", op, opset, {waves({4, 3, 70}, 1), places({0, 2})}});
  }
  for (const char* op : {"LogSoftmax", "Hardmax"}) {
    for (const int axis : {0, 1, 2})
      all.push_back({"axis " + std::to_string(axis), op, 13, {waves({5, 19, 301})}, {attr("axis", axis)}});
  }
  for (const int axis : {1, 2}) {
    for (const int p : {1, 2})
      all.push_back(
          {"norms", "LpNormalization", 22, {waves({3, 9, 40})}, {attr("axis", axis), attr("p", p)}});
  }
  const Attributes window = {attr("kernel_shape", std::vector<std::int64_t>{3, 3}),
                             attr("pads", std::vector<std::int64_t>{1, 1, 1, 1})};
  all.push_back({"pads", "AveragePool", 22, {waves({2, 3, 19, 17})}, window});
  all.push_back({"pads", "LpPool", 22, {waves({2, 3, 9, 17})}, window});
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    all.push_back({"planes", op, 22, {waves({2, 3, 9, 17})}});
  const Tensor channels = waves({6}), variances = Tensor::from<float>(Shape{6}, std::vector<float>(6, 1.5f));
  for (const Shape& shape : {Shape{2, 6, 5, 7}, Shape{9, 6}})
    all.push_back(
        {"channels", "BatchNormalization", 15, {waves(shape), channels, channels, channels, variances}});
  for (const std::int64_t stride : {1, 2}) {
    all.push_back({"blocks",
                   "Col2Im",
                   18,
                   {waves({2, 12, stride == 1 ? 12 : 4}), places({5, 4}), places({2, 2})},
                   {attr("strides", std::vector<std::int64_t>{stride, stride})}});
  }
  for (const char* equation : {"bij,bjk->bik", "ii->i", "ij->ji", "ij->j", "i,j->ij", "bij,bij->b"}) {
    const std::string text = equation;
    const Shape shape = text.starts_with("i,") ? Shape{9} : text[0] == 'b' ? Shape{3, 20, 20} : Shape{12, 12};
    const std::vector<Tensor> inputs(text.find(',') == text.npos ? 1 : 2, waves(shape));
    all.push_back({text, "Einsum", 28, inputs, {attr("equation", equation)}});
  }
  for (const int interleaved : {0, 1}) {
    all.push_back({"pairs",
                   "RotaryEmbedding",
                   23,
                   {waves({2, 3, 5, 14}), waves({2, 5, 7}), waves({2, 5, 7})},
                   {attr("interleaved", interleaved)}});
  }
  for (const char* op : {"Relu", "HardSigmoid", "HardSwish", "LeakyRelu", "ThresholdedRelu", "IsNaN"})
    all.push_back({"all",
                   op,
                   op[0] == 'R'   ? 14
                   : op[0] == 'L' ? 16
                   : op[0] == 'I' ? 20
                                  : 22,
                   {waves({1003})}});
  all.push_back({"scalar", "PRelu", 16, {waves({7, 33}), waves({1})}});
  all.push_back({"row", "PRelu", 16, {waves({7, 33}), waves({33})}});
  all.push_back({"column", "Mul", 14, {waves({7, 33}), waves({7, 1})}});
  all.push_back({"one of one", "Div", 14, {waves({1}), waves({1}, 2)}});
  all.push_back({"three", "Min", 13, {waves({7, 33}), waves({33}), waves({7, 1})}});
  for (const DType to : {DType::int8, DType::uint8, DType::int16, DType::int32, DType::int64, DType::boolean})
    all.push_back({dtype_name(to), "Cast", 21, {waves({1003}, 700)}, {attr("to", static_cast<int>(to))}});
  return all;
}

TEST(ElementTypes, HalvesAreFloatsRoundedOnce) {
  for (const NarrowCase& each : narrow_cases()) {
    for (const DType half : {DType::float16, DType::bfloat16}) {
      SCOPED_TRACE(each.op + ", " + each.name + ", " + std::string(dtype_name(half)));
      std::vector<Value> narrow, wide;
      for (const Tensor& input : each.inputs) {
        const bool is_float = input.dtype() == DType::float32;
        narrow.emplace_back(is_float ? cast_tensor(input, half) : input);
        wide.emplace_back(is_float ? cast_tensor(narrow.back().tensor(), DType::float32) : input);
      }
      const Tensor made = run_node(each.op, "", each.opset, narrow, each.attributes)[0].tensor();
      const Tensor exact = run_node(each.op, "", each.opset, wide, each.attributes)[0].tensor();
      const Tensor expected = exact.dtype() == DType::float32 ? cast_tensor(exact, half) : exact;
      ASSERT_EQ(made.dtype(), expected.dtype());
      ASSERT_EQ(made.shape(), expected.shape());
      const auto bytes = static_cast<std::size_t>(made.size()) * dtype_size(made.dtype());
      EXPECT_EQ(std::memcmp(made.raw(), expected.raw(), bytes), 0);
    }
  }
}

TEST(ElementTypes, SmallIntegersHaveTheLowBitsOfInt32) {
  for (const char* equation : {"bij,bjk->bik", "bij,bkl->bijkl", "bij,bij->b"}) {
    for (const DType small : {DType::int8, DType::uint8, DType::int16, DType::uint16}) {
      const Tensor x = cast_tensor(waves({2, 9, 9}, 120), small), wide = cast_tensor(x, DType::int32);
      const Tensor made = run_node("Einsum", "", 12, {x, x}, {attr("equation", equation)})[0].tensor();
      const Tensor exact = run_node("Einsum", "", 12, {wide, wide}, {attr("equation", equation)})[0].tensor();
      const Tensor expected = cast_tensor(exact, small);
      ASSERT_EQ(made.dtype(), small);
      const auto bytes = static_cast<std::size_t>(made.size()) * dtype_size(small);
      EXPECT_EQ(std::memcmp(made.raw(), expected.raw(), bytes), 0) << equation << ' ' << dtype_name(small);
    }
  }
}

// Numbers beside ties of 16-bit floats, which a detour through float would round twice.
template <typename From>
std::vector<From> near_ties() {
  std::vector<From> values;
  for (const double tie :
       {1 + 0x1p-11, 1 + 0x1p-9, 2049.0, 4098.0, 0x1p-25, 3 * 0x1p-25, 65520.0, 257.0, 0x1p127}) {
    for (const double off : {0.0, 0x1p-40, -0x1p-40}) {
      for (const double sign : {1.0, -1.0}) {
        if (std::is_floating_point_v<From> || tie < 0x1p20)
          values.push_back(static_cast<From>(sign * tie * (1 + off)));
      }
    }
  }
  for (const double large :
       {0x1.004p40 + 1, 0x1.004p40 - 1, 0x1.01p60 + 1024, -0x1.01p60 - 1024, 0x1.008p30 + 1})
    values.push_back(static_cast<From>(std::is_same_v<From, std::int32_t> ? large / 0x1p32 : large));
  if constexpr (std::is_floating_point_v<From>) {
    for (const double special : {0.0, -0.0, 1e300, -1e300, 1e-300, 5e-324, HUGE_VAL})
      values.push_back(special);
  }
  return values;
}

template <typename From, typename Half>
void check_cast_to_half() {
  const std::vector<From> values = near_ties<From>();
  const Tensor x =
      Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, std::span<const From>(values));
  const Tensor made = cast_tensor(x, dtype_of<Half>);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(made.data<Half>()[i].bits, Half(values[i]).bits) << static_cast<double>(values[i]);
}

TEST(ElementTypes, CastsToHalvesRoundOnce) {
  check_cast_to_half<double, Float16>();
  check_cast_to_half<double, BFloat16>();
  check_cast_to_half<std::int32_t, Float16>();
  check_cast_to_half<std::int32_t, BFloat16>();
}

template <typename Half>
void check_quantized_halves() {
  constexpr std::int64_t rows = 3, columns = 601;
  const Tensor x = cast_tensor(waves({rows, columns}, 40), dtype_of<Half>);
  const Tensor scale =
      cast_tensor(Tensor::from(Shape{rows}, std::vector<float>{0.3f, 0.07f, 1.9f}), dtype_of<Half>);
  const Tensor zero = Tensor::from(Shape{rows}, std::vector<std::int8_t>{3, -7, 0});
  const Tensor y = run_node("QuantizeLinear", "", 21, {x, scale, zero}, {attr("axis", 0)})[0].tensor();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t row = i / columns;
    const double quotient = double{x.data<Half>()[i]} / double{scale.data<Half>()[row]};
    const double rounded = std::nearbyint(double{Half(quotient)}) + zero.data<std::int8_t>()[row];
    EXPECT_EQ(y.data<std::int8_t>()[i], std::min(127.0, std::max(-128.0, rounded))) << i;
  }
}

TEST(ElementTypes, HalvesAreQuantizedByQuotientsOfTheirType) {
  check_quantized_halves<Float16>();
  check_quantized_halves<BFloat16>();
}

}  // namespace
}  // namespace grurun::engine::testing
