// Without Indices windows are taken axis by axis; with them, row by row: both must give the same Y, and
// Indices say where it stands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/engine/one_node.h"

namespace grurun::engine {
namespace {

using testing::attr;
using testing::run_node;

TEST(MaxPool, GivesTheSameWithAndWithoutIndices) {
  std::mt19937 generator(3);
  std::uniform_int_distribution<int> values(-3, 3);
  struct Row {
    Shape x;
    std::vector<std::int64_t> kernel, strides, dilations, pads;
  };
  const Row rows[] = {
      {{2, 3, 17}, {3}, {1}, {1}, {1, 1}},
      {{1, 2, 9, 13}, {5, 3}, {1, 1}, {1, 2}, {2, 1, 2, 1}},
      {{1, 2, 9, 13}, {2, 2}, {2, 3}, {1, 1}, {0, 0, 1, 1}},
      {{1, 2, 9, 14}, {1, 4}, {1, 4}, {1, 1}, {0, 0, 0, 0}},  // windows that are apart
      {{1, 3, 6, 12}, {2, 3}, {1, 3}, {1, 1}, {1, 0, 0, 0}},
      {{2, 1, 3, 2100}, {1, 3}, {2, 4}, {1, 1}, {0, 0, 0, 0}},
      {{1, 1, 5, 6, 7}, {3, 2, 3}, {2, 1, 2}, {1, 2, 1}, {1, 0, 1, 1, 1, 1}},
  };
  for (const Row& row : rows) {
    Tensor x(DType::float32, row.x);
    for (float& value : std::span(x.mutable_data<float>(), static_cast<std::size_t>(x.size()))) {
      const int drawn = values(generator);
      value = drawn == 3 ? NAN : drawn == -3 ? -INFINITY : static_cast<float>(drawn);
    }
    const testing::Attributes attributes = {attr("kernel_shape", row.kernel), attr("strides", row.strides),
                                            attr("dilations", row.dilations), attr("pads", row.pads)};
    const auto alone = run_node("MaxPool", "", 12, {x}, attributes, 1);
    const auto both = run_node("MaxPool", "", 12, {x}, attributes, 2);
    const auto a = alone[0].tensor().span<float>(), b = both[0].tensor().span<float>();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
          << i << ": " << a[i] << ", " << b[i];
      const std::int64_t place = both[1].tensor().span<std::int64_t>()[i];
      ASSERT_TRUE(place >= 0 && place < x.size()) << i << ": " << place;
      const float there = x.span<float>()[static_cast<std::size_t>(place)];
      EXPECT_TRUE(there == b[i] || (std::isnan(there) && std::isnan(b[i]))) << i << ": " << place;
    }
  }
}

TEST(GlobalMaxPool, IsTheGreatestOfEachPlaneOrNan) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<float> draw(-9, -1);
  for (const std::int64_t size : {1, 2, 15, 16, 17, 100, 1000}) {
    for (const bool with_nan : {false, true}) {
      Tensor x(DType::float32, Shape{2, 3, size});
      float* const values = x.mutable_data<float>();
      std::vector<float> expected;
      for (std::int64_t plane = 0; plane < 6; ++plane) {
        std::span<float> own(values + plane * size, static_cast<std::size_t>(size));
        for (float& value : own) value = draw(generator);
        expected.push_back(*std::ranges::max_element(own));
        if (with_nan && plane % 2 == 1) {
          own[generator() % own.size()] = NAN;
          expected.back() = NAN;
        }
      }
      const auto y = run_node("GlobalMaxPool", "", 1, {x}, {}, 1);
      EXPECT_EQ(y[0].tensor().shape(), (Shape{2, 3, 1}));
      const auto got = y[0].tensor().span<float>();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
            << size << " " << i << ": " << got[i] << ", " << expected[i];
      }
    }
  }
}

}  // namespace
}  // namespace grurun::engine
