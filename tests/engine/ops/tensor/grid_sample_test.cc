#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

// A line of pixels, [1, 1, W] with a grid [1, n, 1] of indices: coordinates that align_corners = 1 turns back
// into these indices exactly when W is 5.
OpRowCase line(std::string name, std::vector<double> indices, const char* mode, const char* padding,
               std::vector<double> expected) {
  const auto n = static_cast<std::int64_t>(indices.size());
  for (double& index : indices) index = index / 2 - 1;
  return {std::move(name),
          "GridSample",
          20,
          {make<float>({1, 1, 5}, {1, 2, 4, 8, 16}), make<float>({1, n, 1}, indices)},
          {attr("mode", mode), attr("padding_mode", padding), attr("align_corners", 1)},
          {make<float>({1, 1, n}, expected)}};
}

// The same with align_corners = 0 on 4 pixels: index = 2 * (coordinate + 1) - 0.5.
OpRowCase edge(std::string name, std::vector<double> indices, const char* mode, const char* padding,
               std::vector<double> expected) {
  const auto n = static_cast<std::int64_t>(indices.size());
  for (double& index : indices) index = (index + 0.5) / 2 - 1;
  return {std::move(name),
          "GridSample",
          22,
          {make<float>({1, 1, 4}, {1, 2, 4, 8}), make<float>({1, n, 1}, indices)},
          {attr("mode", mode), attr("padding_mode", padding)},
          {make<float>({1, 1, n}, expected)}};
}

TEST(GridSample, ModesAndPaddings) {
  check_rows({
      line("linear", {0, 0.5, 3.75, 4}, "linear", "zeros", {1, 1.5, 14, 16}),
      line("linear fades to zero within one element", {-0.5, -1, 4.25, 5}, "linear", "zeros",
           {0.5, 0, 12, 0}),
      line("linear border", {-0.5, -7, 4.25, 99}, "linear", "border", {1, 1, 16, 16}),
      line("linear reflection", {-0.5, -1, 4.5, 6, 8.5}, "linear", "reflection", {1.5, 2, 12, 4, 1.5}),
      line("nearest rounds half to even", {0.5, 1.5, 2.5, 3.5, 0.75}, "nearest", "zeros", {1, 4, 4, 16, 2}),
      line("nearest outside", {-0.5, -0.75, 4.75}, "nearest", "zeros", {1, 0, 0}),
      line("nearest border", {-0.75, 9}, "nearest", "border", {1, 16}),
      line("nearest reflection", {-1, 5, 6}, "nearest", "reflection", {2, 8, 4}),
      // At a half the weights are -3/32, 19/32, 19/32, -3/32.
      line("cubic", {1.5, 2}, "cubic", "zeros", {(-3 * 1 + 19 * 2 + 19 * 4 - 3 * 8) / 32.0, 4}),
      line("cubic with zeros", {0.5}, "cubic", "zeros", {(19 * 1 + 19 * 2 - 3 * 4) / 32.0}),
      line("cubic with the edge", {0.5, -3}, "cubic", "border",
           {(-3 * 1 + 19 * 1 + 19 * 2 - 3 * 4) / 32.0, 1}),
      line("cubic mirrored", {0.5}, "cubic", "reflection", {(-3 * 2 + 19 * 1 + 19 * 2 - 3 * 4) / 32.0}),
      edge("the border is half an element out", {-0.25, 3.25}, "linear", "reflection", {1, 8}),
      edge("mirrored there", {-1, -1.5, 4, 4.5}, "linear", "reflection", {1, 1.5, 8, 6}),
      edge("many times", {-9, 15}, "nearest", "reflection", {1, 1}),
      edge("cubic, the edge stands twice", {0.5}, "cubic", "reflection",
           {(-3 * 1 + 19 * 1 + 19 * 2 - 3 * 4) / 32.0}),
  });
}

TEST(GridSample, NoLocation) {
  check_rows({
      line("zeros", {nan, inf, -inf, 1e30}, "linear", "zeros", {0, 0, 0, 0}),
      line("border", {nan, inf, -inf, 1e30}, "cubic", "border", {1, 16, 1, 16}),
      line("reflection", {nan, inf}, "linear", "reflection", {1, 1}),
      line("nearest", {nan, -1e30}, "nearest", "zeros", {0, 0}),
  });
}

