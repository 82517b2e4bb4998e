#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

// The k first along axis 1 of x [outer, n, inner] in the order of a stable sort, and their indices.
std::vector<Tensor> first_sorted(const Tensor& x, std::int64_t k, bool largest) {
  const std::int64_t n = x.dim(1), inner = x.dim(2);
  Tensor values(DType::float32, Shape{x.dim(0), k, inner}), indices(DType::int64, values.shape());
  for (std::int64_t row = 0; row < x.dim(0) * inner; ++row) {
    const float* from = x.data<float>() + row / inner * n * inner + row % inner;
    const auto rank = [&](std::int64_t i) { return std::isnan(from[i * inner]) ? inf : from[i * inner]; };
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) {
      return largest ? rank(j) < rank(i) : rank(i) < rank(j);
    });
    for (std::int64_t j = 0; j < k; ++j) {
      const std::int64_t to = row / inner * k * inner + j * inner + row % inner;
      indices.mutable_data<std::int64_t>()[to] = order[static_cast<std::size_t>(j)];
      values.mutable_data<float>()[to] = from[order[static_cast<std::size_t>(j)] * inner];
    }
  }
  return {values, indices};
}

// Rows so long that the best ones so far bound what is looked at further.
TEST(TopK, LongRowsAreAsSorted) {
  std::mt19937 generator(5);
  std::vector<OpRowCase> rows;
  for (const Shape& shape : {Shape{3, 1000, 1}, Shape{2, 700, 21}, Shape{1, 97, 16}}) {
    for (const unsigned values : {3u, 100000u}) {
      Tensor x(DType::float32, shape);
      for (float& element : std::span(x.mutable_data<float>(), static_cast<std::size_t>(x.size())))
        element = generator() % 200 == 0 ? static_cast<float>(nan) : static_cast<float>(generator() % values);
      for (const std::int64_t k : {1, 2, 7, 16, 17, 90}) {
        for (const bool largest : {false, true}) {
          rows.push_back({fmt::format("{} of {} values, k {}", shape.to_string(), values, k),
                          "TopK",
                          11,
                          {x, Tensor::from<std::int64_t>({1}, {k})},
                          {attr("axis", 1), attr("largest", largest ? 1 : 0)},
                          first_sorted(x, k, largest)});
        }
      }
    }
  }
  check_rows(rows);
}

TEST(TopK, OrderAndTies) {
  const Tensor x = vec<float>({3, 1, nan, 3, -inf, 2});
  const Tensor k = vec<std::int64_t>({3});
  check_rows({
      {"NaN first, then the lower index",
       "TopK",
       11,
       {x, k},
       {},
       {vec<float>({nan, 3, 3}), vec<std::int64_t>({2, 0, 3})}},
      {"smallest",
       "TopK",
       11,
       {x, k},
       {attr("largest", 0)},
       {vec<float>({-inf, 1, 2}), vec<std::int64_t>({4, 1, 5})}},
      {"attribute k",
       "TopK",
       1,
       {make<double>({2, 2}, {1, 2, 4, 3})},
       {attr("k", 1), attr("axis", 0)},
       {make<double>({1, 2}, {4, 3}), make<std::int64_t>({1, 2}, {1, 1})}},
      {"uint64",
       "TopK",
       24,
       {Tensor::from<std::uint64_t>({2}, {18446744073709551614u, 18446744073709551615u}),
        vec<std::int64_t>({2})},
       {},
       {Tensor::from<std::uint64_t>({2}, {18446744073709551615u, 18446744073709551614u}),
        vec<std::int64_t>({1, 0})}},
  });
  check_errors({{"more than there are",
                 "TopK",
                 11,
                 {vec<float>({1}), vec<std::int64_t>({2})},
                 {},
                 ErrorKind::invalid_model,
                 "input K holds 2, but must lie in [0, n], where n is 1, the size of the input [1]",
                 2}});
}

}  // namespace
}  // namespace grurun::engine::testing
