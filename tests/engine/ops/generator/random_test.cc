#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/dispatch.h"
#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

std::vector<double> doubles(const Tensor& tensor) {
  return dispatch(Join<Numbers, TypeList<bool>>{}, tensor.dtype(), [&]<typename T>() {
    std::vector<double> out;
    for (const T value : tensor.span<T>()) out.push_back(static_cast<double>(value));
    return out;
  });
}

struct Moments {
  double mean = 0, deviation = 0, lowest = 0, highest = 0;
};

Moments moments(const Tensor& tensor) {
  const std::vector<double> values = doubles(tensor);
  Moments out{0, 0, values.front(), values.front()};
  for (const double value : values) {
    out.mean += value / static_cast<double>(values.size());
    out.lowest = std::min(out.lowest, value);
    out.highest = std::max(out.highest, value);
  }
  for (const double value : values) out.deviation += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(out.deviation / static_cast<double>(values.size()));
  return out;
}

int number_of(DType dtype) {
  return static_cast<int>(dtype);
}

const std::vector<std::int64_t> large = {40, 250};

Tensor draw(const std::string& op, std::int64_t opset, std::vector<Value> inputs, Attributes attributes,
            std::uint64_t seed = 0) {
  RunOptions options;
  options.seed = seed;
  const OneNode one{.op = op,
                    .domain = "",
                    .opset = opset,
                    .inputs = std::move(inputs),
                    .attributes = std::move(attributes)};
  return run_node(one, options)[0].tensor();
}

TEST(Random, UniformFillsItsRangeInEveryType) {
  for (const std::int64_t opset : {1, 21, 22, 25}) {
    for (const DType dtype : {DType::float16, DType::float32, DType::float64, DType::bfloat16}) {
      if (dtype == DType::bfloat16 && opset < 22) continue;
      const Attributes range = {attr("low", -1.0f), attr("high", 3.0f)};
      Attributes with_shape = range;
      with_shape.push_back(attr("shape", large));
      with_shape.push_back(attr("dtype", number_of(dtype)));
      const Tensor like = Tensor(dtype, Shape(large));
      for (const Tensor& y :
           {draw("RandomUniform", opset, {}, with_shape), draw("RandomUniformLike", opset, {like}, range)}) {
        ASSERT_EQ(y.dtype(), dtype);
        ASSERT_EQ(y.shape(), Shape(large));
        const Moments found = moments(y);
        EXPECT_GE(found.lowest, -1);
        EXPECT_LE(found.highest, 3);
        EXPECT_NEAR(found.mean, 1, 0.08) << dtype_name(dtype);
        EXPECT_NEAR(found.deviation, 4 / std::sqrt(12), 0.05) << dtype_name(dtype);
      }
    }
  }
}

TEST(Random, UniformStaysBelowOneInNarrowTypes) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32}) {
    const Tensor y =
        draw("RandomUniform", 22, {},
             {attr("shape", std::vector<std::int64_t>{200000}), attr("dtype", number_of(dtype))});
    EXPECT_LT(moments(y).highest, 1) << dtype_name(dtype);
    EXPECT_GE(moments(y).lowest, 0) << dtype_name(dtype);
  }
}

TEST(Random, UniformTakesTheWidestRange) {
  const float most = std::numeric_limits<float>::max();
  const Tensor y =
      draw("RandomUniform", 22, {}, {attr("shape", large), attr("low", -most), attr("high", most)});
  EXPECT_TRUE(std::isfinite(moments(y).mean));
  EXPECT_GT(moments(y).highest, 0.9 * static_cast<double>(most));
}

TEST(Random, NormalHasItsMoments) {
  for (const DType dtype : {DType::float16, DType::float32, DType::float64, DType::bfloat16}) {
    const Attributes law = {attr("mean", 2.0f), attr("scale", 0.5f), attr("dtype", number_of(dtype))};
    Attributes with_shape = law;
    with_shape.push_back(attr("shape", large));
    for (const Tensor& y : {draw("RandomNormal", 22, {}, with_shape),
                            draw("RandomNormalLike", 22, {Tensor(DType::string, Shape(large))}, law)}) {
      ASSERT_EQ(y.dtype(), dtype);
      const Moments found = moments(y);
      EXPECT_NEAR(found.mean, 2, 0.04) << dtype_name(dtype);
      EXPECT_NEAR(found.deviation, 0.5, 0.03) << dtype_name(dtype);
      EXPECT_GT(found.highest, 3);
    }
  }
}

