#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

onnx_io::Attribute scales(std::vector<float> values) {
  return attr("scales", std::move(values));
}

TEST(Upsample, EveryVersion) {
  const Tensor square = make<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor pair = vec<float>({1, 2});
  check_rows({
      {"1 has a scale for each side",
       "Upsample",
       1,
       {square},
       {attr("height_scale", 1.0f), attr("width_scale", 2.5f)},
       {make<float>({1, 1, 2, 5}, {1, 1, 1, 2, 2, 3, 3, 3, 4, 4})}},
      {"1 calls linear bilinear",
       "Upsample",
       1,
       {square},
       {attr("mode", "bilinear"), attr("height_scale", 2.0f), attr("width_scale", 1.0f)},
       {make<float>({1, 1, 4, 2}, {1, 2, 2, 3, 3, 4, 3, 4})}},
      {"7, nearest by floor", "Upsample", 7, {pair}, {scales({1.5f})}, {vec<float>({1, 1, 2})}},
      {"7, linear",
       "Upsample",
       7,
       {pair},
       {attr("mode", "linear"), scales({2})},
       {vec<float>({1, 1.5, 2, 2})}},
      {"9 has an input", "Upsample", 9, {pair, vec<float>({2})}, {}, {vec<float>({1, 1, 2, 2})}},
      {"10 means the same", "Upsample", 10, {pair, vec<float>({2})}, {}, {vec<float>({1, 1, 2, 2})}},
      {"strings",
       "Upsample",
       9,
       {Tensor::from(Shape{1}, std::vector<std::string>{"a"}), vec<float>({2})},
       {},
       {Tensor::from(Shape{2}, std::vector<std::string>{"a", "a"})}},
      {"bool", "Upsample", 7, {vec<bool>({0, 1})}, {scales({2})}, {vec<bool>({0, 0, 1, 1})}},
      {"integers round halves to even",
       "Upsample",
       9,
       {vec<std::int16_t>({1, 2, 5}), vec<float>({2})},
       {attr("mode", "linear")},
       {vec<std::int16_t>({1, 2, 2, 4, 5, 5})}},
      {"three axes",
       "Upsample",
       9,
       {make<double>({1, 2, 1}, {1, 3}), vec<float>({2, 2, 1})},
       {attr("mode", "linear")},
       {make<double>({2, 4, 1}, {1, 2, 3, 3, 1, 2, 3, 3})}},
  });
}

TEST(Upsample, Errors) {
  const Tensor pair = vec<float>({1, 2});
  const ErrorKind invalid = ErrorKind::invalid_model;
  check_errors({
      {"scale below 1",
       "Upsample",
       9,
       {pair, vec<float>({0.5})},
       {},
       invalid,
       "scales holds 0.5, but must hold numbers from 1 on"},
      {"number of scales", "Upsample", 7, {pair}, {scales({1, 1})}, invalid, "scales has 2 numbers"},
      {"scales that are no list",
       "Upsample",
       9,
       {pair, make<float>({1, 1}, {1})},
       {},
       invalid,
       "input scales is [1,1]; Upsample-9 takes [n] [SHAPE001]"},
      {"cubic",
       "Upsample",
       9,
       {pair, vec<float>({1})},
       {attr("mode", "cubic")},
       invalid,
       "Upsample-9 knows nearest, linear [SCHEMA013]"},
      {"linear in 1",
       "Upsample",
       1,
       {make<float>({1, 1, 1, 1}, {1})},
       {attr("mode", "linear"), attr("height_scale", 1.0f), attr("width_scale", 1.0f)},
       invalid,
       "Upsample-1 knows nearest, bilinear; Upsample-7 has it"},
      {"no image in 1",
       "Upsample",
       1,
       {pair},
       {attr("height_scale", 1.0f), attr("width_scale", 1.0f)},
       invalid,
       "[N,C,H,W]"},
      {"a scale is needed", "Upsample", 1, {pair}, {attr("height_scale", 1.0f)}, invalid, "width_scale"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
