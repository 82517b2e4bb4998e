#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Value lengths(const std::vector<std::int64_t>& values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

// Version 11 must have roi and scales, which may be empty.
Value left_out(std::int64_t opset) {
  return opset == 11 ? Value(vec<float>({})) : Value();
}

// Rows of Resize from version 11 on, on a vector.
OpRowCase sized(std::string name, std::int64_t opset, Tensor x, std::int64_t length, Attributes attributes,
                Tensor expected) {
  return {std::move(name),
          "Resize",
          opset,
          {std::move(x), left_out(opset), left_out(opset), lengths({length})},
          std::move(attributes),
          {std::move(expected)}};
}
OpRowCase scaled(std::string name, std::int64_t opset, Tensor x, double scale, Attributes attributes,
                 Tensor expected) {
  return {std::move(name),
          "Resize",
          opset,
          {std::move(x), left_out(opset), vec<float>({scale})},
          std::move(attributes),
          {std::move(expected)}};
}

onnx_io::Attribute mode(const char* name) {
  return attr("mode", name);
}
onnx_io::Attribute coordinates(const char* name) {
  return attr("coordinate_transformation_mode", name);
}
onnx_io::Attribute nearest(const char* name) {
  return attr("nearest_mode", name);
}

const Tensor ramp = vec<float>({1, 2, 3, 4});

TEST(Resize, Version10) {
  const auto row = [](std::string name, Tensor x, std::vector<double> scales, const char* how, Tensor y) {
    return OpRowCase{std::move(name), "Resize",      10, {std::move(x), vec<float>(scales)},
                     {mode(how)},     {std::move(y)}};
  };
  check_rows({
      row("nearest takes the floor", vec<float>({1, 2}), {1.5}, "nearest", vec<float>({1, 1, 2})),
      row("and the ceiling where an axis shrinks", ramp, {0.6}, "nearest", vec<float>({1, 3})),
      row("linear is asymmetric", vec<float>({1, 2}), {2}, "linear", vec<float>({1, 1.5, 2, 2})),
      row("each axis has its scale", make<float>({1, 2}, {1, 2}), {2, 0.5}, "nearest",
          make<float>({2, 1}, {1, 1})),
  });
}

TEST(Resize, CoordinateModes) {
  check_rows({
      scaled("half_pixel", 13, vec<float>({1, 2}), 2, {mode("linear")}, vec<float>({1, 1.25, 1.75, 2})),
      scaled("asymmetric", 11, vec<float>({1, 2}), 2, {mode("linear"), coordinates("asymmetric")},
             vec<float>({1, 1.5, 2, 2})),
      sized("align_corners", 13, vec<float>({1, 4}), 4, {mode("linear"), coordinates("align_corners")}, ramp),
      sized("align_corners to one", 13, ramp, 1, {mode("linear"), coordinates("align_corners")},
            vec<float>({1})),
      // 4 * 0.6 = 2.4 is the width that the corners are aligned by: x_original = 3 / 1.4.
      scaled("align_corners with a fractional width", 18, ramp, 0.6,
             {mode("linear"), coordinates("align_corners")}, vec<float>({1, 1 + 3 / (4 * double(0.6f) - 1)})),
      sized("pytorch_half_pixel to one begins at the first element", 13, vec<float>({1, 2, 4}), 1,
            {mode("cubic"), coordinates("pytorch_half_pixel")}, vec<float>({1})),
      sized("half_pixel to one takes the middle", 13, vec<float>({1, 2, 4}), 1, {mode("cubic")},
            vec<float>({2})),
      sized("pytorch_half_pixel", 11, vec<float>({1, 2}), 4,
            {mode("linear"), coordinates("pytorch_half_pixel")}, vec<float>({1, 1.25, 1.75, 2})),
      sized("tf_half_pixel_for_nn", 11, ramp, 2, {coordinates("tf_half_pixel_for_nn"), nearest("floor")},
            vec<float>({2, 4})),
      sized("an axis of scale 1 is not shifted", 11, ramp, 4,
            {mode("linear"), coordinates("tf_half_pixel_for_nn")}, ramp),
      // 4 * 0.625 = 2.5: x_original = 2 * (1 - 2 / 2.5) + (x + 0.5) / 0.625 - 0.5 = 0.7, 2.3.
      scaled("half_pixel_symmetric", 19, ramp, 0.625, {mode("linear"), coordinates("half_pixel_symmetric")},
             vec<float>({1.7, 3.3})),
      scaled("half_pixel with the same width", 19, ramp, 0.625, {mode("linear")}, vec<float>({1.3, 2.9})),
  });
}

