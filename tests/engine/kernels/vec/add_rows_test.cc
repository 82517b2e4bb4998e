#include "engine/kernels/vec/add_rows.h"

#include <cstddef>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class AddRows : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(AddRows);

template <class T>
void check() {
  for (const int64_t rows : {0, 1, 3}) {
    for (const int64_t n : {0, 1, 3, 4, 7, 8, 15, 16, 17, 56, 66}) {
      const int64_t ldx = n + 1, ldy = n + 2;
      std::vector<T> x(static_cast<size_t>(rows * ldx)), y(static_cast<size_t>(rows * ldy)), expected;
      for (size_t i = 0; i < x.size(); ++i) x[i] = T(1) / static_cast<T>(i + 3);
      for (size_t i = 0; i < y.size(); ++i) y[i] = T(1) / static_cast<T>(i + 7);
      expected = y;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < n; ++i)
          expected[static_cast<size_t>(r * ldy + i)] += x[static_cast<size_t>(r * ldx + i)];
      }
      add_rows(x.data(), ldx, rows, n, y.data(), ldy);
      EXPECT_EQ(y, expected) << rows << " rows of " << n;
    }
  }
}

TEST_P(AddRows, EveryTypeEqualsTheDefinition) {
  check<float>();
  check<double>();
}

}  // namespace
}  // namespace grurun::kernels
