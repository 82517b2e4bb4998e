#include "engine/kernels/integer/integer_panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/engine/kernels/target_fixture.h"

namespace grurun::kernels {
namespace {

class IntegerPanelsTest : public EveryTarget {};
GRURUN_FOR_EVERY_TARGET(IntegerPanelsTest);

/// One more than asked for: no memory is a null pointer, which nothing may be added to.
template <class T>
std::vector<T> drawn(int64_t n, std::mt19937& generator) {
  std::uniform_int_distribution<int> draw(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  std::vector<T> out(static_cast<size_t>(n + 1));
  for (T& value : out) value = static_cast<T>(draw(generator));
  return out;
}

/// The definition of multiply_integers, modulo 2^32.
template <class A, class B>
int32_t sum_of(const A* a, A zero_of_a, const B* b, int64_t ld, B zero_of_b, int64_t K) {
  int64_t sum = 0;
  for (int64_t k = 0; k < K; ++k) sum += int64_t{a[k] - zero_of_a} * (b[k * ld] - zero_of_b);
  return static_cast<int32_t>(sum);
}

template <class A, class B>
void expect_exact(int64_t rows, int64_t N, int64_t K, bool by_row, bool by_column, std::mt19937& generator) {
  const auto a = drawn<A>(rows * K, generator), zeros_of_a = drawn<A>(by_row ? rows : 1, generator);
  const auto b = drawn<B>(K * N, generator), zeros_of_b = drawn<B>(by_column ? N : 1, generator);
  std::vector<int64_t> columns(static_cast<size_t>(N));
  std::iota(columns.rbegin(), columns.rend(), -1);  // falling; the last one is nothing
  for (const bool bytes : {true, false}) {
    tuning::override_multiplies_bytes(bytes);
    const IntegerPanels panels(b.data(), K, N, columns, zeros_of_b.data(), by_column ? 1 : 0);
    const IntegerRows given(a.data(), rows, zeros_of_a.data(), by_row ? 1 : 0, panels);
    std::vector<int32_t> out(static_cast<size_t>(rows * (N + 1)), -7), expected = out;
    for (int64_t panel = 0; panel < panels.panels(); panel += 4) {
      multiply_integers(given, 0, rows, panels, panel, std::min(panel + 4, panels.panels()),
                        out.data() + panel * IntegerPanels::column_count, N + 1);
    }
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < N; ++j) {
        const int64_t column = columns[static_cast<size_t>(j)];
        expected[static_cast<size_t>(i * (N + 1) + j)] =
            column < 0
                ? 0
                : sum_of(a.data() + i * K, zeros_of_a[static_cast<size_t>(by_row ? i : 0)], b.data() + column,
                         N, zeros_of_b[static_cast<size_t>(by_column ? column : 0)], K);
      }
    }
    EXPECT_EQ(out, expected) << rows << " x " << N << " of " << K << (bytes ? " in bytes" : " in pairs");
  }
  tuning::override_multiplies_bytes({});
}

TEST_P(IntegerPanelsTest, EveryLength) {
  std::mt19937 generator(1);
  for (int64_t K = 0; K < 150; ++K) expect_exact<uint8_t, int8_t>(5, 7, K, K % 2 == 0, K % 3 == 0, generator);
}

TEST_P(IntegerPanelsTest, EveryNumberOfRowsAndColumns) {
  std::mt19937 generator(1);
  for (int64_t rows = 1; rows < 20; ++rows) {
    for (const int64_t N : {1, 2, 15, 16, 17, 33, 48, 63, 65, 130})
      expect_exact<int8_t, uint8_t>(rows, N, 37, true, true, generator);
  }
}

TEST_P(IntegerPanelsTest, EveryMixtureOfTypes) {
  std::mt19937 generator(1);
  for (const bool by_row : {false, true}) {
    for (const bool by_column : {false, true}) {
      expect_exact<int8_t, int8_t>(9, 50, 70, by_row, by_column, generator);
      expect_exact<int8_t, uint8_t>(9, 50, 70, by_row, by_column, generator);
      expect_exact<uint8_t, int8_t>(9, 50, 70, by_row, by_column, generator);
      expect_exact<uint8_t, uint8_t>(9, 50, 70, by_row, by_column, generator);
    }
  }
}

TEST_P(IntegerPanelsTest, LongSumsWrap) {
  constexpr int64_t K = 100'001;
  const std::vector<uint8_t> most(K, 255);
  const uint8_t none = 0;
  const std::vector<int64_t> columns{0};
  const IntegerPanels panels(most.data(), K, 1, columns, &none, 0);
  int32_t sum = 0;
  multiply_integers(IntegerRows(most.data(), 1, &none, 0, panels), 0, 1, panels, 0, 1, &sum, 1);
  EXPECT_EQ(sum, static_cast<int32_t>(K * 255 * 255));
}

/// Numbers that are quantized as rows, and products scaled: both by their plain definitions.
void expect_scaled(int64_t rows, int64_t N, int64_t K, uint8_t zero_of_b, std::mt19937& generator) {
  const float scale = 0.037f, factor = 0.3f;
  const uint8_t zero = 131;
  std::vector<float> x(static_cast<size_t>(rows * K + 1)), scales(static_cast<size_t>(N));
  std::uniform_real_distribution<float> draw(-6, 6);  // some saturate
  for (float& value : x) value = draw(generator);
  for (float& value : scales) value = draw(generator);
  const auto b = drawn<uint8_t>(K * N, generator);
  std::vector<uint8_t> a(x.size());
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<uint8_t>(std::clamp(std::nearbyint(x[i] / scale) + zero, 0.0f, 255.0f));
  std::vector<int64_t> columns(static_cast<size_t>(N));
  std::iota(columns.begin(), columns.end(), 0);
  for (const bool bytes : {true, false}) {
    tuning::override_multiplies_bytes(bytes);
    const IntegerPanels panels(b.data(), K, N, columns, &zero_of_b, 0);
    const memory::Block memory(static_cast<size_t>(IntegerRows::bytes_of(rows, panels)));
    std::memset(memory.data(), 0x5a, memory.size());
    IntegerRows given(rows, panels, memory.data());
    for (int64_t i = 0; i < rows; ++i) given.quantize(i, x.data() + i * K, scale, zero, panels);
    for (const int64_t start_ld : {int64_t{-1}, int64_t{0}, N + 3}) {
      const int64_t ld = N + 1;
      std::vector<float> y(static_cast<size_t>(rows * ld), 7), expected = y,
                                                               start(static_cast<size_t>(rows * (N + 3)));
      for (float& value : start) value = draw(generator);
      for (int64_t panel = 0; panel < panels.panels(); panel += 4) {
        const int64_t column = panel * IntegerPanels::column_count;
        multiply_scaled(given, rows, panels, panel, std::min(panel + 4, panels.panels()),
                        {.factor = factor,
                         .scale = scales.data(),
                         .start = start_ld < 0 ? nullptr : start.data() + column,
                         .start_ld = start_ld,
                         .y = y.data() + column,
                         .ld = ld});
      }
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < N; ++j) {
          const float begin = start_ld < 0 ? 0.0f : start[static_cast<size_t>(i * start_ld + j)];
          const int32_t sum = sum_of(a.data() + i * K, zero, b.data() + j, N, zero_of_b, K);
          const float product = factor * scales[static_cast<size_t>(j)] * static_cast<float>(sum);
          expected[static_cast<size_t>(i * ld + j)] = begin + product;
        }
      }
      EXPECT_EQ(y, expected) << rows << " x " << N << " of " << K << (bytes ? " in bytes" : " in pairs")
                             << ", zero point " << int{zero_of_b} << ", start " << start_ld;
    }
  }
  tuning::override_multiplies_bytes({});
}