// Two axes: the grid names x before y; channels share the points.
TEST(GridSample, AxesAndVersions) {
  const Tensor x = make<float>({1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  const Tensor grid = make<float>({1, 1, 2, 2}, {1, -1, 0.5, 0});
  const Tensor y = make<float>({1, 2, 1, 2}, {3, 4, 30, 40});
  const auto row = [&](std::string name, std::int64_t opset, const char* mode) {
    return OpRowCase{
        std::move(name), "GridSample", opset, {x, grid}, {attr("mode", mode), attr("align_corners", 1)}, {y}};
  };
  check_rows({
      row("16", 16, "bilinear"),
      row("20", 20, "linear"),
      row("22", 22, "linear"),
      {"the mean of a cube",
       "GridSample",
       20,
       {make<float>({1, 1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}),
        make<float>({1, 1, 1, 2, 3}, {0, 0, 0, 1, 0, -1})},
       {attr("align_corners", 1)},
       {make<float>({1, 1, 1, 1, 2}, {3.5, 2})}},
      {"batches have grids of their own",
       "GridSample",
       16,
       {make<float>({2, 1, 1, 2}, {1, 2, 3, 4}), make<float>({2, 1, 1, 2}, {-0.5, 0, 0.5, 0})},
       {attr("mode", "nearest")},
       {make<float>({2, 1, 1, 1}, {1, 4})}},
      {"no point", "GridSample", 20, {x, make<float>({1, 0, 2, 2}, {})}, {}, {make<float>({1, 2, 0, 2}, {})}},
      {"no pixel",
       "GridSample",
       20,
       {make<float>({1, 1, 0}, {}), make<float>({1, 1, 1}, {0})},
       {},
       {make<float>({1, 1, 1}, {0})}},
  });
}

// More places than are worked out at a time, those of several batches, in every channel: as one by one.
TEST(GridSample, ManyPlaces) {
  constexpr std::int64_t batch_count = 2, channels = 3, places = 150, plane_size = 5 * 7;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-1.3, 1.3);
  const auto numbers = [&](std::int64_t count) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (double& one : out) one = number(random);
    return out;
  };
  const auto part = [](const std::vector<double>& of, std::int64_t first, std::int64_t count) {
    return std::vector<double>(of.begin() + first, of.begin() + first + count);
  };
  const std::vector<double> x = numbers(batch_count * channels * plane_size),
                            grid = numbers(batch_count * places * 2);
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    std::vector<double> y;
    for (std::int64_t plane = 0; plane < batch_count * channels; ++plane) {
      for (std::int64_t place = 0; place < places; ++place) {
        const std::int64_t at = (plane / channels * places + place) * 2;
        const auto made = run_node("GridSample", "", 20,
                                   {make<float>({1, 1, 5, 7}, part(x, plane * plane_size, plane_size)),
                                    make<float>({1, 1, 1, 2}, part(grid, at, 2))},
                                   {attr("mode", mode)});
        y.push_back(static_cast<double>(made.at(0).tensor().data<float>()[0]));
      }
    }
    check_rows(
        {{mode,
          "GridSample",
          20,
          {make<float>({batch_count, channels, 5, 7}, x), make<float>({batch_count, 3, places / 3, 2}, grid)},
          {attr("mode", mode)},
          {make<float>({batch_count, channels, 3, places / 3}, y)}}});
  }
}

TEST(GridSample, Types) {
  const auto row = [](std::string name, Tensor x, Tensor grid, const char* mode, Tensor y) {
    return OpRowCase{std::move(name),
                     "GridSample",
                     22,
                     {std::move(x), std::move(grid)},
                     {attr("mode", mode), attr("align_corners", 1)},
                     {std::move(y)}};
  };
  const Shape two{1, 1, 2}, one{1, 1, 1};
  const Tensor half = make<float>(one, {0}), far = make<float>(one, {9});
  const auto of = [&](auto value) { return Tensor::from(one, std::vector{value}); };
  const auto pair = [&](auto a, auto b) { return Tensor::from(two, std::vector{a, b}); };
  const std::int64_t large = 9007199254740993;
  check_rows({
      row("integers are cut off", make<std::int32_t>(two, {-1, -2}), half, "linear",
          make<std::int32_t>(one, {-1})),
      row("and kept within the type", make<std::uint8_t>({1, 1, 4}, {0, 255, 255, 0}), half, "cubic",
          make<std::uint8_t>(one, {255})),
      row("int64", pair(large, large + 2), half, "linear", of(large + 1)),
      row("bool", make<bool>(two, {0, 1}), half, "linear", make<bool>(one, {1})),
      row("float16", make<Float16>(two, {1, 2}), make<Float16>(one, {0}), "linear",
          make<Float16>(one, {1.5})),
      row("bfloat16", make<BFloat16>(two, {1, 2}), make<BFloat16>(one, {0}), "linear",
          make<BFloat16>(one, {1.5})),
      row("double", make<double>(two, {1, 1 + 0x1p-50}), half, "linear", make<double>(one, {1 + 0x1p-51})),
      row("a grid of double", make<float>(two, {1, 2}), make<double>(one, {0.5}), "linear",
          make<float>(one, {1.75})),
      row("complex", pair(Complex64(1, 2), Complex64(3, -2)), half, "linear", of(Complex64(2, 0))),
      row("complex128", pair(Complex128(1, 2), Complex128(3, -2)), half, "cubic",
          of(Complex128(19.0 / 8, 0))),
      row("strings", pair(std::string("a"), std::string("b")), make<float>(one, {1}), "nearest",
          of(std::string("b"))),
      row("no string is empty", pair(std::string("a"), std::string("b")), far, "nearest", of(std::string())),
  });
}

