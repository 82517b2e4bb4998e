// SVMs with a polynomial kernel whose products are multiplied out have the outputs of the sum over all
// vectors.
#include "engine/ops/traditionalml/svm_polynomial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/engine/ops/math/op_table.h"
#include "tests/engine/ops/traditionalml/drawn_vectors.h"

namespace grurun::engine::testing {
namespace {

constexpr std::int64_t poly_width = 6, poly_vectors = 300;

struct PolyModel {
  SvmKernel kernel;
  std::vector<float> features = normal_floats(poly_vectors * poly_width, 5),
                     weights = normal_floats(poly_vectors, 6);

  PolyModel(int degree, double coef0)
      : kernel{SvmKernel::Kind::poly, 0.25, coef0, static_cast<double>(degree)} {}

  double plain(const double* x, double rho) const {
    double sum = rho;
    for (std::size_t v = 0; v < weights.size(); ++v) {
      double dot = 0;
      for (std::size_t f = 0; f < poly_width; ++f)
        dot += x[f] * static_cast<double>(features[v * poly_width + f]);
      const double base = kernel.gamma * dot + kernel.coef0;
      double power = base;
      for (int k = 1; k < static_cast<int>(kernel.degree); ++k) power *= base;
      sum += static_cast<double>(weights[v]) * power;
    }
    return sum;
  }
};

TEST(SvmPolynomial, IsWithinItsErrorOfTheSumOverAllVectors) {
  for (const int degree : {1, 2, 3, 4}) {
    for (const double coef0 : {0.0, 0.5, -2.0}) {
      const PolyModel model(degree, coef0);
      const SvmPolynomial polynomial(model.kernel, SvmVectors(model.features, poly_vectors), model.weights);
      ASSERT_FALSE(polynomial.empty()) << degree;
      const std::vector<float> drawn = normal_floats(32 * poly_width, 7);
      const std::vector<double> x(drawn.begin(), drawn.end());
      std::vector<double> sums(32, 0.125), errors(32);
      polynomial.add_sums(x.data(), 32, sums.data(), errors.data());
      for (std::size_t row = 0; row < 32; ++row) {
        const double plain = model.plain(&x[row * poly_width], 0.125);
        EXPECT_LE(std::fabs(sums[row] - plain), errors[row]) << degree << ", " << coef0;
        EXPECT_LE(errors[row], 1e-7) << degree << ", " << coef0;  // or it would say nothing
      }
    }
  }
}

TEST(SvmPolynomial, KnowsNothingOfWhatIsNotFinite) {
  const PolyModel model(3, 1);
  const SvmPolynomial polynomial(model.kernel, SvmVectors(model.features, poly_vectors), model.weights);
  for (const double value : {inf, nan, 1e100}) {
    const std::vector<double> x{1, 2, value, 0, 1, 1};
    double sum = 0, error = 0;
    polynomial.add_sums(x.data(), 1, &sum, &error);
    EXPECT_FALSE(std::isfinite(error)) << value;
  }
}

TEST(SvmPolynomial, IsMadeWhereItSavesWorkAlone) {
  const PolyModel model(3, 1);
  const auto is_empty = [&](const SvmKernel& kernel, std::int64_t vectors) {
    const std::span features(model.features.data(), static_cast<std::size_t>(vectors * poly_width));
    return SvmPolynomial(kernel, SvmVectors(features, vectors), model.weights).empty();
  };
  EXPECT_FALSE(is_empty(model.kernel, poly_vectors));
  EXPECT_TRUE(
      is_empty(model.kernel, 20));  // 84 products of three of seven variables, 120 features of vectors
  for (const SvmKernel& kernel :
       {SvmKernel{SvmKernel::Kind::rbf, 1, 1, 3}, SvmKernel{SvmKernel::Kind::poly, 1, 1, 2.5},
        SvmKernel{SvmKernel::Kind::poly, 1, 1, 0}, SvmKernel{SvmKernel::Kind::poly, 1, 1, 12}})
    EXPECT_TRUE(is_empty(kernel, poly_vectors));
}

/// Rows drawn, and rows that no sum is finite of.
template <typename T>
std::vector<double> poly_rows(std::int64_t rows) {
  const std::vector<float> drawn = normal_floats(rows * poly_width, 8);
  std::vector<double> x(drawn.begin(), drawn.end());
  for (double& value : x) value = static_cast<double>(static_cast<T>(value * 3 + 1e-9));
  return x;
}

template <typename T>
void expect_plain_outputs(const PolyModel& model, bool one_class) {
  constexpr std::int64_t rows = 70;
  constexpr float rho = 0.375F;
  const std::vector<double> x = poly_rows<T>(rows);
  const Value y =
      run_node("SVMRegressor", "ai.onnx.ml", 1, {make<T>({rows, poly_width}, x)},
               {attr("kernel_type", "POLY"),
                attr("kernel_params", std::vector<float>{0.25F, static_cast<float>(model.kernel.coef0),
                                                         static_cast<float>(model.kernel.degree)}),
                attr("support_vectors", model.features), attr("coefficients", model.weights),
                attr("n_supports", poly_vectors), attr("rho", std::vector<float>{rho}),
                attr("one_class", one_class ? 1 : 0)})
          .at(0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const double sum = model.plain(&x[static_cast<std::size_t>(row * poly_width)], rho);
    const float expected = one_class ? (sum > 0 ? 1.0F : -1.0F) : static_cast<float>(sum);
    const float got = y.tensor().data<float>()[row];
    EXPECT_EQ(0, std::memcmp(&got, &expected, sizeof got)) << row << ": " << got << ", not " << expected;
  }
}

TEST(SvmPolynomial, OutputsHaveTheBitsOfThePlainLoop) {
  for (const bool cancels : {false, true}) {
    for (const int degree : {1, 2, 3}) {
      PolyModel model(degree, 0.5);
      // What is multiplied out says nothing of such sums.
      if (cancels) cancel_vectors(model.features, model.weights, poly_width);
      for (const bool one_class : {false, true}) {
        expect_plain_outputs<float>(model, one_class);
        expect_plain_outputs<double>(model, one_class);
        expect_plain_outputs<std::int64_t>(model, one_class);
      }
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