TEST(Resize, NearestModes) {
  // x_original is 0.5 and 2.5; with asymmetric 1.6 * o.
  check_rows({
      sized("round_prefer_floor is the default", 13, ramp, 2, {}, vec<float>({1, 3})),
      sized("round_prefer_ceil", 13, ramp, 2, {nearest("round_prefer_ceil")}, vec<float>({2, 4})),
      sized("floor", 13, ramp, 2, {nearest("floor")}, vec<float>({1, 3})),
      sized("ceil", 13, ramp, 2, {nearest("ceil")}, vec<float>({2, 4})),
      scaled("rounds to the nearer", 13, ramp, 0.625, {coordinates("asymmetric")}, vec<float>({1, 3})),
      scaled("floor of 1.6", 13, ramp, 0.625, {coordinates("asymmetric"), nearest("floor")},
             vec<float>({1, 2})),
      // (1 + 0.5) * 10 / 3 - 0.5 is 4.5 exactly, though 3 / 10 is no exact number.
      sized("ties are exact", 13, vec<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 3, {}, vec<float>({1, 4, 8})),
      sized("exclude_outside leaves nearest alone", 13, vec<float>({1, 2}), 4,
            {attr("exclude_outside", 1), nearest("floor")}, vec<float>({1, 1, 1, 2})),
      sized("so does antialias", 18, ramp, 2, {attr("antialias", 1)}, vec<float>({1, 3})),
  });
}

TEST(Resize, CubicAndAntialias) {
  check_rows({
      // At 0.5 the weights are -3/32, 19/32, 19/32, -3/32; the first falls on the edge.
      sized("cubic", 13, ramp, 2, {mode("cubic")}, vec<float>({1.40625, 3.59375})),
      sized("cubic_coeff_a -0.5: -1/16, 9/16", 13, ramp, 2, {mode("cubic"), attr("cubic_coeff_a", -0.5f)},
            vec<float>({1.4375, 3.5625})),
      sized("exclude_outside", 13, ramp, 2, {mode("cubic"), attr("exclude_outside", 1)},
            vec<float>({1.5 / 1.09375, 5 - 1.5 / 1.09375})),
      // Stretched to 2 elements on each side: 1/4, 3/4, 3/4, 1/4 over 2.
      sized("antialias", 18, ramp, 2, {mode("linear"), attr("antialias", 1)}, vec<float>({1.625, 3.375})),
      sized("antialias with exclude_outside", 18, ramp, 2,
            {mode("linear"), attr("antialias", 1), attr("exclude_outside", 1)},
            vec<float>({3 / 1.75, 5 - 3 / 1.75})),
      scaled("antialias does nothing to what grows", 18, vec<float>({1, 2}), 2,
             {mode("linear"), attr("antialias", 1)}, vec<float>({1, 1.25, 1.75, 2})),
      sized("an element of weight 0 has no influence", 13, vec<float>({1, inf}), 4,
            {mode("linear"), coordinates("asymmetric")}, vec<float>({1, inf, inf, inf})),
  });
}

// To half the length every output but those at the ends has the same weights.
TEST(Resize, ToHalfTheLength) {
  std::vector<double> x, linear, cubic;
  for (int i = 0; i < 42; ++i) x.push_back(i * i % 17);
  for (int o = 0; o < 21; ++o) {
    const auto at = [&](int i) { return x[static_cast<std::size_t>(std::clamp(i, 0, 41))]; };
    const double inner = at(2 * o) + at(2 * o + 1), outer = at(2 * o - 1) + at(2 * o + 2);
    linear.push_back(inner / 2);
    cubic.push_back(0.59375 * inner - 0.09375 * outer);
  }
  check_rows({
      scaled("linear", 13, vec<float>(x), 0.5, {mode("linear")}, vec<float>(linear)),
      scaled("cubic", 13, vec<float>(x), 0.5, {mode("cubic")}, vec<float>(cubic)),
      scaled("double", 13, vec<double>(x), 0.5, {mode("linear")}, vec<double>(linear)),
  });
}