TEST(Random, DefaultsAndEmptyShapes) {
  const Tensor scalar = draw("RandomNormal", 1, {}, {attr("shape", std::vector<std::int64_t>{})});
  EXPECT_EQ(scalar.dtype(), DType::float32);
  EXPECT_EQ(scalar.shape(), Shape{});
  EXPECT_EQ(draw("RandomUniform", 22, {}, {attr("shape", std::vector<std::int64_t>{2, 0})}).shape(),
            (Shape{2, 0}));
  const Tensor same = draw("RandomUniform", 22, {}, {attr("shape", large), attr("low", 1.0f)});
  EXPECT_EQ(moments(same).lowest, 1);
  EXPECT_EQ(moments(same).highest, 1);
}

TEST(Random, TheSeedAttributeDecidesElseTheRunsSeed) {
  const Tensor p = Tensor::from<float>({1, 40}, std::vector<float>(40, 0.5f));
  const std::vector<std::pair<std::string, std::vector<Value>>> ops = {
      {"RandomUniform", {}},     {"RandomNormal", {}}, {"RandomUniformLike", {p}},
      {"RandomNormalLike", {p}}, {"Bernoulli", {p}},   {"Multinomial", {p}},
  };
  for (const auto& [op, inputs] : ops) {
    Attributes own;
    if (inputs.empty()) own.push_back(attr("shape", std::vector<std::int64_t>{1, 40}));
    if (op == "Multinomial") own.push_back(attr("sample_size", 40));
    Attributes seeded = own;
    seeded.push_back(attr("seed", 1.5f));
    Attributes otherwise = own;
    otherwise.push_back(attr("seed", 2.5f));
    const auto values = [&, op = op, inputs = inputs](const Attributes& attributes, std::uint64_t seed) {
      return doubles(draw(op, 22, inputs, attributes, seed));
    };
    EXPECT_EQ(values(seeded, 1), values(seeded, 2)) << op;
    EXPECT_NE(values(seeded, 1), values(otherwise, 1)) << op;
    EXPECT_EQ(values(own, 1), values(own, 1)) << op;
    EXPECT_NE(values(own, 1), values(own, 2)) << op;
  }
}

// numpy.random.RandomState(seed).uniform(0, 1, 12) >= 0.5.
TEST(Random, DropoutWithASeedKeepsWhatTheReferenceKeeps) {
  const Tensor x = vec<double>(std::vector<double>(12, 1));
  const Tensor training = Tensor::scalar<bool>(true);
  const auto kept = [&](std::int64_t version, const Attributes& seed) {
    return doubles(draw("Dropout", version, {x, Value(), training}, seed));
  };
  for (const std::int64_t version : {12, 13, 22}) {
    EXPECT_EQ(kept(version, {attr("seed", 7)}), (std::vector<double>{0, 2, 0, 2, 2, 2, 2, 0, 0, 0, 2, 2}));
    EXPECT_EQ(kept(version, {attr("seed", 4294967295)}),
              (std::vector<double>{0, 2, 2, 2, 0, 2, 2, 0, 2, 2, 2, 0}));
  }
  EXPECT_EQ(kept(22, {attr("seed", -1)}), kept(22, {attr("seed", -1)}));
  EXPECT_NE(kept(22, {attr("seed", -1)}), kept(22, {attr("seed", 4294967296)}));
}

TEST(Random, BernoulliDrawsOnesWithTheProbabilityOfTheInput) {
  std::vector<double> p(9000);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 0.25;
  const std::vector<Tensor> inputs = {vec<float>(p), vec<double>(p), vec<Float16>(p), vec<BFloat16>(p)};
  for (const Tensor& input : inputs) {
    if (input.dtype() != DType::bfloat16) {
      EXPECT_EQ(draw("Bernoulli", 15, {input}, {}).dtype(), input.dtype());
    }
    for (const DType dtype :
         {DType::boolean, DType::int8, DType::uint64, DType::float16, DType::bfloat16, DType::float64}) {
      const Tensor y = draw("Bernoulli", 22, {input}, {attr("dtype", number_of(dtype))});
      ASSERT_EQ(y.dtype(), dtype);
      const std::vector<double> drawn = doubles(y);
      double ones = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        ASSERT_TRUE(drawn[i] == 0 || drawn[i] == 1);
        if (i % 3 < 2) {
          ASSERT_EQ(drawn[i], p[i]);
        }
        if (i % 3 == 2) ones += drawn[i];
      }
      EXPECT_NEAR(ones / 3000, 0.25, 0.05);
    }
  }
}

