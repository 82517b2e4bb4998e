// SVMs with a SIGMOID kernel have the outputs of the sum over all vectors, however it is made.
#include "engine/ops/traditionalml/svm_tangents.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/engine/ops/math/op_table.h"
#include "tests/engine/ops/traditionalml/drawn_vectors.h"

namespace grurun::engine::testing {
namespace {

constexpr std::int64_t tangent_width = 7, tangent_vectors = 90;

struct TangentModel {
  SvmKernel kernel;
  std::vector<float> features = normal_floats(tangent_vectors * tangent_width, 5),
                     weights = normal_floats(tangent_vectors, 6);
  SvmVectors vectors{features, tangent_vectors};

  TangentModel(double gamma, double coef0) : kernel{SvmKernel::Kind::sigmoid, gamma, coef0, 0} {}

  void cancel() {
    cancel_vectors(features, weights, tangent_width);
    vectors = SvmVectors(features, tangent_vectors);
  }

  /// The way that all rows but those take whose rounding is certain otherwise.
  double by_likeness(const double* x, bool are_floats, double rho) const {
    double sum[Likeness::most_rows] = {rho};
    Likeness(kernel, vectors, x, 1, are_floats).add_weighted(0, tangent_vectors, weights.data(), 0, 1, sum);
    return sum[0];
  }
};

TEST(SvmTangents, AreWithinTheirErrorOfTheSumOverAllVectors) {
  for (const double gamma : {0.3, -0.05, 1e-6, 40.0, 0.0}) {
    for (const double coef0 : {0.0, 0.5, -2.0, 1000.0}) {
      const TangentModel model(gamma, coef0);
      const SvmTangents tangents(model.kernel, model.vectors, model.weights);
      ASSERT_FALSE(tangents.empty());
      const std::vector<float> rows = normal_floats(32 * tangent_width, 7);
      const std::vector<double> x(rows.begin(), rows.end());
      for (const std::int64_t count : {1, 3, 4, 17, 32}) {
        std::vector<double> sums(32, 0.125), errors(32);
        tangents.add_sums(x.data(), count, sums.data(), errors.data());
        for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row) {
          const double plain = model.by_likeness(&x[row * tangent_width], true, 0.125);
          EXPECT_LE(std::fabs(sums[row] - plain), errors[row]) << gamma << ", " << coef0;
          EXPECT_LE(errors[row], 1e-8) << gamma << ", " << coef0;  // or it would say nothing
        }
      }
    }
  }
}

TEST(SvmTangents, KnowNothingOfWhatIsNotFinite) {
  const TangentModel model(0.3, 1);
  const SvmTangents tangents(model.kernel, model.vectors, model.weights);
  for (const double value : {inf, nan, 1e200}) {
    const std::vector<double> x{1, 2, value, 0, 1, 1, 0};
    double sum = 0, error = 0;
    tangents.add_sums(x.data(), 1, &sum, &error);
    EXPECT_FALSE(std::isfinite(error)) << value;
  }
  for (const double gamma : {inf, nan}) {
    const TangentModel without(gamma, 1);
    const std::vector<double> x(tangent_width, 1.0);
    double sum = 0, error = 0;
    SvmTangents(without.kernel, without.vectors, without.weights).add_sums(x.data(), 1, &sum, &error);
    EXPECT_FALSE(std::isfinite(error)) << gamma;
  }
}

TEST(SvmTangents, AreOfSigmoidAlone) {
  const TangentModel model(0.3, 1);
  for (const auto kind : {SvmKernel::Kind::linear, SvmKernel::Kind::poly, SvmKernel::Kind::rbf})
    EXPECT_TRUE(SvmTangents(SvmKernel{kind, 1, 1, 2}, model.vectors, model.weights).empty());
}

template <typename T>
void expect_outputs_of_likeness(const TangentModel& model, bool one_class, std::int64_t rows, float rho) {
  const std::vector<float> drawn = normal_floats(rows * tangent_width, 8);
  std::vector<double> x(drawn.begin(), drawn.end());
  for (double& value : x) value = static_cast<double>(static_cast<T>(value * 3 + 1e-9));
  const Value y =
      run_node("SVMRegressor", "ai.onnx.ml", 1, {make<T>({rows, tangent_width}, x)},
               {attr("kernel_type", "SIGMOID"),
                attr("kernel_params", std::vector<float>{static_cast<float>(model.kernel.gamma),
                                                         static_cast<float>(model.kernel.coef0), 0}),
                attr("support_vectors", model.features), attr("coefficients", model.weights),
                attr("n_supports", tangent_vectors), attr("rho", std::vector<float>{rho}),
                attr("one_class", one_class ? 1 : 0)})
          .at(0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const double sum =
        model.by_likeness(&x[static_cast<std::size_t>(row * tangent_width)], std::is_same_v<T, float>, rho);
    const float expected = one_class ? (sum > 0 ? 1.0F : -1.0F) : static_cast<float>(sum);
    const float got = y.tensor().data<float>()[row];
    EXPECT_EQ(0, std::memcmp(&got, &expected, sizeof got)) << row << ": " << got << ", not " << expected;
  }
}

TEST(SvmTangents, OutputsHaveTheBitsOfTheSumOverAllVectors) {
  for (const bool cancels : {false, true}) {
    TangentModel model(0.125, 0.5);
    if (cancels) model.cancel();  // of such sums the bounds leave no rounding certain
    for (const bool one_class : {false, true}) {
      for (const std::int64_t rows : {2, 70}) {
        for (const float rho : {0.0F, 40.0F, 1e-20F}) {
          expect_outputs_of_likeness<float>(model, one_class, rows, rho);
          expect_outputs_of_likeness<double>(model, one_class, rows, rho);
          expect_outputs_of_likeness<std::int64_t>(model, one_class, rows, rho);
        }
      }
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