TEST(Resize, CropAndResize) {
  const auto row = [](std::string name, std::vector<double> roi, Value scales, Value sizes, const char* how,
                      std::vector<double> y) {
    return OpRowCase{std::move(name),
                     "Resize",
                     13,
                     {ramp, vec<double>(roi), std::move(scales), std::move(sizes)},
                     {mode(how), coordinates("tf_crop_and_resize"), attr("extrapolation_value", 9.0f)},
                     {vec<float>(y)}};
  };
  check_rows({
      row("the middle", {1.0 / 3, 2.0 / 3}, Value(), lengths({2}), "linear", {2, 3}),
      row("the same length is no copy", {0, 0.5}, Value(), lengths({4}), "linear", {1, 1.5, 2, 2.5}),
      row("beyond the end", {0.5, 1.5}, Value(), lengths({3}), "linear", {2.5, 4, 9}),
      row("before the begin, nearest too", {-0.5, 0.5}, Value(), lengths({3}), "nearest", {9, 1, 2}),
      row("backwards", {1, 0}, Value(), lengths({4}), "nearest", {4, 3, 2, 1}),
      row("one element takes the center", {0.5, 1.5}, Value(), lengths({1}), "linear", {4}),
      row("scales count from the roi: floor(4 * 0.5 * 1)", {0.5, 1}, vec<float>({1}), Value(), "linear",
          {2.5, 4}),
      row("NaN is outside", {std::nan(""), 1}, Value(), lengths({2}), "linear", {9, 9}),
  });
  check_rows({{"one axis outside is enough",
               "Resize",
               11,
               {make<float>({2, 2}, {1, 2, 3, 4}), vec<float>({0, 0, 1, 2}), vec<float>({}), lengths({2, 2})},
               {mode("linear"), coordinates("tf_crop_and_resize"), attr("extrapolation_value", -1.0f)},
               {make<float>({2, 2}, {1, -1, 3, -1})}},
              {"integers and complex numbers take the value as theirs",
               "Resize",
               18,
               {make<std::int32_t>({1, 2}, {1, 2}), vec<Float16>({1, 2}), Value(), lengths({1})},
               {coordinates("tf_crop_and_resize"), attr("axes", std::vector<std::int64_t>{1}),
                attr("extrapolation_value", 7.5f)},
               {make<std::int32_t>({1, 1}, {8})}}});
}

TEST(Resize, AxesAndPolicy) {
  const Tensor x = make<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto row = [&](std::string name, std::vector<std::int64_t> axes, std::vector<std::int64_t> sizes,
                       const char* policy, Tensor y) {
    return OpRowCase{std::move(name),
                     "Resize",
                     18,
                     {x, Value(), vec<float>({}), lengths(sizes)},
                     {attr("axes", std::move(axes)), attr("keep_aspect_ratio_policy", policy)},
                     {std::move(y)}};
  };
  check_rows({
      row("one axis", {1}, {2}, "stretch", make<float>({2, 2}, {1, 3, 5, 7})),
      row("axes in any order, from the end too", {-1, 0}, {2, 1}, "stretch", make<float>({1, 2}, {1, 3})),
      row("not_larger", {0, 1}, {1, 3}, "not_larger", make<float>({1, 2}, {1, 3})),
      row("not_smaller: 2 * 0.75 is rounded up", {0, 1}, {1, 3}, "not_smaller",
          make<float>({2, 3}, {1, 2, 4, 5, 6, 8})),
      row("an axis that is not named keeps its length", {1}, {2}, "not_larger",
          make<float>({2, 2}, {1, 3, 5, 7})),
      row("no axis, nothing to do", {}, {}, "stretch", x),
  });
  check_rows({{"scales of some axes",
               "Resize",
               19,
               {x, Value(), vec<float>({0.5})},
               {attr("axes", std::vector<std::int64_t>{1})},
               {make<float>({2, 2}, {1, 3, 5, 7})}}});
}

