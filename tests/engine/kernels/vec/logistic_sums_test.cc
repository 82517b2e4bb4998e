#include "engine/kernels/vec/logistic_sums.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class LogisticSumsOnTargets : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(LogisticSumsOnTargets);

using Doubles = std::vector<double>;

int64_t whole_steps(int64_t n) {
  return (n + logistic_step - 1) / logistic_step * logistic_step;
}

/// terms x count of a step, of which the rest is nothing that may matter.
Doubles drawn(int64_t terms, int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const int64_t step = whole_steps(count);
  Doubles out(static_cast<size_t>(terms * step), 1e9);
  for (int64_t k = 0; k < terms; ++k) {
    for (int64_t i = 0; i < count; ++i) out[static_cast<size_t>(k * step + i)] = normal(random);
  }
  return out;
}

struct LogisticCase {
  int64_t rows, columns, terms;
  double offset;
  Doubles a = drawn(terms, rows, 1), b = drawn(terms, columns, 2);

  double a_at(int64_t k, int64_t i) const { return a[static_cast<size_t>(k * whole_steps(rows) + i)]; }
  double b_at(int64_t k, int64_t j) const { return b[static_cast<size_t>(k * whole_steps(columns) + j)]; }
  long double exact(int64_t i, int64_t j) const {
    long double sum = offset;
    for (int64_t k = 0; k < terms; ++k) sum += static_cast<long double>(a_at(k, i)) * b_at(k, j);
    return 1 / (1 + std::exp2(sum));
  }
  double bound(int64_t i, int64_t j) const {
    double a2 = 0, b2 = 0;
    for (int64_t k = 0; k < terms; ++k) {
      a2 += a_at(k, i) * a_at(k, i);
      b2 += b_at(k, j) * b_at(k, j);
    }
    return logistic_error(terms, offset, a2, b2);
  }
  LogisticSums sums(const Doubles& weights, Doubles& y) const {
    return {a.data(),       whole_steps(rows),
            b.data(),       whole_steps(columns),
            weights.data(), y.data(),
            rows,           columns,
            terms,          offset};
  }
};

const LogisticCase logistic_cases[] = {{1, 1, 1, 0},    {3, 130, 5, 0.3},  {9, 17, 6, -1},
                                       {15, 40, 13, 2}, {70, 33, 20, 0.5}, {150, 8, 12, -0.25},
                                       {64, 16, 0, 1}};

TEST_P(LogisticSumsOnTargets, OfColumnsAreWeightedByRow) {
  for (const LogisticCase& of : logistic_cases) {
    const Doubles weights = drawn(1, of.rows, 3);
    for (const bool in_pairs : {false, true}) {
      Doubles y(static_cast<size_t>(whole_steps(of.columns)), 0.5);
      LogisticSums sums = of.sums(weights, y);
      sums.in_pairs = in_pairs;
      add_logistic_sums(sums);
      for (int64_t j = 0; j < of.columns; ++j) {
        long double exact = 0.5;
        double bound = 1e-14 * static_cast<double>(of.rows);  // of the additions
        for (int64_t i = 0; i < of.rows; ++i) {
          exact += weights[static_cast<size_t>(i)] * of.exact(i, j);
          bound += std::fabs(weights[static_cast<size_t>(i)]) * of.bound(i, j);
        }
        EXPECT_NEAR(y[static_cast<size_t>(j)], static_cast<double>(exact), bound) << of.rows << ", " << j;
      }
    }
  }
}

TEST_P(LogisticSumsOnTargets, OfRowsAreWeightedByColumn) {
  for (const LogisticCase& of : logistic_cases) {
    Doubles weights = drawn(1, of.columns, 4), y(static_cast<size_t>(of.rows), 7);
    weights.resize(static_cast<size_t>(of.columns));
    weights.resize(static_cast<size_t>(whole_steps(of.columns)), 0.0);
    LogisticSums sums = of.sums(weights, y);
    sums.weighs_columns = true;
    add_logistic_sums(sums);
    for (int64_t i = 0; i < of.rows; ++i) {
      long double exact = 7;
      double bound = 1e-14 * static_cast<double>(of.columns);
      for (int64_t j = 0; j < of.columns; ++j) {
        exact += weights[static_cast<size_t>(j)] * of.exact(i, j);
        bound += std::fabs(weights[static_cast<size_t>(j)]) * of.bound(i, j);
      }
      EXPECT_NEAR(y[static_cast<size_t>(i)], static_cast<double>(exact), bound) << of.columns << ", " << i;
    }
  }
}

/// y[j] = 1 / (1 + 2^x[j]), x being offset by as much as is given.
Doubles logistics_of(const Doubles& x, double offset = 0) {
  const auto count = static_cast<int64_t>(x.size()), step = whole_steps(count);
  const double one = 1;
  Doubles b = x, y(static_cast<size_t>(step)), a(logistic_step, one);
  b.resize(static_cast<size_t>(step));
  add_logistic_sums({a.data(), logistic_step, b.data(), step, &one, y.data(), 1, count, 1, offset});
  y.resize(x.size());
  return y;
}

TEST_P(LogisticSumsOnTargets, AreWithinTheirBoundOfAnyNumber) {
  Doubles x{0, -0.0, 0x1p-1074, 1e-300, 59.99, 60.01, -60.01, 1074, 1e4, -1e4};
  for (double value = 1e-9; value < 0x1p50; value *= 1.01) x.insert(x.end(), {value, -value});
  for (double value = -70; value < 70; value += 0.0107) x.push_back(value);
  const Doubles y = logistics_of(x);
  for (size_t i = 0; i < x.size(); ++i) {
    const long double exact = 1 / (1 + std::exp2(static_cast<long double>(x[i])));
    EXPECT_NEAR(y[i], static_cast<double>(exact), logistic_error(0, 0, 0, 0)) << x[i];
  }
}

TEST_P(LogisticSumsOnTargets, OfWhatIsNoNumberAreNone) {
  EXPECT_TRUE(std::isnan(logistics_of({std::numeric_limits<double>::quiet_NaN()})[0]));
}

}  // namespace
}  // namespace grurun::kernels
