// Rows against the steps that they are made of, as the other kernels have them: the same bits.
#include "engine/kernels/vec/vec_softmax.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecSoftmax : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecSoftmax);

constexpr int64_t rows = 3;
constexpr int64_t row_sizes[] = {1, 2, 5, 15, 16, 17, 20, 63, 64, 65, 130, 257, 1024, 1025, 2500};

std::vector<float> logits(int64_t n, float scale) {
  std::mt19937 engine(static_cast<unsigned>(n));
  std::normal_distribution<float> normal(1, scale);
  std::vector<float> x(static_cast<size_t>(rows * n));
  for (float& v : x) v = normal(engine);
  x.back() = -std::numeric_limits<float>::infinity();
  x.front() = 7;
  return x;
}

// The powers, and their sum, of one row.
double steps(const float* x, float* less, float* powers, int64_t n) {
  vec_sub(x, reduce_max(x, n), less, n);
  vec_exp(less, powers, n);
  return reduce_sum(powers, n);
}

void expect_same(const std::vector<float>& made, const std::vector<float>& expected, int64_t n) {
  EXPECT_EQ(std::memcmp(made.data(), expected.data(), made.size() * sizeof(float)), 0) << "n=" << n;
}

TEST_P(VecSoftmax, EqualsItsSteps) {
  for (const int64_t n : row_sizes) {
    for (const float scale : {1.0f, 40.0f}) {
      std::vector<float> x = logits(n, scale), y(x.size()), logs(x.size()), less(x.size()),
                         expected(x.size()), expected_logs(x.size());
      if (n == 1) x.back() = 1;
      for (int64_t r = 0; r < rows; ++r) {
        const double sum = steps(x.data() + r * n, less.data(), expected.data() + r * n, n);
        vec_div(expected.data() + r * n, static_cast<float>(sum), expected.data() + r * n, n);
        vec_sub(less.data(), static_cast<float>(std::log(sum)), expected_logs.data() + r * n, n);
      }
      vec_softmax(x.data(), y.data(), rows, n);
      expect_same(y, expected, n);
      vec_log_softmax(x.data(), logs.data(), rows, n);
      expect_same(logs, expected_logs, n);
      logs = x;
      vec_softmax(x.data(), x.data(), rows, n);
      expect_same(x, expected, n);
      vec_log_softmax(logs.data(), logs.data(), rows, n);
      expect_same(logs, expected_logs, n);
    }
  }
}

// Columns are summed in another order than rows: against the definition in double.
TEST_P(VecSoftmax, ColumnsFollowTheDefinition) {
  for (const int64_t n : {1, 2, 31, 32, 33, 300}) {
    for (const int64_t columns : {1, 3, 8, 17, 515}) {
      const int64_t step = columns + 2;
      std::mt19937 engine(static_cast<unsigned>(n * columns));
      std::normal_distribution<float> normal(1, 5);
      std::vector<float> x(static_cast<size_t>(n * step)), y(x.size(), -1), logs(y);
      for (float& v : x) v = normal(engine);
      vec_softmax_columns(x.data(), y.data(), n, columns, step);
      vec_log_softmax_columns(x.data(), logs.data(), n, columns, step);
      for (int64_t c = 0; c < columns; ++c) {
        double greatest = -1e30, sum = 0;
        for (int64_t k = 0; k < n; ++k) greatest = std::max(greatest, double{x[k * step + c]});
        for (int64_t k = 0; k < n; ++k) sum += std::exp(double{x[k * step + c]} - greatest);
        for (int64_t k = 0; k < n; ++k) {
          const double less = double{x[k * step + c]} - greatest, expected = std::exp(less) / sum;
          ASSERT_NEAR(y[k * step + c], expected, 3e-6 * expected + 1e-37) << n << ' ' << columns << ' ' << c;
          ASSERT_NEAR(logs[k * step + c], less - std::log(sum), 3e-6 * (1 - less)) << n << ' ' << columns;
        }
      }
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t c = columns; c < step; ++c)
          ASSERT_EQ(y[k * step + c], -1) << "written behind the columns";
      }
      vec_softmax_columns(x.data(), x.data(), n, columns, step);
      for (int64_t k = 0; k < n; ++k)
        ASSERT_EQ(std::memcmp(&x[k * step], &y[k * step], static_cast<size_t>(columns) * sizeof(float)), 0);
    }
  }
}

TEST_P(VecSoftmax, NanReachesItsRowAlone) {
  std::vector<float> x(2 * 37, 1.0f);
  x[40] = std::numeric_limits<float>::quiet_NaN();
  vec_softmax(x.data(), x.data(), 2, 37);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::isnan(x[i]), i >= 37) << i;
}

}  // namespace
}  // namespace grurun::kernels
