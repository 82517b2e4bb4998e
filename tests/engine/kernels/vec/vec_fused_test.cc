#include "engine/kernels/vec/vec_fused.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecFused : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecFused);

constexpr int64_t sizes[] = {0, 1, 3, 4, 7, 8, 16, 17, 31, 64, 77};

std::vector<float> uniform(int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> draw(-2, 2);
  std::vector<float> out(static_cast<size_t>(n));
  for (float& v : out) v = draw(engine);
  return out;
}

// A product and a sum of numbers up to 8, rounded once or twice.
constexpr double bound = 8 * 0x1p-23;

TEST_P(VecFused, UpdateRows) {
  for (const int64_t n : sizes) {
    const std::vector<float> scale = uniform(3, 1), a = uniform(3, 2), x = uniform(n, 3),
                             before = uniform(3 * n, 4);
    std::vector<float> y = before;
    vec_update_rows(scale.data(), a.data(), x.data(), y.data(), 3, n);
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t row = i / x.size();
      EXPECT_NEAR(y[i], double{scale[row]} * before[i] + double{a[row]} * x[i % x.size()], bound)
          << n << " " << i;
    }
  }
}

TEST_P(VecFused, RotationsOfBothLayoutsEqualTheDefinition) {
  for (const int64_t n : sizes) {
    std::vector<float> a = uniform(n, 1), b = uniform(n, 2), pairs(static_cast<size_t>(2 * n));
    const std::vector<float> c = uniform(n, 3), s = uniform(n, 4), a0 = a, b0 = b;
    for (size_t i = 0; i < a.size(); ++i) {
      pairs[2 * i] = a[i];
      pairs[2 * i + 1] = b[i];
    }
    vec_rotate(a.data(), b.data(), c.data(), s.data(), a.data(), b.data(), n);
    vec_rotate_pairs(pairs.data(), c.data(), s.data(), pairs.data(), n);
    for (size_t i = 0; i < a.size(); ++i) {
      const double real = double{c[i]} * a0[i] - double{s[i]} * b0[i];
      const double imaginary = double{s[i]} * a0[i] + double{c[i]} * b0[i];
      EXPECT_NEAR(a[i], real, bound) << n << " " << i;
      EXPECT_NEAR(b[i], imaginary, bound) << n << " " << i;
      EXPECT_NEAR(pairs[2 * i], real, bound) << n << " " << i;
      EXPECT_NEAR(pairs[2 * i + 1], imaginary, bound) << n << " " << i;
    }
  }
}

TEST_P(VecFused, FilterSumsTapsFromStart) {
  for (const int64_t k : {0, 1, 4}) {
    for (const int64_t n : sizes) {
      const std::vector<float> x = uniform(n + k, 1), taps = uniform(k, 2);
      std::vector<float> y(static_cast<size_t>(n));
      vec_filter(x.data(), taps.data(), k, 0.5f, y.data(), n);
      for (size_t i = 0; i < y.size(); ++i) {
        double sum = 0.5;
        for (size_t j = 0; j < taps.size(); ++j) sum += double{taps[j]} * x[i + j];
        EXPECT_NEAR(y[i], sum, 2 * bound) << n << " " << k << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
