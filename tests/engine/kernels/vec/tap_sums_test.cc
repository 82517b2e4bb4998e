#include "engine/kernels/vec/tap_sums.h"

#include <random>
#include <vector>

#include "engine/kernels/gemm/gemm_tile.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class TapSumsOf : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(TapSumsOf);

std::size_t at(int64_t i) {
  return static_cast<std::size_t>(i);
}

/// Taps `down` by `across` of a plane with rows `ldx` apart. Small whole numbers: sums are exact.
template <class T>
void expect_sums(int64_t rows, int64_t columns, int64_t down, int64_t across, bool apart,
                 std::mt19937& draw) {
  const int64_t ldx = columns + across + 1, ldy = columns + 3, taps = down * across;
  std::uniform_int_distribution<int> values(-4, 4);
  std::vector<int64_t> offset;
  for (int64_t i = 0; i < down; ++i) {
    for (int64_t j = 0; j < across; ++j) offset.push_back(i * (apart ? 2 : 1) * ldx + j);
  }
  std::vector<T> x(at((rows + 2 * down) * ldx + columns_of_vector<T> + across)), w(at(taps));
  for (T& value : x) value = static_cast<T>(values(draw));
  for (T& value : w) value = static_cast<T>(values(draw));
  std::vector<T> y(at(rows * ldy), T(99)), expected = y;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < columns; ++i) {
      T sum = 5;
      for (int64_t k = 0; k < taps; ++k) sum += w[at(k)] * x[at(r * ldx + offset[at(k)] + i)];
      expected[at(r * ldy + i)] = sum;
    }
  }
  sum_taps(TapSums<T>{rows, columns, taps, apart ? 1 : down, w.data(), offset.data(), T(5), x.data(), ldx,
                      y.data(), ldy});
  ASSERT_EQ(y, expected) << rows << " x " << columns << ", " << down << " x " << across << " taps";
}

TEST_P(TapSumsOf, AreThoseOfTheDefinitionAndWriteNothingElse) {
  std::mt19937 draw(1);
  for (const int64_t rows : {1, 2, 3, 7, 8, 11, 17}) {
    for (const int64_t columns : {1, 3, 8, 14, 16, 33, 70, 150}) {
      for (const int64_t down : {1, 2, 3, 5, 7}) {
        for (const bool apart : {false, true}) {
          expect_sums<float>(rows, columns, down, 3, apart, draw);
          expect_sums<double>(rows, columns, down, 4, apart, draw);
        }
      }
    }
  }
}

}  // namespace
}  // namespace grurun::kernels
