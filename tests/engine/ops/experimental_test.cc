// Operators of onnx 1.2 to 1.4 that were experimental and never got a number, or got one with another
// meaning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

using testing::attr;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using testing::run_node;

template <typename T>
std::vector<T> values(const Value& value) {
  const auto span = value.tensor().span<T>();
  return {span.begin(), span.end()};
}

TEST(ConstantFill, TakesItsShapeFromTheAttribute) {
  const auto made = run_node("ConstantFill", "", 6, {},
                             {attr("shape", std::vector<std::int64_t>{2, 3}), attr("value", 1.5F)});
  EXPECT_EQ(made[0].tensor().shape(), (Shape{2, 3}));
  EXPECT_THAT(values<float>(made[0]), Each(1.5F));
}

TEST(ConstantFill, TakesItsShapeFromTheInputWithExtraDimensionsBehind) {
  const auto made =
      run_node("ConstantFill", "", 6, {Tensor::from<float>({2}, {7, 8})},
               {attr("extra_shape", std::vector<std::int64_t>{3}), attr("dtype", 7), attr("value", -4.0F)});
  EXPECT_EQ(made[0].tensor().shape(), (Shape{2, 3}));
  EXPECT_THAT(values<std::int64_t>(made[0]), Each(-4));
}

TEST(ConstantFill, ReadsTheValuesOfTheInputAsDimensions) {
  const auto made = run_node("ConstantFill", "", 6, {Tensor::from<std::int64_t>({2}, {1, 4})},
                             {attr("input_as_shape", 1), attr("extra_shape", std::vector<std::int64_t>{2})});
  EXPECT_EQ(made[0].tensor().shape(), (Shape{1, 4, 2}));
  EXPECT_THAT(values<float>(made[0]), Each(0.0F));
}

TEST(ConstantFill, IsNotDefinedFromOpset10On) {
  try {
    run_node("ConstantFill", "", 10, {}, {attr("shape", std::vector<std::int64_t>{2})});
    FAIL() << "opset 10 has no ConstantFill";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("no operator 'ConstantFill' in opset 10 of ai.onnx; it exists up to opset 9"));
  }
}

TEST(ConstantFill, RefusesAShapeBesideAnInput) {
  EXPECT_THROW(run_node("ConstantFill", "", 6, {Tensor::from<float>({1}, {1})},
                        {attr("shape", std::vector<std::int64_t>{2})}),
               Error);
}

TEST(DynamicSlice, CutsTheFirstAxesWhereNoneAreNamed) {
  const auto made =
      run_node("DynamicSlice", "", 9,
               {Tensor::from<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
                Tensor::from<std::int64_t>({2}, {0, 1}), Tensor::from<std::int64_t>({2}, {-1, 1000})});
  EXPECT_EQ(made[0].tensor().shape(), (Shape{1, 3}));
  EXPECT_THAT(values<float>(made[0]), ElementsAre(2, 3, 4));
}

TEST(ThresholdedRelu, RunsInTheOpsetsBeforeItsNumber) {
  const auto made = run_node("ThresholdedRelu", "", 7, {Tensor::from<float>({4}, {-1, 0.5F, 1, 2})});
  EXPECT_THAT(values<float>(made[0]), ElementsAre(0, 0, 0, 2));
}

// Planes {1, 3}, {2, 6}, {5, 5}, {0, 8} of an input [2, 2, 1, 2].
const Tensor& images() {
  static const Tensor x = Tensor::from<float>({2, 2, 1, 2}, {1, 3, 2, 6, 5, 5, 0, 8});
  return x;
}

TEST(MeanVarianceNormalization, OfVersion1TakesMomentsOfPlanesOrImages) {
  const auto planes = run_node("MeanVarianceNormalization", "", 6, {images()});
  EXPECT_THAT(values<float>(planes[0]), ElementsAre(-1, 1, -1, 1, 0, 0, -1, 1));
  const auto centred = run_node("MeanVarianceNormalization", "", 6, {images()},
                                {attr("across_channels", 1), attr("normalize_variance", 0)});
  EXPECT_THAT(values<float>(centred[0]), ElementsAre(-2, 0, -1, 3, 0.5F, 0.5F, -4.5F, 3.5F));
}

TEST(MeanVarianceNormalization, TakesMomentsAlongAxesThatAreNotTheLast) {
  // Along N, H, W: channel 0 holds 1 3 5 5 (mean 3.5, variance 2.75), channel 1 holds 2 6 0 8 (mean 4,
  // variance 10).
  const float a = std::sqrt(2.75F), b = std::sqrt(10.0F);
  const std::vector<float> expected = {-2.5F / a, -0.5F / a, -2 / b, 2 / b,
                                       1.5F / a,  1.5F / a,  -4 / b, 4 / b};
  for (const std::int64_t opset : {8, 9, 13}) {
    const auto made = run_node("MeanVarianceNormalization", "", opset, {images()});
    EXPECT_THAT(values<float>(made[0]), Pointwise(FloatNear(1e-6F), expected)) << opset;
  }
}

TEST(MeanVarianceNormalization, TakesMomentsOverAllWhereAxesAreEmpty) {
  const auto made = run_node("MeanVarianceNormalization", "", 13, {Tensor::from<double>({3}, {1, 2, 3})},
                             {attr("axes", std::vector<std::int64_t>{})});
  EXPECT_NEAR(values<double>(made[0])[2], std::sqrt(1.5), 1e-8);
}

}  // namespace
}  // namespace grurun::engine