TEST(Resize, Types) {
  const Attributes linear{mode("linear"), coordinates("asymmetric")};
  const std::vector<std::int64_t> large{9007199254740993, 9007199254740995};
  check_rows({
      scaled("halves to even", 13, vec<std::uint8_t>({0, 1, 2, 3}), 2, linear,
             vec<std::uint8_t>({0, 0, 1, 2, 2, 2, 3, 3})),
      scaled("negative ones too", 13, vec<std::int8_t>({-1, -2}), 2, linear,
             vec<std::int8_t>({-1, -2, -2, -2})),
      sized("overshoot stays within the type", 13, vec<std::uint8_t>({0, 0, 255, 255}), 8, {mode("cubic")},
            vec<std::uint8_t>({0, 0, 0, 58, 197, 255, 255, 255})),
      scaled("int64 beyond the integers of double", 13, Tensor::from(Shape{2}, large), 2, linear,
             Tensor::from(Shape{4}, std::vector<std::int64_t>{large[0], large[0] + 1, large[1], large[1]})),
      scaled("uint64", 13, Tensor::from(Shape{2}, std::vector<std::uint64_t>{~0ull, ~0ull - 2}), 2, linear,
             Tensor::from(Shape{4}, std::vector<std::uint64_t>{~0ull, ~0ull - 1, ~0ull - 2, ~0ull - 2})),
      scaled("bool: all but 0", 13, vec<bool>({1, 0}), 2, linear, vec<bool>({1, 1, 0, 0})),
      scaled("float16", 13, vec<Float16>({1, 2}), 2, linear, vec<Float16>({1, 1.5, 2, 2})),
      scaled("bfloat16", 13, vec<BFloat16>({1, 2}), 2, linear, vec<BFloat16>({1, 1.5, 2, 2})),
      scaled("double", 13, vec<double>({1, 1 + 0x1p-50}), 2, linear,
             vec<double>({1, 1 + 0x1p-51, 1 + 0x1p-50, 1 + 0x1p-50})),
      scaled("strings", 13, Tensor::from(Shape{2}, std::vector<std::string>{"a", "b"}), 1.5, {},
             Tensor::from(Shape{3}, std::vector<std::string>{"a", "a", "b"})),
      scaled("complex", 13, Tensor::from(Shape{2}, std::vector<Complex64>{{1, 2}, {3, -2}}), 2, linear,
             Tensor::from(Shape{4}, std::vector<Complex64>{{1, 2}, {2, 0}, {3, -2}, {3, -2}})),
      scaled("complex128", 13, Tensor::from(Shape{1}, std::vector<Complex128>{{1, 2}}), 2, linear,
             Tensor::from(Shape{2}, std::vector<Complex128>{{1, 2}, {1, 2}})),
  });
}

TEST(Resize, EmptyAndScalar) {
  check_rows({
      {"nothing in",
       "Resize",
       13,
       {make<float>({0, 2}, {}), Value(), vec<float>({2, 2})},
       {},
       {make<float>({0, 4}, {})}},
      {"nothing out",
       "Resize",
       13,
       {make<float>({1, 2}, {1, 2}), Value(), vec<float>({0.5, 1})},
       {},
       {make<float>({0, 2}, {})}},
      {"scalar", "Resize", 18, {make<float>({}, {3}), Value(), vec<float>({})}, {}, {make<float>({}, {3})}},
  });
}