// Weights are rounded to float, and so may add up to a little less than 1.
TEST(GridSample, EqualIntegersStayWhatTheyAre) {
  std::vector<double> places;
  for (int i = 0; i < 400; ++i) places.push_back(std::sin(i) * 0.8);
  const auto row = [&](Tensor x, std::int64_t opset, const char* mode, Tensor y) {
    return OpRowCase{mode,
                     "GridSample",
                     opset,
                     {std::move(x), make<float>({1, 1, 200, 2}, places)},
                     {attr("mode", mode)},
                     {std::move(y)}};
  };
  const std::vector<double> image(81, 255), many(81, 100000), of_image(200, 255), of_many(200, 100000);
  check_rows(
      {row(make<std::uint8_t>({1, 1, 9, 9}, image), 16, "bilinear",
           make<std::uint8_t>({1, 1, 1, 200}, of_image)),
       row(make<std::uint8_t>({1, 1, 9, 9}, image), 22, "linear",
           make<std::uint8_t>({1, 1, 1, 200}, of_image)),
       row(make<std::int32_t>({1, 1, 9, 9}, many), 20, "linear", make<std::int32_t>({1, 1, 1, 200}, of_many)),
       row(make<std::int64_t>({1, 1, 9, 9}, many), 20, "linear",
           make<std::int64_t>({1, 1, 1, 200}, of_many))});
}

// A weight of 0 leaves an element out, so that what it holds has no influence.
TEST(GridSample, UntouchedElements) {
  check_rows({{"infinity beside the point",
               "GridSample",
               20,
               {make<float>({1, 1, 3}, {inf, 2, nan}), make<float>({1, 1, 1}, {0})},
               {attr("align_corners", 1)},
               {make<float>({1, 1, 1}, {2})}}});
}

TEST(GridSample, Errors) {
  const Tensor x = make<float>({1, 1, 2, 2}, {1, 2, 3, 4}), grid = make<float>({1, 1, 1, 2}, {0, 0});
  const Tensor line = make<float>({1, 1, 2}, {1, 2});
  const ErrorKind invalid = ErrorKind::invalid_model;
  const Tensor words = Tensor::from(Shape{1, 1, 1}, std::vector<std::string>{"a"});
  check_errors({
      {"names of 16 in 20",
       "GridSample",
       20,
       {x, grid},
       {attr("mode", "bilinear")},
       invalid,
       "GridSample-20 knows linear, nearest, cubic [SCHEMA013]"},
      {"names of 20 in 16",
       "GridSample",
       16,
       {x, grid},
       {attr("mode", "cubic")},
       invalid,
       "GridSample-16 knows bilinear, nearest, bicubic; GridSample-20 has it"},
      {"padding", "GridSample", 16, {x, grid}, {attr("padding_mode", "edge")}, invalid, "padding_mode"},
      {"align_corners", "GridSample", 16, {x, grid}, {attr("align_corners", 2)}, invalid, "align_corners"},
      {"16 is for images", "GridSample", 16, {line, make<float>({1, 1, 1}, {0})}, {}, invalid, "[N,C,H,W]"},
      {"ranks",
       "GridSample",
       20,
       {x, make<float>({1, 1, 2}, {0, 0})},
       {},
       invalid,
       "input grid is [1,1,2]; GridSample-20 takes [N,D_out,...,r], here [1,D_out,?,r]"},
      {"vectors",
       "GridSample",
       20,
       {x, make<float>({1, 1, 1, 3}, {0, 0, 0})},
       {},
       invalid,
       "its last size must be 2"},
      {"batches",
       "GridSample",
       20,
       {x, make<float>({2, 1, 1, 2}, {0, 0, 0, 0})},
       {},
       invalid,
       "input grid is [2,1,1,2]; GridSample-20 takes [N,D_out,...,r], here [1,D_out,?,r]"},
      {"no border",
       "GridSample",
       20,
       {make<float>({1, 1, 0}, {}), make<float>({1, 1, 1}, {0})},
       {attr("padding_mode", "border")},
       invalid,
       "no element"},
      {"linear strings",
       "GridSample",
       20,
       {words, make<float>({1, 1, 1}, {0})},
       {},
       ErrorKind::unsupported,
       "strings"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
