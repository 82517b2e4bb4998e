// Quantized values as floats and back.
#include "trial/quantized.h"

#include <gtest/gtest.h>

#include "tests/opset/model_text.h"
#include "trial/weight_relation.h"

namespace grurun::trial {
namespace {

TEST(Quantized, FloatsAndBackByTensorAndByAxis) {
  const Quantization whole{Tensor::scalar(0.5f), Tensor::scalar<std::uint8_t>(3), 1};
  const Value floats =
      dequantized(Value(Tensor::from(Shape{3}, std::vector<std::uint8_t>{0, 3, 255})), whole);
  EXPECT_EQ(dequantized(floats, whole).tensor().dtype(), DType::float32);  // these are none
  EXPECT_EQ(numbers_of(floats.tensor()), (std::vector<double>{-1.5, 0, 126}));
  EXPECT_EQ(numbers_of(quantized(floats, whole, DType::uint8).tensor()), (std::vector<double>{0, 3, 255}));
  const Quantization rows{Tensor::from(Shape{2}, std::vector<float>{1, 10}), std::nullopt, 0};
  EXPECT_EQ(dequantized(Tensor::from(Shape{2, 2}, std::vector<std::int8_t>{1, 2, 3, -4}), rows),
            (std::vector<double>{1, 2, 30, -40}));
}

TEST(Quantized, NumbersOutsideTheRangeStopAtItsEnds) {
  const Quantization by{Tensor::scalar(1.0f), Tensor::scalar<std::int8_t>(0), 1};
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Tensor floats = Tensor::from(Shape{5}, std::vector<float>{1e30f, -1e30f, 0.5f, 1.5f, none});
  EXPECT_EQ(numbers_of(quantized(Value(floats), by, DType::int8).tensor()),
            (std::vector<double>{127, -128, 0, 2, 0}));
}

TEST(Quantized, ValuesThatAreAndThoseThatMoveThem) {
  const auto model =
      model_from_text(R"(<ir_version: 8, opset_import: ["" : 18]> g (float[2,3] x) => (uint8[3,2] y)
    <float s = {0.5}, uint8 z = {3}> { q = QuantizeLinear(x, s, z) y = Transpose(q) n = Neg(x) })");
  const Quantizations found(model.graph);
  ASSERT_NE(found.find("y"), nullptr);
  EXPECT_EQ(*found.find("y")->scale.data<float>(), 0.5f);
  EXPECT_EQ(found.find("n"), nullptr);
  EXPECT_EQ(found.find("x"), nullptr);
}

TEST(WeightRelation, WhatOneIsToTheOther) {
  const Tensor a = Tensor::from(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto text = [&](const Shape& shape, const std::vector<float>& values) {
    return weight_relation(a, Tensor::from(shape, values)).text;
  };
  EXPECT_TRUE(weight_relation(a, a).is_equal);
  EXPECT_EQ(text({3, 2}, {1, 4, 2, 5, 3, 6}), "transposed, perm 1, 0");
  EXPECT_EQ(text({2, 3}, {4, 5, 6, 1, 2, 3}), "rows in the order 1, 0");
  EXPECT_EQ(text({6}, {1, 2, 3, 4, 5, 6}), "reshaped from [2,3] to [6]");
  EXPECT_EQ(text({2, 3}, {2, 4, 6, 8, 10, 12}), "scaled by 2");
  EXPECT_EQ(text({2, 3}, {1, 2, 3, 4, 5, 7}), "1 of 6 elements differ, by at most 1, cosine 0.997090");
  EXPECT_EQ(weight_relation(a, Tensor::from(Shape{2, 3}, std::vector<std::int8_t>{2, 4, 6, 8, 10, 12}),
                            Quantization{Tensor::scalar(0.5f), std::nullopt, 1})
                .text,
            "quantized to int8, scale 0.5: off by at most 0");
}

}  // namespace
}  // namespace grurun::trial
