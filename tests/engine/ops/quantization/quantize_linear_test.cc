#include <gtest/gtest.h>

#include <cstdint>

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
                 ErrorKind::unsupported,
                 "precision is int64; x / y_scale can be computed in float, float16, bfloat16 and double"}});
}

TEST(QuantizeLinear, DividesIntegersThatFloatCannotHold) {
  check_rows({{"beyond 2^24",
               "QuantizeLinear",
               21,
               {vec<std::int32_t>({33552897}), make<std::int32_t>({}, {1024}), make<std::int16_t>({}, {0})},
               {},
               {vec<std::int16_t>({32767})}}});
}

}  // namespace
}  // namespace grurun::engine::testing
