#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

TEST(Cumulative, EveryAxisAndDirection) {
  const Shape shape{3, 5, 300};
  std::vector<double> x(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7919 % 101) - 50;
  std::vector<OpRowCase> rows;
  for (const int axis : {0, 1, 2}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        const std::int64_t n = shape[static_cast<std::size_t>(axis)];
        const std::int64_t inner = shape.count(static_cast<std::size_t>(axis) + 1, 3);
        std::vector<double> y(x.size());
        for (std::int64_t i = 0; i < shape.element_count(); ++i) {
          const std::int64_t place = i / inner % n;
          const auto counts = [&](std::int64_t k) {
            return k == place ? !exclusive : reverse ? k > place : k < place;
          };
          for (std::int64_t k = 0; k < n; ++k) {
            if (counts(k))
              y[static_cast<std::size_t>(i)] += x[static_cast<std::size_t>(i + (k - place) * inner)];
          }
        }
        const Attributes how{attr("exclusive", exclusive ? 1 : 0), attr("reverse", reverse ? 1 : 0)};
        const std::string name = fmt::format("axis {}, {} {}", axis, exclusive, reverse);
        const Tensor along = make<std::int64_t>({}, {static_cast<double>(axis)});
        rows.push_back({name, "CumSum", 14, {make<float>(shape, x), along}, how, {make<float>(shape, y)}});
        rows.push_back({name + " int64",
                        "CumSum",
                        14,
                        {make<std::int64_t>(shape, x), along},
                        how,
                        {make<std::int64_t>(shape, y)}});
      }
    }
  }
  check_rows(rows);
}

TEST(Cumulative, Directions) {
  const Tensor x = vec<std::int32_t>({1, 2, 3});
  const Tensor axis = make<std::int32_t>({}, {0});
  const auto flags = [](int exclusive, int reverse) {
    return Attributes{attr("exclusive", exclusive), attr("reverse", reverse)};
  };
  check_rows({
      {"forward", "CumSum", 11, {x, axis}, {}, {vec<std::int32_t>({1, 3, 6})}},
      {"exclusive", "CumSum", 14, {x, axis}, flags(1, 0), {vec<std::int32_t>({0, 1, 3})}},
      {"reverse", "CumSum", 14, {x, axis}, flags(0, 1), {vec<std::int32_t>({6, 5, 3})}},
      {"both", "CumSum", 14, {x, axis}, flags(1, 1), {vec<std::int32_t>({5, 3, 0})}},
      {"product", "CumProd", 26, {x, axis}, flags(1, 1), {vec<std::int32_t>({6, 3, 1})}},
      {"negative axis",
       "CumSum",
       14,
       {make<Float16>({2, 2}, {1, 2, 3, 4}), make<std::int64_t>({}, {-2})},
       {},
       {make<Float16>({2, 2}, {1, 2, 4, 6})}},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
