#include "trial/random_tensor.h"

#include <gtest/gtest.h>

#include <set>

#include "tensor/element_text.h"

namespace grurun::trial {
namespace {

TEST(RandomTensor, EveryTypeCanBeFilled) {
  for (int number = 1; number < dtype_count; ++number) {
    const auto dtype = static_cast<DType>(number);
    RandomBits bits(1);
    const std::optional<Tensor> tensor = random_tensor(dtype, {50}, default_range(dtype), bits);
    ASSERT_TRUE(tensor) << dtype_name(dtype);
    EXPECT_EQ(tensor->dtype(), dtype);
    std::set<std::string> values;
    for (std::int64_t i = 0; i < tensor->size(); ++i) values.insert(element_text(*tensor, i, 0));
    EXPECT_GE(values.size(), 2u) << dtype_name(dtype);
  }
}

TEST(RandomTensor, TheSeedDecides) {
  const auto draw = [](std::uint64_t seed) {
    RandomBits bits(seed);
    return element_text(*random_tensor(DType::float64, {}, {0, 1}, bits), 0, 0);
  };
  EXPECT_EQ(draw(3), draw(3));
  EXPECT_NE(draw(3), draw(4));
  // The same on every machine and in every release: people keep seeds.
  EXPECT_EQ(draw(0), "0.8833108082136426");
}

TEST(RandomTensor, IntegersReachBothEndsAndNoFurther) {
  RandomBits bits(7);
  const Tensor tensor = *random_tensor(DType::int32, {1000}, {-2.5, 3.9}, bits);
  std::set<std::int32_t> values(tensor.data<std::int32_t>(), tensor.data<std::int32_t>() + 1000);
  EXPECT_EQ(values, (std::set<std::int32_t>{-2, -1, 0, 1, 2, 3}));
}

TEST(RandomTensor, FloatsStayInTheRange) {
  RandomBits bits(7);
  const Tensor tensor = *random_tensor(DType::float32, {1000}, {2, 3}, bits);
  for (const float value : tensor.span<float>()) EXPECT_TRUE(value >= 2 && value <= 3) << value;
}

TEST(RandomTensor, WhatIsBeyondTheTypeIsNeverDrawn) {
  for (int number = 1; number < dtype_count; ++number) {
    const auto dtype = static_cast<DType>(number);
    RandomBits bits(3);
    const std::optional<Tensor> tensor = random_tensor(dtype, {50}, {-1e300, 1e300}, bits);
    ASSERT_TRUE(tensor) << dtype_name(dtype);
    if (dtype == DType::string) continue;
    for (std::int64_t i = 0; i < tensor->size(); ++i) {
      const std::string text = element_text(*tensor, i, 0);
      EXPECT_EQ(text.find("inf"), text.npos) << dtype_name(dtype);
      EXPECT_EQ(text.find("nan"), text.npos) << dtype_name(dtype);
    }
  }
}

TEST(RandomTensor, IntegersOf64BitsAreExact) {
  RandomBits bits(3);
  const auto one = [&](DType dtype, long double number) {
    return element_text(*random_tensor(dtype, {}, {number, number}, bits), 0, 0);
  };
  EXPECT_EQ(one(DType::int64, 9007199254740993), "9007199254740993");
  EXPECT_EQ(one(DType::int64, 9223372036854775807), "9223372036854775807");
  EXPECT_EQ(one(DType::int64, -9223372036854775807), "-9223372036854775807");
  EXPECT_EQ(one(DType::uint64, 18446744073709551615u), "18446744073709551615");
  EXPECT_EQ(describe_draw(DType::uint64, {1, 1e300L}), "uniform in [1, 18446744073709551615]");
}

TEST(RandomTensor, ARangeWithoutAValueOfTheTypeIsRefused) {
  RandomBits bits(7);
  EXPECT_FALSE(random_tensor(DType::int64, {1}, {0.2, 0.8}, bits));
  EXPECT_FALSE(random_tensor(DType::uint8, {1}, {-5, -1}, bits));
  EXPECT_FALSE(random_tensor(DType::uint4, {1}, {16, 20}, bits));
  EXPECT_FALSE(random_tensor(DType::float8e8m0, {1}, {-2, -1}, bits));
  EXPECT_TRUE(random_tensor(DType::uint64, {1}, {0, 1e300}, bits));
  EXPECT_TRUE(random_tensor(DType::int64, {1}, {-1e300, 1e300}, bits));
}

}  // namespace
}  // namespace grurun::trial