TEST(Resize, Errors) {
  const Value none;
  const ErrorKind invalid = ErrorKind::invalid_model;
  const auto axes = [](std::vector<std::int64_t> values) { return attr("axes", std::move(values)); };
  const Tensor words = Tensor::from(Shape{2}, std::vector<std::string>{"a", "b"});
  check_errors({
      {"both", "Resize", 13, {ramp, none, vec<float>({1}), lengths({4})}, {}, invalid, "exactly one"},
      {"neither", "Resize", 13, {ramp, none, vec<float>({})}, {}, invalid, "exactly one"},
      {"scale 0", "Resize", 13, {ramp, none, vec<float>({0})}, {}, invalid, "above 0"},
      {"scale NaN", "Resize", 10, {ramp, vec<float>({std::nan("")})}, {}, invalid, "above 0"},
      {"too many scales", "Resize", 10, {ramp, vec<float>({1, 1})}, {}, invalid, "must have 1"},
      {"too few sizes", "Resize", 18, {ramp, none, none, lengths({1, 2})}, {}, invalid, "must have 1"},
      {"negative size", "Resize", 13, {ramp, none, none, lengths({-1})}, {}, invalid, "sizes holds -1"},
      {"too long", "Resize", 13, {ramp, none, vec<float>({1e38})}, {}, invalid, "would get the length"},
      {"from nothing", "Resize", 13, {vec<float>({}), none, none, lengths({2})}, {}, invalid, "length 0"},
      {"no cubic in 10", "Resize", 10, {ramp, vec<float>({1})}, {mode("cubic")}, invalid, "nearest, linear"},
      {"symmetric is of 19",
       "Resize",
       18,
       {ramp, none, vec<float>({1})},
       {coordinates("half_pixel_symmetric")},
       invalid,
       "tf_crop_and_resize; Resize-19 has it: import opset 19 or newer [SCHEMA013]"},
      {"tf_half_pixel_for_nn is of 11 and 13",
       "Resize",
       18,
       {ramp, none, vec<float>({1})},
       {coordinates("tf_half_pixel_for_nn")},
       invalid,
       "but Resize-18 knows half_pixel, pytorch_half_pixel, align_corners, asymmetric, "
       "tf_crop_and_resize [SCHEMA013]"},
      {"unknown nearest_mode",
       "Resize",
       13,
       {ramp, none, vec<float>({1})},
       {nearest("round")},
       invalid,
       "nearest_mode"},
      {"antialias 2",
       "Resize",
       18,
       {ramp, none, vec<float>({1})},
       {attr("antialias", 2)},
       invalid,
       "antialias"},
      {"crop without roi",
       "Resize",
       13,
       {ramp, none, vec<float>({1})},
       {coordinates("tf_crop_and_resize")},
       invalid,
       "roi"},
      {"roi too short",
       "Resize",
       13,
       {ramp, vec<float>({0}), vec<float>({1})},
       {coordinates("tf_crop_and_resize")},
       invalid,
       "roi"},
      {"policy with scales",
       "Resize",
       18,
       {ramp, none, vec<float>({1})},
       {attr("keep_aspect_ratio_policy", "not_larger")},
       invalid,
       "keep_aspect_ratio_policy"},
      {"axis twice",
       "Resize",
       18,
       {ramp, none, vec<float>({1, 1})},
       {axes({0, -1})},
       invalid,
       "names each axis once"},
      {"axis out of range",
       "Resize",
       18,
       {ramp, none, vec<float>({1})},
       {axes({1})},
       invalid,
       "axes names axis 1"},
      {"scales without an axis",
       "Resize",
       18,
       {ramp, none, vec<float>({1})},
       {axes({})},
       invalid,
       "must have 0"},
      {"no ratio",
       "Resize",
       18,
       {make<float>({1, 0}, {}), none, none, lengths({1, 1})},
       {attr("keep_aspect_ratio_policy", "not_larger")},
       invalid,
       "cannot be resized to 1"},
      {"linear strings",
       "Resize",
       13,
       {words, none, vec<float>({2})},
       {mode("linear")},
       ErrorKind::unsupported,
       "strings"},
      {"strings outside",
       "Resize",
       13,
       {words, vec<float>({0, 2}), none, lengths({2})},
       {coordinates("tf_crop_and_resize")},
       ErrorKind::unsupported,
       "extrapolation_value"},
      {"weights that cancel",
       "Resize",
       13,
       {vec<float>({1}), none, none, lengths({2})},
       {mode("cubic"), attr("cubic_coeff_a", 18.0f), attr("exclude_outside", 1)},
       ErrorKind::unsupported,
       "sum to 0"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
