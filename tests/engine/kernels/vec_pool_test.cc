#include "engine/kernels/vec_pool.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecPool : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecPool);

float folded(Fold fold, float so_far, float next) {
  if (fold == Fold::sum) return so_far + next;
  return so_far >= next || std::isnan(so_far) ? so_far : next;
}

TEST_P(VecPool, EveryBitIsThatOfTheDefinition) {
  std::mt19937 draw(1);
  std::normal_distribution<float> normal;
  for (const Fold fold : {Fold::sum, Fold::max}) {
    for (const int64_t stride : {1, 2}) {
      for (const int64_t taps : {0, 1, 2, 3, 5}) {
        for (const int64_t step : {1, 3, 50}) {
          for (const int64_t n : {0, 1, 2, 7, 16, 33, 70}) {
            std::vector<float> x(static_cast<std::size_t>(stride * n + taps * step + 1)),
                y(static_cast<std::size_t>(n)),
                expected(y.size(), fold == Fold::sum ? 0 : -std::numeric_limits<float>::infinity());
            for (float& v : x) v = normal(draw);
            if (n == 33) x[20] = -std::numeric_limits<float>::infinity();
            if (n == 16) x[9] = std::nanf("");
            for (int64_t i = 0; i < n; ++i) {
              float& value = expected[static_cast<std::size_t>(i)];
              for (int64_t j = 0; j < taps; ++j)
                value = folded(fold, value, x[static_cast<std::size_t>(i * stride + j * step)]);
            }
            vec_fold(fold, x.data(), step, taps, stride, y.data(), n);
            ASSERT_EQ(n == 0 ? 0 : std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)), 0)
                << "stride " << stride << " taps " << taps << " step " << step << " n " << n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
