#include "engine/kernels/integer_dot.h"

#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class IntegerDot : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(IntegerDot);

TEST_P(IntegerDot, EveryLength) {
  constexpr int64_t columns = 3;
  std::mt19937 engine(1);
  std::uniform_int_distribution<int> draw(-255, 255);
  for (int64_t n = 0; n < 150; ++n) {
    std::vector<int16_t> a(static_cast<size_t>(n)), b(static_cast<size_t>(n * columns));
    for (int16_t& v : a) v = static_cast<int16_t>(draw(engine));
    for (int16_t& v : b) v = static_cast<int16_t>(draw(engine));
    int64_t out[columns];
    integer_dots(a.data(), b.data(), n, columns, out);
    for (size_t j = 0; j < columns; ++j) {
      int64_t sum = 0;
      for (size_t i = 0; i < a.size(); ++i) sum += int64_t{a[i]} * b[j * a.size() + i];
      EXPECT_EQ(out[j], sum) << n << " " << j;
    }
  }
}

TEST_P(IntegerDot, LongSumsDoNotWrap) {
  constexpr int64_t n = 100'001;
  const std::vector<int16_t> most(n, 255), least(n, -255);
  int64_t out = 0;
  integer_dots(most.data(), most.data(), n, 1, &out);
  EXPECT_EQ(out, n * 255 * 255);
  integer_dots(most.data(), least.data(), n, 1, &out);
  EXPECT_EQ(out, -n * 255 * 255);
}

}  // namespace
}  // namespace grurun::kernels
