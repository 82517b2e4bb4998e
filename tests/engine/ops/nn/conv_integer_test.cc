// ConvInteger and QLinearConv are exact however many terms a sum has.
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

using testing::attr;
using testing::run_node;

struct Row {
  Shape x, w;  // [N, C, D], [M, C/group, k]
  std::int64_t group, pad;
};

// 258 products of 255 * 255 are the most that float32 holds: sums of one channel's taps, of several parts of
// the channels, in groups, and of more taps than that in a single channel.
const Row rows[] = {
    {{1, 1, 5}, {1, 1, 3}, 1, 1},     {{2, 40, 9}, {5, 40, 7}, 1, 3},    {{1, 130, 20}, {33, 130, 4}, 1, 0},
    {{2, 6, 11}, {4, 3, 3}, 2, 1},    {{1, 200, 12}, {4, 100, 5}, 2, 2}, {{1, 2, 700}, {3, 2, 300}, 1, 10},
    {{1, 2, 400}, {2, 1, 259}, 2, 0}, {{1, 520, 3}, {2, 520, 1}, 1, 0},  {{2, 37, 19}, {74, 1, 3}, 37, 1}};

template <typename T>
Tensor bytes(const Shape& shape, bool extreme, std::mt19937& generator) {
  Tensor tensor(dtype_of<T>, shape);
  std::uniform_int_distribution<int> draw(0, 255);
  for (T& value : std::span(tensor.template mutable_data<T>(), static_cast<std::size_t>(tensor.size())))
    value = extreme ? std::numeric_limits<T>::max() : static_cast<T>(draw(generator));
  return tensor;
}

template <typename X, typename W>
std::vector<std::int32_t> by_definition(const Row& row, const Tensor& x, int x_zero, const Tensor& w,
                                        const std::vector<W>& w_zero) {
  const std::int64_t C = row.w[1], K = row.w[2], M = row.w[0], L = row.x[2], out = L + 2 * row.pad - K + 1;
  std::vector<std::int32_t> y;
  for (std::int64_t n = 0; n < row.x[0]; ++n) {
    for (std::int64_t m = 0; m < M; ++m) {
      const std::int64_t first = m / (M / row.group) * C;
      for (std::int64_t o = 0; o < out; ++o) {
        std::int64_t sum = 0;
        for (std::int64_t c = 0; c < C; ++c) {
          for (std::int64_t k = 0; k < K; ++k) {
            const std::int64_t i = o + k - row.pad;
            if (i < 0 || i >= L) continue;
            sum += (std::int64_t{x.data<X>()[(n * row.x[1] + first + c) * L + i]} - x_zero) *
                   (std::int64_t{w.data<W>()[(m * C + c) * K + k]} - w_zero[static_cast<std::size_t>(m)]);
          }
        }
        y.push_back(static_cast<std::int32_t>(sum));
      }
    }
  }
  return y;
}

template <typename X, typename W>
void expect_exact(X x_zero, bool extreme, bool constant) {
  std::mt19937 generator(3);
  for (const Row& row : rows) {
    const Tensor x = bytes<X>(row.x, extreme, generator), w = bytes<W>(row.w, extreme, generator);
    Tensor zeros = bytes<W>(Shape{row.w[0]}, false, generator);
    if (extreme) std::fill_n(zeros.mutable_data<W>(), zeros.size(), std::numeric_limits<W>::lowest());
    const testing::OneNode node{
        .op = "ConvInteger",
        .domain = "",
        .opset = 10,
        .inputs = {x, w, Tensor::scalar(x_zero), zeros},
        .attributes = {attr("group", row.group), attr("pads", std::vector<std::int64_t>{row.pad, row.pad})},
        .outputs = {true},
        .initializers = {false, constant, false, constant}};
    const std::vector<Value> outputs = run_node(node);
    const auto got = outputs[0].tensor().span<std::int32_t>();
    const auto of_filters = zeros.span<W>();
    EXPECT_EQ(std::vector<std::int32_t>(got.begin(), got.end()),
              (by_definition<X, W>(row, x, x_zero, w, {of_filters.begin(), of_filters.end()})))
        << row.x.to_string() << " " << row.w.to_string();
  }
}

TEST(ConvInteger, IsExactForEveryMixtureOfTypes) {
  expect_exact<std::uint8_t, std::uint8_t>(7, false, true);
  expect_exact<std::uint8_t, std::int8_t>(130, false, false);
  expect_exact<std::int8_t, std::uint8_t>(-4, false, true);
  expect_exact<std::int8_t, std::int8_t>(-128, false, false);
}

TEST(ConvInteger, IsExactWhereEveryProductIsTheLargest) {
  expect_exact<std::uint8_t, std::int8_t>(0, true, true);
  expect_exact<std::int8_t, std::uint8_t>(-128, true, false);
}

TEST(QLinearConv, AddsTheBiasToSumsThatWrap) {
  const auto one = [](float value) { return Tensor::scalar(value); };
  const Tensor x = Tensor::from(Shape{1, 1, 3}, std::vector<std::uint8_t>{200, 3, 255});
  const Tensor w = Tensor::from(Shape{2, 1, 1}, std::vector<std::int8_t>{100, -2});
  const Tensor bias = Tensor::from(Shape{2}, std::vector<std::int32_t>{-19'000, 2'147'483'647});
  const auto y = run_node("QLinearConv", "", 10,
                          {x, one(0.5f), Tensor::scalar<std::uint8_t>(1), w, one(1),
                           Tensor::scalar<std::int8_t>(0), one(64), Tensor::scalar<std::uint8_t>(10), bias},
                          {}, 1);
  // (199, 2, 254) * 100 - 19000 = 900, -18800, 6400; (199, 2, 254) * -2 + (2^31 - 1); all by 128, plus 10
  const auto got = y[0].tensor().span<std::uint8_t>();
  EXPECT_EQ(std::vector<int>(got.begin(), got.end()), (std::vector<int>{17, 0, 60, 255, 255, 255}));
}

// QLinearMatMul and QuantizeLinear, too.
TEST(QLinearConv, NanBecomesTheZeroPoint) {
  const auto one = [](float value) { return Tensor::scalar(value); };
  const float none = std::numeric_limits<float>::quiet_NaN();
  const auto zero = [](int value) { return Tensor::scalar(static_cast<std::uint8_t>(value)); };
  const Tensor x = Tensor::from(Shape{1, 1, 2}, std::vector<std::uint8_t>{3, 200});
  const Tensor w = Tensor::from(Shape{1, 1, 1}, std::vector<std::uint8_t>{2});
  const auto values = [](const Value& made) {
    const auto span = made.tensor().span<std::uint8_t>();
    return std::vector<int>(span.begin(), span.end());
  };
  const std::vector<Value> conv = {x, one(1), zero(0), w, one(1), zero(0), one(none), zero(7)};
  EXPECT_EQ(values(run_node("QLinearConv", "", 10, conv)[0]), (std::vector<int>{7, 7}));
  const Tensor row = x.reshaped(Shape{2, 1}), factor = w.reshaped(Shape{1, 1});
  const std::vector<Value> matmul = {row, one(1), zero(0), factor, one(1), zero(0), one(none), zero(7)};
  EXPECT_EQ(values(run_node("QLinearMatMul", "", 10, matmul)[0]), (std::vector<int>{7, 7}));
  const std::vector<Value> linear = {Tensor::from(Shape{2}, std::vector<float>{none, 300}), one(1), zero(7)};
  EXPECT_EQ(values(run_node("QuantizeLinear", "", 10, linear)[0]), (std::vector<int>{7, 255}));
}

}  // namespace
}  // namespace grurun::engine
