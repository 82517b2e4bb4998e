#include "trial/distribution.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/engine/one_node.h"

namespace grurun::trial {
namespace {

using engine::testing::attr;

template <typename T, typename Draw>
Tensor draw(std::int64_t count, Draw&& next) {
  Tensor out(dtype_of<T>, Shape{count});
  for (std::int64_t i = 0; i < count; ++i) out.mutable_data<T>()[i] = static_cast<T>(next(i));
  return out;
}

struct Origin {
  onnx_io::Node node;
  RandomOrigin origin;

  Origin(const std::string& type, engine::testing::Attributes attributes, std::vector<Tensor> inputs,
         std::size_t output = 0) {
    node.op_type = type;
    node.attributes = std::move(attributes);
    for (std::size_t i = 0; i < inputs.size(); ++i) node.inputs.push_back("in_" + std::to_string(i));
    origin = {type, &node, output, std::move(inputs)};
  }
};

std::string check(const Origin& of, const Tensor& actual) {
  return check_distribution(of.origin, actual, actual);
}

std::mt19937 generator(7);

TEST(Distribution, Uniform) {
  const Origin of("RandomUniform", {attr("low", 2.0f), attr("high", 4.0f)}, {});
  const auto uniform = [](float low, float high) {
    return draw<float>(1000,
                       [=](auto) { return std::uniform_real_distribution<float>(low, high)(generator); });
  };
  EXPECT_EQ(check(of, uniform(2, 4)), "");
  EXPECT_NE(check(of, uniform(2, 3)), "");        // mean
  EXPECT_NE(check(of, uniform(2.8f, 3.2f)), "");  // variance
  EXPECT_NE(check(of, uniform(0, 6)), "");        // support
}

TEST(Distribution, Normal) {
  const Origin of("RandomNormalLike", {attr("mean", 1.0f), attr("scale", 3.0f)}, {});
  const auto normal = [](double mean, double scale) {
    return draw<double>(1000, [=](auto) { return std::normal_distribution<double>(mean, scale)(generator); });
  };
  EXPECT_EQ(check(of, normal(1, 3)), "");
  EXPECT_NE(check(of, normal(2, 3)), "");
  EXPECT_NE(check(of, normal(1, 1)), "");
  EXPECT_NE(check(of, draw<double>(3, [](auto) { return std::nan(""); })), "");
}

TEST(Distribution, Bernoulli) {
  const Tensor p = draw<float>(400, [](auto i) { return i % 4 == 0 ? 0.0f : i % 4 == 1 ? 1.0f : 0.25f; });
  const Origin of("Bernoulli", {}, {p});
  const auto sample = [&](float scale) {
    return draw<float>(400, [&](auto i) {
      const float chance = p.data<float>()[i];
      return chance == 0 || chance == 1                             ? chance
             : std::bernoulli_distribution(scale * 0.25)(generator) ? 1.0f
                                                                    : 0.0f;
    });
  };
  EXPECT_EQ(check(of, sample(1)), "");
  EXPECT_NE(check(of, sample(3)), "");
  Tensor certain = sample(1);
  certain.mutable_data<float>()[0] = 1;  // its probability is 0
  EXPECT_NE(check(of, certain), "");
  certain.mutable_data<float>()[0] = 0.5f;
  EXPECT_NE(check(of, certain), "");
}

TEST(Distribution, Multinomial) {
  const float never = -std::numeric_limits<float>::infinity();
  const Tensor logits = Tensor::from<float>({2, 3}, std::vector<float>{0, 0, 0, 1, 1, never});
  const Origin of("Multinomial", {}, {logits});
  const auto drawn = [&](auto of_row_0, auto of_row_1) {
    return check(of, draw<std::int32_t>(2000, [&](auto i) { return i < 1000 ? of_row_0(i) : of_row_1(i); }));
  };
  const auto three = [](auto i) { return i % 3; };
  const auto two = [](auto i) { return i % 2; };
  EXPECT_EQ(drawn(three, two), "");
  EXPECT_NE(drawn([](auto i) { return i % 4; }, two), "");  // no class
  EXPECT_NE(drawn([](auto) { return 0; }, two), "");        // too often
  EXPECT_NE(drawn(three, three), "");                       // never drawn
  EXPECT_NE(check(of, draw<std::int64_t>(2, [](auto) { return -1; })), "");
  EXPECT_NE(check(Origin("Multinomial", {}, {Tensor()}), draw<std::int64_t>(2, [](auto) { return -1; })), "");
}

TEST(Distribution, TheExpectedSampleMustLieWithinTheSupportToo) {
  const auto floats = [](std::vector<float> values) {
    return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
  };
  const auto longs = [](std::vector<std::int64_t> values) {
    return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
  };
  const float nan = std::nanf(""), never = -std::numeric_limits<float>::infinity();
  const Tensor x = floats({1, -2, 3});
  const Tensor logits = Tensor::from<float>({1, 3}, std::vector<float>{0, 0, never});
  const struct {
    Origin of;
    Tensor actual, expected;
    const char* found;
  } rows[] = {
      {Origin("RandomUniform", {}, {}), floats({0.5f}), floats({1}), ""},
      {Origin("RandomUniform", {}, {}), floats({0.5f}), floats({1.5f}),
       "the expected sample: 1.5 lies outside [0, 1]"},
      {Origin("RandomUniformLike", {attr("low", -1.0f)}, {x}), floats({0, 0, 0}), floats({0, nan, 0}),
       "the expected sample: nan lies outside [-1, 1]"},
      {Origin("RandomNormal", {}, {}), floats({0.5f}), floats({9}), ""},
      {Origin("RandomNormal", {}, {}), floats({0.5f}), floats({-never}),
       "the expected sample: inf is no normal deviate"},
      {Origin("Bernoulli", {}, {floats({0.5f, 0})}), floats({0, 0}), floats({1, 0}), ""},
      {Origin("Bernoulli", {}, {floats({0.5f, 0})}), floats({0, 0}), floats({2, 0}),
       "the expected sample: 2 is neither 0 nor 1"},
      {Origin("Bernoulli", {}, {floats({0.5f, 0})}), floats({0, 0}), floats({0, 1}),
       "the expected sample: 1 where the probability of 1 is 0"},
      {Origin("Multinomial", {}, {logits}), longs({0, 1}), longs({1, 1}), ""},
      {Origin("Multinomial", {}, {logits}), longs({0, 1}), longs({0, 3}),
       "the expected sample: row 0: 3 is no class number below 3"},
      {Origin("Multinomial", {}, {logits}), longs({0, 1}), longs({0, 2}),
       "the expected sample: row 0: class 2 is drawn, whose probability is 0"},
      {Origin("Dropout", {}, {x}), floats({2, 0, 6}), floats({0, -4, 6}), ""},
      {Origin("Dropout", {}, {x}), floats({2, 0, 6}), floats({0, -2, 6}),
       "the expected sample: -2 is neither 0 nor 2 times the input's -2"},
      {Origin("Dropout", {}, {x}, 1), floats({1, 0, 1}), floats({1, 0.5f, 1}),
       "the expected sample: mask value 0.5 is neither 0 nor 1"},
  };
  for (const auto& row : rows) {
    RandomOrigin origin = row.of.origin;
    origin.node = &row.of.node;
    EXPECT_EQ(check_distribution(origin, row.actual, row.expected), row.found);
  }
}

TEST(Distribution, NarrowTypesMayRoundOutOfTheRange) {
  const Origin of("RandomUniform", {attr("low", 0.1f), attr("high", 0.3f)}, {});
  const auto uniform = [](float high) {
    return draw<BFloat16>(1000,
                          [=](auto) { return std::uniform_real_distribution<float>(0.1f, high)(generator); });
  };
  EXPECT_EQ(check(of, uniform(0.3f)), "");
  EXPECT_NE(check(of, uniform(0.31f)), "");
}

TEST(Distribution, DropoutKeepsScaledValuesAndTheRightShare) {
  const Tensor x = draw<float>(1000, [](auto i) { return static_cast<float>(i) - 500; });
  const auto drop = [&](float ratio, float scale) {
    return draw<float>(1000, [&](auto i) {
      return std::bernoulli_distribution(ratio)(generator) ? 0.0f : x.data<float>()[i] * scale;
    });
  };
  const Origin of("Dropout", {}, {x, Tensor::scalar(0.75f), Tensor::scalar(true)});
  EXPECT_EQ(check(of, drop(0.75f, 4)), "");
  EXPECT_NE(check(of, drop(0.75f, 1)), "");
  EXPECT_NE(check(of, drop(0.5f, 4)), "");
  EXPECT_NE(check(of, x), "");

  const Origin mask("Dropout", {}, {x, Tensor::scalar(0.75f), Tensor::scalar(true)}, 1);
  const auto kept = [](double share) {
    return draw<bool>(1000, [=](auto) { return std::bernoulli_distribution(share)(generator); });
  };
  EXPECT_EQ(check(mask, kept(0.25)), "");
  EXPECT_NE(check(mask, kept(0.75)), "");
}

TEST(Distribution, WhatIsComputedFromRandomValuesIsLikeTheSample) {
  const RandomOrigin derived{"RandomNormal", nullptr, 0, {}};
  const auto normal = [](float mean) {
    return draw<float>(200, [=](auto) { return std::normal_distribution<float>(mean, 1)(generator); });
  };
  EXPECT_EQ(check_distribution(derived, normal(0), normal(0)), "");
  EXPECT_NE(check_distribution(derived, normal(2), normal(0)), "");
  const Tensor loss = Tensor::from<float>({}, {2.43f});
  EXPECT_EQ(check_distribution(derived, loss, Tensor::from<float>({}, {2.36f})), "");
  const auto coin = [](auto) { return std::bernoulli_distribution(0.5)(generator) ? 1.0f : 0.0f; };
  EXPECT_EQ(check_distribution(derived, draw<float>(10, coin), draw<float>(10, coin)), "");
  EXPECT_NE(check_distribution(derived, draw<float>(10, [](auto) { return 0.5f; }), draw<float>(10, coin)),
            "");
  EXPECT_NE(check_distribution(derived, draw<float>(10, [](auto) { return std::nanf(""); }), normal(0)), "");
}

}  // namespace
}  // namespace grurun::trial
