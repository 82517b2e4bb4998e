#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

OpRowCase divided_in(DType precision, double x, double scale, double expected) {
  return {std::string(dtype_name(precision)),
          "QuantizeLinear",
          23,
          {make<float>({1}, {x}), make<float>({}, {scale}), make<std::int16_t>({}, {0})},
          {attr("precision", static_cast<std::int64_t>(precision))},
          {make<std::int16_t>({1}, {expected})}};
}

TEST(QuantizeLinear, DividesInTheGivenPrecision) {
  check_rows({
      divided_in(DType::undefined, 0.35, 0.1, 4),  // 3.5 in float: a tie
      divided_in(DType::float32, 0.35, 0.1, 4), divided_in(DType::float64, 0.35, 0.1, 3),  // 3.4999998
      divided_in(DType::bfloat16, 100, 0.3, 332),   // 0.3 is 0.30078125
      divided_in(DType::float16, 1000, 0.3, 3332),  // 0.30004883
  });
  check_errors({{"no precision to divide in",
                 "QuantizeLinear",
                 23,
                 {vec<float>({1}), make<float>({}, {1}), make<std::int16_t>({}, {0})},
                 {attr("precision", static_cast<std::int64_t>(DType::int64))},
                 ErrorKind::invalid_model,
                 "precision is 7, but QuantizeLinear-23 knows 0, 1, 10, 11, 16 [SCHEMA013]"}});
}

// Scales for the whole, along each axis and for blocks: enough elements for several threads.
TEST(QuantizeLinear, EveryGranularity) {
  const Shape shape{4, 6, 5000};
  const std::int64_t count = shape.element_count();
  std::vector<double> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7919 % 1009) / 4 - 120;
  std::vector<OpRowCase> rows;
  const auto add = [&](const std::string& name, const Shape& scale_shape, const Attributes& how,
                       const std::function<std::int64_t(std::int64_t)>& scale_of) {
    std::vector<double> scales(static_cast<std::size_t>(scale_shape.element_count())), zeros(scales.size());
    for (std::size_t i = 0; i < scales.size(); ++i) {
      scales[i] = std::ldexp(1.0, static_cast<int>(i * 5 % 3) - 1);  // powers of 2: exact products
      zeros[i] = static_cast<double>(i * 37 % 100);
    }
    std::vector<double> codes(x.size()), back(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto n = static_cast<std::size_t>(scale_of(static_cast<std::int64_t>(i)));
      codes[i] = std::clamp(std::nearbyint(x[i] / scales[n]) + zeros[n], 0.0, 255.0);
      back[i] = (codes[i] - zeros[n]) * scales[n];
    }
    const Tensor scale = make<float>(scale_shape, scales), zero = make<std::uint8_t>(scale_shape, zeros);
    const Tensor quantized = make<std::uint8_t>(shape, codes);
    rows.push_back({name, "QuantizeLinear", 21, {make<float>(shape, x), scale, zero}, how, {quantized}});
    rows.push_back(
        {name + ", back", "DequantizeLinear", 21, {quantized, scale, zero}, how, {make<float>(shape, back)}});
  };
  add("whole", {}, {}, [](std::int64_t) { return 0; });
  add("first axis", {4}, {attr("axis", 0)}, [](std::int64_t i) { return i / 30000; });
  add("middle axis", {6}, {}, [](std::int64_t i) { return i / 5000 % 6; });
  add("last axis", {5000}, {attr("axis", -1)}, [](std::int64_t i) { return i % 5000; });
  add("blocks of the middle axis", {4, 3, 5000}, {attr("block_size", 2)},
      [](std::int64_t i) { return i / 30000 * 15000 + i % 30000 / 10000 * 5000 + i % 5000; });
  add("blocks of the last axis", {4, 6, 50}, {attr("axis", 2), attr("block_size", 100)},
      [](std::int64_t i) { return i / 100; });
  check_rows(rows);
}

TEST(QuantizeLinear, DividesIntegersThatFloatCannotHold) {
  check_rows({{"beyond 2^24",
               "QuantizeLinear",
               21,
               {vec<std::int32_t>({33552897}), make<std::int32_t>({}, {1024}), make<std::int16_t>({}, {0})},
               {},
               {vec<std::int16_t>({32767})}}});
}

TEST(QuantizeLinear, RefusesScalesThatTheVersionDoesNotKnow) {
  const Tensor x = make<float>({2, 2}, {1, 2, 3, 4}), q = make<std::uint8_t>({2, 2}, {1, 2, 3, 4});
  const Tensor one = vec<float>({2}), each = vec<float>({2, 4});
  check_rows({
      {"one", "QuantizeLinear", 10, {x, one}, {}, {make<std::uint8_t>({2, 2}, {0, 1, 2, 2})}},
      {"one, back", "DequantizeLinear", 10, {q, one}, {}, {make<float>({2, 2}, {2, 4, 6, 8})}},
      {"each, back", "DequantizeLinear", 13, {q, each}, {}, {make<float>({2, 2}, {2, 8, 6, 16})}},
  });
  const ErrorKind invalid = ErrorKind::invalid_model;
  check_errors({
      {"each", "QuantizeLinear", 10, {x, each}, {}, invalid, "[2]; QuantizeLinear-10 takes a scalar"},
      {"each, back",
       "DequantizeLinear",
       10,
       {q, each},
       {},
       invalid,
       "[2]; DequantizeLinear-10 takes a scalar"},
      {"blocks of a row",
       "QuantizeLinear",
       21,
       {vec<float>({1}), one},
       {attr("block_size", -3)},
       invalid,
       "block_size is -3, but must be at least 0 [SCHEMA013]"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
