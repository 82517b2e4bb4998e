#include "engine/kernels/gates/compact_panels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace grurun::kernels {
namespace {

constexpr int64_t group_rows = CompactPanels::group_rows;

/// Numbers within fifteen binades of each other, 0 among them.
std::vector<float> numbers(int64_t count) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> mantissa(1.0f, 2.0f);
  std::vector<float> all(static_cast<size_t>(count));
  for (size_t i = 0; i < all.size(); ++i) {
    const float number = std::ldexp(mantissa(generator), -1 - static_cast<int>(generator() % 15));
    all[i] = i % 17 == 3 ? 0.0f : i % 2 == 0 ? number : -number;
  }
  return all;
}

/// What the layout's description says that matrix i holds.
std::vector<float> unpacked(const CompactPanels& panels, int64_t i, int64_t K, int64_t columns) {
  std::vector<float> all;
  const CompactPanels::Matrix matrix = panels.matrix(i);
  const float* words = matrix.words;
  const uint32_t* runs = matrix.runs;
  const auto add = [&](uint32_t bits) {
    all.push_back(std::ldexp(std::bit_cast<float>(bits), panels.shift()));
  };
  const auto add_dense_rows = [&](int64_t rows) {
    for (int64_t n = 0; n < rows * columns; ++n) all.push_back(*words++);
  };
  for (int64_t groups = 0; groups < K / group_rows; runs += 2) {
    for (uint32_t g = 0; g < runs[0]; ++g, words += (group_rows - 1) * columns) {
      std::vector<uint32_t> eighth(static_cast<size_t>(columns), 0);
      for (int64_t row = 0; row < group_rows - 1; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
          const auto word = std::bit_cast<uint32_t>(words[row * columns + column]);
          add(word & ~CompactPanels::spare_bits);
          eighth[static_cast<size_t>(column)] |=
              std::rotl(word & CompactPanels::spare_bits, static_cast<int>(4 * (row + 1)));
        }
      }
      for (const uint32_t bits : eighth) add(bits);
    }
    add_dense_rows(group_rows * runs[1]);
    groups += runs[0] + runs[1];
  }
  add_dense_rows(K % group_rows);
  return all;
}

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i])) << i;
  }
}

void expect_holds(const std::vector<float>& data, int64_t K, const std::vector<int64_t>& columns) {
  std::vector<float> place = data;
  const auto packed = CompactPanels::pack({place.data(), K, columns});
  ASSERT_NE(packed, nullptr);
  std::vector<float> all;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::vector<float> matrix = unpacked(*packed, static_cast<int64_t>(i), K, columns[i]);
    all.insert(all.end(), matrix.begin(), matrix.end());
  }
  expect_same_bits(all, data);
  packed->unpack();
  expect_same_bits(place, data);
}

TEST(CompactPanels, HoldEveryBit) {
  for (const int64_t K : {8, 64, 79}) {
    SCOPED_TRACE(K);
    expect_holds(numbers(K * (48 + 64 + 16)), K, {48, 64, 16});
  }
}

TEST(CompactPanels, GroupsWithOtherNumbersStayAsTheyAre) {
  constexpr int64_t K = 83, columns = 48;
  for (const float other : {1e-30f, 1e30f, 1e-42f, std::numeric_limits<float>::infinity(), -0.0f}) {
    SCOPED_TRACE(other);
    std::vector<float> data = numbers(2 * K * columns);
    for (const int64_t row : {0, 30, 31, 40, 79, 82, 83 + 8})
      data[static_cast<size_t>(row * columns + 5)] = other;
    expect_holds(data, K, {columns, columns});
  }
}

TEST(CompactPanels, AreNotMadeWhereTheySaveTooLittle) {
  constexpr int64_t K = 64, columns = 16;
  std::vector<float> data = numbers(K * columns);
  for (int64_t row = 0; row < K; row += 16) data[static_cast<size_t>(row * columns)] = 1e-30f;
  std::vector<float> half = data;  // of the groups: a sixteenth
  EXPECT_NE(CompactPanels::pack({half.data(), K, {columns}}), nullptr);
  data[static_cast<size_t>(8 * columns)] = 1e-30f;
  std::vector<float> place = data;
  EXPECT_EQ(CompactPanels::pack({place.data(), K, {columns}}), nullptr);
  expect_same_bits(place, data);

  EXPECT_EQ(CompactPanels::pack({data.data(), group_rows - 1, {columns}}), nullptr);
  EXPECT_EQ(CompactPanels::pack({data.data(), K, {}}), nullptr);
  std::vector<float> zeros(static_cast<size_t>(K * columns), 0.0f);
  EXPECT_EQ(CompactPanels::pack({zeros.data(), K, {columns}}), nullptr);
  std::vector<float> large(static_cast<size_t>(K * columns), 1e30f);
  EXPECT_EQ(CompactPanels::pack({large.data(), K, {columns}}), nullptr);
}

}  // namespace
}  // namespace grurun::kernels
