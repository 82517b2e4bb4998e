#include "engine/kernels/vec/polynomial_rows.h"

#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class PolynomialRowsOnTargets : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(PolynomialRowsOnTargets);

double plain_polynomial(const std::vector<double>& t, size_t& next, const std::vector<double>& x,
                        int64_t variables, int degree, int64_t first, int64_t row) {
  double sum = 0;
  for (int64_t i = first; i < variables; ++i) {
    const double of_variable = x[static_cast<size_t>(i * PolynomialRows::step + row)];
    sum += degree == 1 ? t[next++] * of_variable
                       : of_variable * plain_polynomial(t, next, x, variables, degree - 1, i, row);
  }
  return sum;
}

TEST_P(PolynomialRowsOnTargets, HaveTheBitsOfThePlainLoops) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  constexpr int64_t variables = 5;
  std::vector<double> x(variables * PolynomialRows::step), t(70);  // as many products of four variables
  for (double& value : x) value = normal(random);
  for (double& value : t) value = normal(random);
  for (const int degree : {1, 2, 3, 4}) {
    for (const int64_t rows : {1, 2, 7, 16, 19, 32}) {
      std::vector<double> y(PolynomialRows::step);
      polynomial_rows({t.data(), variables, degree, x.data(), y.data(), rows});
      for (int64_t row = 0; row < rows; ++row) {
        size_t next = 0;
        EXPECT_EQ(y[static_cast<size_t>(row)], plain_polynomial(t, next, x, variables, degree, 0, row))
            << degree << ", row " << row << " of " << rows;
      }
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
