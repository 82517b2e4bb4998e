#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using List = std::vector<std::int64_t>;

Tensor list(const List& values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

OpRowCase row(std::string name, Tensor input, const List& image, const List& block, Attributes attributes,
              Tensor output) {
  return {std::move(name),       "Col2Im",           18, {std::move(input), list(image), list(block)},
          std::move(attributes), {std::move(output)}};
}

TEST(Col2Im, Blocks) {
  // A line of 3 with blocks of 2: columns (a0 a1; b0 b1) give a0, b0 + a1, b1.
  check_rows({
      row("overlap is added", make<float>({1, 2, 2}, {1, 2, 10, 20}), {3}, {2}, {},
          make<float>({1, 1, 3}, {1, 12, 20})),
      row("strides leave gaps", make<float>({1, 1, 2}, {1, 2}), {4}, {1}, {attr("strides", List{2})},
          make<float>({1, 1, 4}, {1, 0, 2, 0})),
      row("dilations", make<float>({1, 2, 1}, {1, 2}), {3}, {2}, {attr("dilations", List{2})},
          make<float>({1, 1, 3}, {1, 0, 2})),
      row("what falls into the padding is dropped", make<float>({1, 2, 3}, {1, 2, 3, 10, 20, 30}), {2}, {2},
          {attr("pads", List{1, 1})}, make<float>({1, 1, 2}, {12, 23})),
      row("an image, two channels", make<float>({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), {2, 2}, {2, 1}, {},
          make<float>({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})),
      row("blocks are counted row-major", make<float>({1, 1, 6}, {1, 2, 3, 4, 5, 6}), {2, 3}, {1, 1}, {},
          make<float>({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6})),
      row("three axes", make<double>({1, 2, 2}, {1, 2, 3, 4}), {1, 2, 2}, {1, 1, 2}, {},
          make<double>({1, 1, 1, 2, 2}, {1, 3, 2, 4})),
      row("no batch", make<float>({0, 2, 2}, {}), {3}, {2}, {}, make<float>({0, 1, 3}, {})),
  });
}

TEST(Col2Im, Types) {
  const auto sums = [](auto zero, std::vector<double> in, std::vector<double> out) {
    using T = decltype(zero);
    return row("", make<T>({1, 2, 2}, in), {3}, {2}, {}, make<T>({1, 1, 3}, out));
  };
  const auto exact = [](auto in, auto out) {
    return row("", Tensor::from(Shape{1, 2, 2}, in), {3}, {2}, {}, Tensor::from(Shape{1, 1, 3}, out));
  };
  using Strings = std::vector<std::string>;
  using Complex = std::vector<Complex64>;
  using Wide = std::vector<std::int64_t>;
  const std::int64_t large = 9007199254740993;
  check_rows({
      sums(std::uint8_t(), {1, 200, 100, 2}, {1, 44, 2}),
      sums(std::int16_t(), {1, -2, 3, 4}, {1, 1, 4}),
      sums(Float16(), {1, 2, 3, 4}, {1, 5, 4}),
      sums(BFloat16(), {1, 2, 3, 4}, {1, 5, 4}),
      sums(bool(), {0, 1, 0, 1}, {0, 1, 1}),
      exact(Wide{large, large, 2, 3}, Wide{large, large + 2, 3}),
      exact(Complex{{1, 1}, {2, 0}, {0, 3}, {4, 4}}, Complex{{1, 1}, {2, 3}, {4, 4}}),
      row("16-bit floats are summed in float: 2048 + 1 + 1",
          make<Float16>({1, 3, 3}, {0, 0, 2048, 0, 1, 0, 1, 0, 0}), {5}, {3}, {},
          make<Float16>({1, 1, 5}, {0, 0, 2050, 0, 0})),
      row("strings that do not meet", Tensor::from(Shape{1, 1, 2}, Strings{"a", "b"}), {3}, {1},
          {attr("strides", List{2})}, Tensor::from(Shape{1, 1, 3}, Strings{"a", "", "b"})),
  });
  check_errors({{"strings that meet",
                 "Col2Im",
                 18,
                 {Tensor::from(Shape{1, 2, 2}, Strings{"a", "b", "c", "d"}), list({3}), list({2})},
                 {},
                 ErrorKind::unsupported,
                 "strings"}});
}

TEST(Col2Im, Errors) {
  const ErrorKind invalid = ErrorKind::invalid_model;
  const Tensor input = make<float>({1, 2, 2}, {1, 2, 3, 4});
  check_errors({
      {"number of blocks", "Col2Im", 18, {input, list({4}), list({2})}, {}, invalid, "room for 3"},
      {"places of a block", "Col2Im", 18, {input, list({4}), list({3})}, {}, invalid, "multiple of the 3"},
      {"block too large", "Col2Im", 18, {input, list({1}), list({2})}, {}, invalid, "does not fit"},
      {"lengths differ", "Col2Im", 18, {input, list({3, 1}), list({2})}, {}, invalid, "axes"},
      {"empty image", "Col2Im", 18, {input, list({0}), list({2})}, {}, invalid, "image_shape holds 0"},
      {"empty block", "Col2Im", 18, {input, list({3}), list({0})}, {}, invalid, "block_shape holds 0"},
      {"no axis", "Col2Im", 18, {input, list({}), list({})}, {}, invalid, "no axis"},
      {"rank",
       "Col2Im",
       18,
       {make<float>({2, 2}, {1, 2, 3, 4}), list({3}), list({2})},
       {},
       invalid,
       "input is [2,2]; Col2Im-18 takes [N,C*block,blocks]"},
      {"strides",
       "Col2Im",
       18,
       {input, list({3}), list({2})},
       {attr("strides", List{0})},
       invalid,
       "strides"},
      {"pads", "Col2Im", 18, {input, list({3}), list({2})}, {attr("pads", List{-1, 0})}, invalid, "pads"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
