// Resize and Upsample of integers against sums of fractions, which are exact: halves go to the even number.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

struct Axis {
  std::int64_t input, output;
};

// Weights of the elements of an axis for output o, as integers; they add up to `whole`.
struct Weights {
  std::vector<std::int64_t> of;  // [input]
  std::int64_t whole;
};

// d / unit, |d| < 2 unit, by cubic convolution with a = -3/4; in parts of 4 unit^3.
std::int64_t cubic(std::int64_t d, std::int64_t unit) {
  d = std::abs(d);
  if (d >= 2 * unit) return 0;
  if (d <= unit) return (5 * d - 9 * unit) * d * d + 4 * unit * unit * unit;
  return ((-3 * d + 15 * unit) * d - 24 * unit * unit) * d + 12 * unit * unit * unit;
}

Weights weights(const Axis& axis, bool is_cubic, bool half_pixel, std::int64_t o) {
  const std::int64_t unit = 2 * axis.output;
  // The place in the input, in parts of a unit.
  const std::int64_t place = half_pixel ? (2 * o + 1) * axis.input - axis.output : 2 * o * axis.input;
  Weights out{std::vector<std::int64_t>(static_cast<std::size_t>(axis.input), 0),
              is_cubic ? 4 * unit * unit * unit : unit};
  for (std::int64_t i = -3; i < axis.input + 3; ++i) {
    const std::int64_t distance = i * unit - place;
    out.of[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, axis.input - 1))] +=
        is_cubic ? cubic(distance, unit) : std::max<std::int64_t>(0, unit - std::abs(distance));
  }
  return out;
}

std::int64_t rounded(std::int64_t sum, std::int64_t whole) {
  std::int64_t below = sum / whole, rest = sum % whole;
  if (rest < 0) --below, rest += whole;
  return below + (2 * rest > whole || (2 * rest == whole && below % 2 != 0));
}

// x [rows.input, columns.input] -> [rows.output, columns.output]. Counts halves.
template <typename T>
std::vector<double> resized(const std::vector<double>& x, const Axis& rows, const Axis& columns,
                            bool is_cubic, bool half_pixel, int& ties) {
  std::vector<double> out;
  for (std::int64_t r = 0; r < rows.output; ++r) {
    const Weights a = weights(rows, is_cubic, half_pixel, r);
    for (std::int64_t c = 0; c < columns.output; ++c) {
      const Weights b = weights(columns, is_cubic, half_pixel, c);
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < a.of.size(); ++i) {
        for (std::size_t k = 0; k < b.of.size(); ++k)
          sum += a.of[i] * b.of[k] * static_cast<std::int64_t>(x[i * b.of.size() + k]);
      }
      const std::int64_t whole = a.whole * b.whole;
      ties += std::abs(2 * sum) % whole == 0 && std::abs(sum) % whole != 0;
      out.push_back(std::clamp(static_cast<double>(rounded(sum, whole)),
                               static_cast<double>(std::numeric_limits<T>::lowest()),
                               static_cast<double>(std::numeric_limits<T>::max())));
    }
  }
  return out;
}

template <typename T>
void add_rows(std::vector<OpRowCase>& cases, std::mt19937& random, const Axis& rows, const Axis& columns,
              int& ties) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < rows.input * columns.input; ++i)
    x.push_back(static_cast<double>(random() % 256) - 128);
  const Tensor data = make<T>({rows.input, columns.input}, x);
  const std::vector<float> factors{static_cast<float>(rows.output) / static_cast<float>(rows.input),
                                   static_cast<float>(columns.output) / static_cast<float>(columns.input)};
  const Tensor scales = Tensor::from(Shape{2}, factors);
  const Tensor sizes = Tensor::from(Shape{2}, std::vector<std::int64_t>{rows.output, columns.output});
  const Shape made{rows.output, columns.output};
  for (const bool is_cubic : {false, true}) {
    const auto add = [&](const char* op, int opset, std::vector<Value> inputs, Attributes attributes,
                         bool half_pixel) {
      attributes.push_back(attr("mode", is_cubic ? "cubic" : "linear"));
      const std::vector<double> y = resized<T>(x, rows, columns, is_cubic, half_pixel, ties);
      cases.push_back(
          {fmt::format("{} {} {} to {}", opset, is_cubic, data.shape().to_string(), made.to_string()),
           op,
           opset,
           std::move(inputs),
           std::move(attributes),
           {make<T>(made, y)}});
    };
    const bool exact =
        std::ranges::all_of(factors, [](float factor) { return factor * 2 == std::floor(factor * 2); });
    for (const int opset : {11, 13, 18, 19}) {
      // Version 11 asks for empty ones.
      const Value none = opset == 11 ? Value(vec<float>({})) : Value();
      add("Resize", opset, {data, none, none, sizes}, {}, true);
      add("Resize", opset, {data, none, none, sizes}, {attr("coordinate_transformation_mode", "asymmetric")},
          false);
      if (exact) add("Resize", opset, {data, none, scales}, {}, true);
    }
    if (is_cubic || !exact) continue;
    add("Resize", 10, {data, scales}, {}, false);
    add("Upsample", 7, {data}, {attr("scales", factors)}, false);
    add("Upsample", 9, {data, scales}, {}, false);
    add("Upsample", 10, {data, scales}, {}, false);
  }
}

TEST(ResizeOfIntegers, HalvesGoToTheEvenNumber) {
  std::mt19937 random(7);
  int ties = 0;
  std::vector<OpRowCase> cases;
  for (const Axis& rows : {Axis{4, 12}, Axis{6, 9}, Axis{5, 7}, Axis{1, 3}, Axis{7, 4}}) {
    for (const Axis& columns : {Axis{4, 6}, Axis{3, 10}, Axis{8, 8}, Axis{11, 33}}) {
      add_rows<std::int8_t>(cases, random, rows, columns, ties);
      add_rows<std::int32_t>(cases, random, rows, columns, ties);
      add_rows<std::int64_t>(cases, random, rows, columns, ties);
    }
  }
  EXPECT_GT(ties, 1000);
  check_rows(cases);
}

}  // namespace
}  // namespace grurun::engine::testing