TEST(Random, MultinomialDrawsClassesAsTheirLogProbabilitiesSay) {
  const double never = -std::numeric_limits<double>::infinity();
  // Row 0: 1/4, 3/4 and never; row 1 far below what exp can tell from 0.
  const std::vector<double> logits = {0, std::log(3.0), never, -9000, -9000, -9000};
  const auto check = [&](const Tensor& input, std::int64_t opset) {
    const Tensor y = draw("Multinomial", opset, {input}, {attr("sample_size", 6000), attr("dtype", 7)});
    ASSERT_EQ(y.dtype(), DType::int64);
    ASSERT_EQ(y.shape(), (Shape{2, 6000}));
    std::vector<int> counts(6);
    for (std::int64_t i = 0; i < 12000; ++i)
      ++counts.at(static_cast<std::size_t>(i / 6000 * 3 + y.data<std::int64_t>()[i]));
    EXPECT_NEAR(counts[0], 1500, 200);
    EXPECT_NEAR(counts[1], 4500, 200);
    EXPECT_EQ(counts[2], 0);
    for (int c = 3; c < 6; ++c) EXPECT_NEAR(counts[static_cast<std::size_t>(c)], 2000, 220);
  };
  check(make<float>({2, 3}, logits), 7);
  check(make<double>({2, 3}, logits), 22);
  check(make<Float16>({2, 3}, logits), 22);
  check(make<BFloat16>({2, 3}, logits), 22);
  EXPECT_EQ(draw("Multinomial", 7, {make<float>({2, 1}, {0, 0})}, {}).dtype(), DType::int32);
  EXPECT_EQ(draw("Multinomial", 7, {make<float>({0, 3}, {})}, {}).shape(), (Shape{0, 1}));
}

TEST(Random, Refused) {
  const Value x = vec<float>({1});
  const auto shape = attr("shape", std::vector<std::int64_t>{2});
  const double inf = std::numeric_limits<double>::infinity();
  const auto bad = ErrorKind::invalid_model;
  check_errors({
      {"no shape", "RandomUniform", 22, {}, {}, bad, "shape"},
      {"negative", "RandomNormal", 22, {}, {attr("shape", std::vector<std::int64_t>{-1})}, bad, "-1"},
      {"bfloat16 in version 1", "RandomNormal", 21, {}, {shape, attr("dtype", 16)}, bad, "bfloat16"},
      {"integers", "RandomUniform", 22, {}, {shape, attr("dtype", 7)}, bad, "int64"},
      {"no such type", "RandomUniform", 22, {}, {shape, attr("dtype", 99)}, bad, "99"},
      {"integers like", "RandomUniformLike", 22, {vec<std::int32_t>({1})}, {}, bad, "int32"},
      {"empty range", "RandomUniform", 22, {}, {shape, attr("low", 2.0f)}, bad, "above high"},
      {"scale", "RandomNormalLike", 22, {x}, {attr("scale", -1.0f)}, bad, "scale"},
      {"not a number", "RandomNormalLike", 22, {x}, {attr("mean", std::nanf(""))}, bad, "finite"},
      {"above 1",
       "Bernoulli",
       22,
       {vec<float>({0.5, 1.5})},
       {},
       bad,
       "input holds 1.5, but must lie in [0, 1]"},
      {"no probability", "Bernoulli", 15, {vec<float>({std::nan("")})}, {}, bad, "nan"},
      {"complex", "Bernoulli", 15, {x}, {attr("dtype", 14)}, bad, "complex64"},
      {"rank", "Multinomial", 22, {x}, {}, bad, "batch_size"},
      {"no class", "Multinomial", 22, {make<float>({1, 0}, {})}, {}, bad, "row 0"},
      {"impossible", "Multinomial", 22, {make<float>({1, 2}, {-inf, -inf})}, {}, bad, "row 0"},
      {"infinite", "Multinomial", 22, {make<float>({1, 2}, {0, inf})}, {}, bad, "class 1"},
      {"samples", "Multinomial", 22, {make<float>({1, 2}, {0, 0})}, {attr("sample_size", -1)}, bad, "-1"},
      {"floats", "Multinomial", 22, {make<float>({1, 2}, {0, 0})}, {attr("dtype", 1)}, bad, "float"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
