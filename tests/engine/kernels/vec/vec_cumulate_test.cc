#include "engine/kernels/vec/vec_cumulate.h"

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecCumulate : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecCumulate);

template <class T>
using Cumulate = void (*)(const T*, int64_t, int64_t, bool, double*, T*, int64_t);

template <class T, class Combine>
void check(Cumulate<T> cumulate, const Combine& combine) {
  std::mt19937_64 draw(7);
  std::uniform_real_distribution<double> between(-2, 2);
  for (const size_t n : {0, 1, 3, 8, 16, 31, 32, 64, 65, 130, 200, 209}) {
    for (const auto& [exclusive, backwards] : {std::pair(false, false), {true, false}, {false, true}}) {
      SCOPED_TRACE(testing::Message() << n << " elements" << (exclusive ? ", exclusive" : "")
                                      << (backwards ? ", backwards" : ""));
      const size_t rows = n % 7, step = n + 1;
      std::vector<T> x(rows * step), y(rows * step + 1, T(77)), expected_y = y;
      std::vector<double> so_far(n + 1), expected = so_far;
      for (T& v : x) v = static_cast<T>(between(draw));
      for (size_t i = 0; i <= n; ++i) expected[i] = so_far[i] = between(draw);
      for (size_t k = 0; k < rows; ++k) {
        const size_t row = (backwards ? rows - 1 - k : k) * step;
        for (size_t i = 0; i < n; ++i) {
          const double before = expected[i];
          expected[i] = combine(before, static_cast<double>(x[row + i]));
          expected_y[row + i] = static_cast<T>(exclusive ? before : expected[i]);
        }
      }
      const size_t first = backwards && rows > 0 ? (rows - 1) * step : 0;
      cumulate(x.data() + first, static_cast<int64_t>(rows),
               static_cast<int64_t>(step) * (backwards ? -1 : 1), exclusive, so_far.data(), y.data() + first,
               static_cast<int64_t>(n));
      EXPECT_EQ(so_far, expected);
      EXPECT_EQ(y, expected_y);
    }
  }
}

TEST_P(VecCumulate, EveryTypeEqualsTheDefinition) {
  const auto sum = [](double a, double b) { return a + b; };
  const auto product = [](double a, double b) { return a * b; };
  check<float>(vec_add_up, sum);
  check<double>(vec_add_up, sum);
  check<float>(vec_multiply_up, product);
  check<double>(vec_multiply_up, product);
}

}  // namespace
}  // namespace grurun::kernels
