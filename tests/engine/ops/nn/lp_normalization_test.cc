#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

OpRowCase normalized(std::string name, std::int64_t axis, std::int64_t p, const Tensor& x, const Tensor& y) {
  return {std::move(name), "LpNormalization", 22, {x}, {attr("axis", axis), attr("p", p)}, {y}};
}

TEST(LpNormalization, DividesByTheNorm) {
  const Tensor x = make<float>({2, 2}, {3, -4, 0, 0});
  check_rows({
      normalized("rows, p = 2", 1, 2, x, make<float>({2, 2}, {0.6, -0.8, 0, 0})),
      normalized("rows, p = 1", 1, 1, x, make<float>({2, 2}, {3.0 / 7, -4.0 / 7, 0, 0})),
      normalized("columns", 0, 2, make<float>({2, 3}, {3, 0, 1, 4, 0, -1}),
                 make<float>({2, 3}, {0.6, 0, std::sqrt(0.5), 0.8, 0, -std::sqrt(0.5)})),
      normalized("columns of several matrices, p = 1", 1, 1, make<float>({2, 2, 2}, {1, 2, 3, 6, 0, 5, 0, 5}),
                 make<float>({2, 2, 2}, {0.25, 0.25, 0.75, 0.75, 0, 0.5, 0, 0.5})),
      normalized("double", 0, 2, make<double>({2, 2}, {3, 0, 4, 0}), make<double>({2, 2}, {0.6, 0, 0.8, 0})),
      normalized("none", 1, 2, make<float>({3, 0}, {}), make<float>({3, 0}, {})),
      normalized("none along the axis", 0, 2, make<float>({0, 3}, {}), make<float>({0, 3}, {})),
  });
}

// Squares beyond the range of float, above and below.
TEST(LpNormalization, NormsAreExactWhereSquaresAreNoFloats) {
  for (const double size : {1e30, 1e-30}) {
    for (const std::int64_t axis : {0, 1}) {
      const Shape shape = axis == 1 ? Shape{1, 2} : Shape{2, 1};
      check_rows({normalized("large or small", axis, 2, make<float>(shape, {3 * size, 4 * size}),
                             make<float>(shape, {0.6, 0.8}))});
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
