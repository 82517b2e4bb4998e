#include "engine/kernels/vec/vec_byte_sums.h"

#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class VecByteSums : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(VecByteSums);

template <class T>
void check_byte_sums() {
  std::vector<T> x(133 * 600);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i % 7 == 0 ? 128 : i * 91);
  for (const size_t n : {size_t{0}, size_t{1}, size_t{31}, size_t{127}, size_t{1000}, x.size()}) {
    int64_t expected = 0;
    for (size_t i = 0; i < n; ++i) expected += x[i];
    EXPECT_EQ(sum_bytes(x.data(), static_cast<int64_t>(n)), expected) << n;
  }
  for (const size_t n : {size_t{0}, size_t{1}, size_t{33}, size_t{70}, size_t{133}}) {
    std::vector<int32_t> sums(n + 1, 5), expected(n + 1, 5);
    for (size_t r = 0; r < 600; ++r)
      for (size_t i = 0; i < n; ++i) expected[i] += x[r * 133 + i];
    add_byte_rows(x.data(), 600, 133, sums.data(), static_cast<int64_t>(n));
    EXPECT_EQ(sums, expected) << n;
  }
}

TEST_P(VecByteSums, AreTheScalarDefinition) {
  check_byte_sums<int8_t>();
  check_byte_sums<uint8_t>();
}

TEST_P(VecByteSums, OfTheLargestNumbersDoNotOverflow) {
  const std::vector<uint8_t> most(70000, 255);
  const std::vector<int8_t> least(70000, -128);
  EXPECT_EQ(sum_bytes(most.data(), 70000), 70000 * 255);
  EXPECT_EQ(sum_bytes(least.data(), 70000), 70000 * -128);
  std::vector<int32_t> sums(100), low_sums(100);
  add_byte_rows(most.data(), 700, 100, sums.data(), 100);
  add_byte_rows(least.data(), 700, 100, low_sums.data(), 100);
  EXPECT_EQ(sums, std::vector<int32_t>(100, 700 * 255));
  EXPECT_EQ(low_sums, std::vector<int32_t>(100, 700 * -128));
}

}  // namespace
}  // namespace grurun::kernels
