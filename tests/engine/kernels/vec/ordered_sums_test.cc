#include "engine/kernels/vec/ordered_sums.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class OrderedSumsOnTargets : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(OrderedSumsOnTargets);

std::vector<double> random_doubles(int64_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::normal_distribution<double> normal;
  std::vector<double> out(static_cast<size_t>(n));
  for (double& value : out) value = normal(random);
  return out;
}

struct SumsCase {
  int64_t rows, columns, terms;
};
constexpr SumsCase sums_cases[] = {{1, 1, 1}, {5, 3, 7}, {4, 16, 20}, {9, 17, 5}, {2, 33, 64}, {3, 40, 0}};

double plain_sum(const SumsCase& size, const std::vector<double>& a, const std::vector<double>& b,
                 int64_t step, int64_t i, int64_t j, bool squares) {
  double sum = 0;
  for (int64_t k = 0; k < size.terms; ++k) {
    const double x = a[static_cast<size_t>(k * size.rows + i)], y = b[static_cast<size_t>(k * step + j)];
    sum += squares ? (x - y) * (x - y) : x * y;
  }
  return sum;
}

TEST_P(OrderedSumsOnTargets, HaveTheBitsOfThePlainLoop) {
  constexpr double scale = 0.07, offset = 0.3;
  for (const SumsCase& size : sums_cases) {
    const int64_t step = (size.columns + ordered_sums_step - 1) / ordered_sums_step * ordered_sums_step;
    const std::vector<double> a = random_doubles(size.rows * size.terms + 1),
                              b = random_doubles(size.terms * step + 1);
    std::vector<double> y(static_cast<size_t>(size.rows * step));
    for (const SumFunction function :
         {SumFunction::product, SumFunction::power, SumFunction::exponential, SumFunction::tangent}) {
      ordered_sums({a.data(), 1, size.rows, b.data(), step, y.data(), step, size.rows, size.columns,
                    size.terms, function, function == SumFunction::exponential ? -scale : scale, offset, 3});
      for (int64_t i = 0; i < size.rows; ++i) {
        for (int64_t j = 0; j < size.columns; ++j) {
          const bool squares = function == SumFunction::exponential;
          const double sum = plain_sum(size, a, b, step, i, j, squares), line = scale * sum + offset;
          const double got = y[static_cast<size_t>(i * step + j)];
          switch (function) {
            case SumFunction::product:
              EXPECT_EQ(got, sum) << i << "," << j;
              break;
            case SumFunction::power:
              EXPECT_EQ(got, line * line * line) << i << "," << j;
              break;
            case SumFunction::exponential:
              EXPECT_NEAR(got, std::exp(-scale * sum), 1e-15) << i << "," << j;
              break;
            case SumFunction::tangent:
              EXPECT_NEAR(got, std::tanh(line), 1e-15) << i << "," << j;
              break;
          }
        }
      }
    }
  }
}

TEST_P(OrderedSumsOnTargets, OfFloatsHaveTheSameBitsFused) {
  for (const SumsCase& size : sums_cases) {
    const int64_t step = (size.columns + ordered_sums_step - 1) / ordered_sums_step * ordered_sums_step;
    std::vector<double> a = random_doubles(size.rows * size.terms + 1),
                        b = random_doubles(size.terms * step + 1);
    for (std::vector<double>* const values : {&a, &b}) {
      for (double& value : *values) value = static_cast<double>(static_cast<float>(value));
    }
    std::vector<double> y(static_cast<size_t>(size.rows * step)), fused = y;
    for (const SumFunction function :
         {SumFunction::product, SumFunction::power, SumFunction::exponential, SumFunction::tangent}) {
      OrderedSums sums{a.data(),     1,          size.rows, b.data(), step, y.data(), step, size.rows,
                       size.columns, size.terms, function,  0.07,     0.3,  3};
      ordered_sums(sums);
      sums.y = fused.data();
      sums.has_exact_products = true;
      ordered_sums(sums);
      for (int64_t i = 0; i < size.rows; ++i) {
        const auto at = static_cast<size_t>(i * step);
        EXPECT_EQ(0, std::memcmp(&y[at], &fused[at], static_cast<size_t>(size.columns) * sizeof(double)))
            << i;
      }
    }
  }
}

TEST_P(OrderedSumsOnTargets, TangentsAreWithinTheirBound) {
  const double one = 1, most = std::numeric_limits<double>::max();
  std::vector<double> x{0, -0.0, 0x1p-1074, 1e-300, most, -most};
  for (double value = 1e-9; value < 30; value *= 1.003) x.insert(x.end(), {value, -value});
  for (double value = 0; value < 20; value += 0.007) x.push_back(value);
  const auto count = static_cast<int64_t>(x.size()), step = (count + 15) / 16 * 16;
  x.resize(static_cast<size_t>(step));
  std::vector<double> y(x.size());
  ordered_sums({&one, 1, 1, x.data(), step, y.data(), step, 1, count, 1, SumFunction::tangent, 1, 0, 1});
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const long double exact = std::tanh(static_cast<long double>(x[i]));
    EXPECT_LE(std::fabs(static_cast<long double>(y[i]) - exact), 0x1p-50 * std::fabs(exact)) << x[i];
  }
}

TEST_P(OrderedSumsOnTargets, WeightedRowsAreAddedInOrder) {
  for (const int64_t columns : {1, 7, 16, 31, 48}) {
    constexpr int64_t rows = 9, step = 48;
    const std::vector<double> x = random_doubles(rows * step);
    const std::vector<float> weights{0.1f, -3, 7, 0.3f, 1e-3f, 2, -0.7f, 11, 0.9f};
    std::vector<double> y = random_doubles(step), expected = y;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        expected[static_cast<size_t>(j)] +=
            static_cast<double>(weights[static_cast<size_t>(i)]) * x[static_cast<size_t>(i * step + j)];
      }
    }
    add_weighted_rows(weights.data(), x.data(), step, rows, columns, y.data());
    EXPECT_EQ(0, std::memcmp(y.data(), expected.data(), static_cast<size_t>(columns) * sizeof(double)))
        << columns;
  }
}

}  // namespace
}  // namespace grurun::kernels