TEST_P(IntegerPanelsTest, QuantizedRowsAndScaledSums) {
  std::mt19937 generator(2);
  // 128 is no zero point of what panels hold, and then sums of rows are left out.
  for (const uint8_t zero_of_b : {uint8_t{128}, uint8_t{3}}) {
    for (int64_t K = 0; K < 80; ++K) expect_scaled(3, 33, K, zero_of_b, generator);
    for (int64_t rows = 1; rows < 20; ++rows) {
      for (const int64_t N : {1, 16, 40, 65, 130}) expect_scaled(rows, N, 21, zero_of_b, generator);
    }
  }
}

TEST_P(IntegerPanelsTest, NoNumberIsTheZeroPoint) {
  const std::vector<float> x{NAN, INFINITY, -INFINITY, NAN, 1, -1, NAN, NAN, 0};
  const std::vector<int8_t> one(x.size(), 1);
  const std::vector<int64_t> columns{0};
  const int8_t none = 0;
  const auto K = static_cast<int64_t>(x.size());
  for (const bool bytes : {true, false}) {
    tuning::override_multiplies_bytes(bytes);
    const IntegerPanels panels(one.data(), K, 1, columns, &none, 0);
    const memory::Block memory(static_cast<size_t>(IntegerRows::bytes_of(1, panels)));
    IntegerRows given(1, panels, memory.data());
    given.quantize(0, x.data(), 0.5f, 100, panels);
    int32_t sum = 0;
    multiply_integers(given, 0, 1, panels, 0, 1, &sum, 1);
    EXPECT_EQ(sum, 155 - 100 + 2 - 2) << bytes;
  }
  tuning::override_multiplies_bytes({});
}

}  // namespace
}  // namespace grurun::kernels
