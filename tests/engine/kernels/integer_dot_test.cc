#include "engine/kernels/integer_dot.h"

#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class IntegerDot : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(IntegerDot);

void expect_exact(int64_t rows, int64_t columns, int64_t n, std::mt19937& generator) {
  std::uniform_int_distribution<int> draw(-255, 255);
  std::vector<int16_t> a(static_cast<size_t>(rows * n)), b(static_cast<size_t>(columns * n));
  for (int16_t& v : a) v = static_cast<int16_t>(draw(generator));
  for (int16_t& v : b) v = static_cast<int16_t>(draw(generator));
  std::vector<int64_t> out(static_cast<size_t>(rows * columns), -1), expected;
  integer_dots(a.data(), rows, b.data(), columns, n, out.data());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < columns; ++j) {
      int64_t sum = 0;
      for (int64_t i = 0; i < n; ++i)
        sum += int64_t{a[static_cast<size_t>(r * n + i)]} * b[static_cast<size_t>(j * n + i)];
      expected.push_back(sum);
    }
  }
  EXPECT_EQ(out, expected) << rows << " x " << columns << " of " << n;

  std::vector<int8_t> narrow(b.size());
  for (size_t i = 0; i < b.size(); ++i) b[i] = narrow[i] = static_cast<int8_t>(b[i]);
  integer_dots(a.data(), rows, b.data(), columns, n, expected.data());
  integer_dots(a.data(), rows, narrow.data(), columns, n, out.data());
  EXPECT_EQ(out, expected) << rows << " x " << columns << " of " << n << " in int8";
}

TEST_P(IntegerDot, EveryLength) {
  std::mt19937 generator(1);
  for (int64_t n = 0; n < 150; ++n) expect_exact(5, 7, n, generator);
}

TEST_P(IntegerDot, EveryNumberOfRowsAndColumns) {
  std::mt19937 generator(1);
  for (int64_t rows = 0; rows < 10; ++rows) {
    for (int64_t columns = 0; columns < 10; ++columns) expect_exact(rows, columns, 70, generator);
  }
}

TEST_P(IntegerDot, LongSumsDoNotWrap) {
  constexpr int64_t n = 100'001;
  const std::vector<int16_t> most(n, 255), least(n, -255);
  std::vector<int16_t> b;
  for (int j = 0; j < 5; ++j)
    b.insert(b.end(), j % 2 == 0 ? most.begin() : least.begin(), j % 2 == 0 ? most.end() : least.end());
  std::vector<int64_t> out(5);
  integer_dots(most.data(), 1, b.data(), 5, n, out.data());
  const int64_t sum = n * 255 * 255;
  EXPECT_EQ(out, (std::vector<int64_t>{sum, -sum, sum, -sum, sum}));
}

}  // namespace
}  // namespace grurun::kernels
