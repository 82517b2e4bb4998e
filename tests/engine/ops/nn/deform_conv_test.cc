#include <gtest/gtest.h>

#include <random>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using List = std::vector<std::int64_t>;

// Random numbers of a shape; small ones of 1/8, so that sums in float are exact.
Tensor random_tensor(std::mt19937& random, Shape shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (double& value : values) value = std::uniform_int_distribution<int>(-16, 16)(random) / 8.0;
  return make<float>(std::move(shape), values);
}

TEST(DeformConv, Offsets) {
  const Tensor x = make<float>({1, 1, 4}, {1, 2, 4, 8}), one = make<float>({1, 1, 1}, {1});
  const auto row = [&](std::string name, std::vector<double> offsets, std::vector<double> y) {
    return OpRowCase{std::move(name),
                     "DeformConv",
                     19,
                     {x, one, make<float>({1, 1, 4}, offsets)},
                     {},
                     {make<float>({1, 1, 4}, y)}};
  };
  check_rows({
      row("none", {0, 0, 0, 0}, {1, 2, 4, 8}),
      row("fractions are linear", {0.5, -0.25, 0.25, -1.5}, {1.5, 1.75, 5, 3}),
      row("outside is 0, faded in within one element", {-0.5, -2, 9, 0.25}, {0.5, 0, 0, 6}),
  });
}

TEST(DeformConv, GroupsMaskAndBias) {
  check_rows({
      // Places 0 and 1 of the kernel, two axes each: place 1 moves down by one row.
      {"offsets are by place, then axis",
       "DeformConv",
       22,
       {make<float>({1, 1, 2, 2}, {1, 2, 3, 4}), make<float>({1, 1, 1, 2}, {10, 1}),
        make<float>({1, 4, 2, 1}, {0, 0, 0, 0, 1, 0, 0, 0})},
       {},
       {make<float>({1, 1, 2, 1}, {14, 34})}},
      {"each offset group moves its channels; the mask weighs, the bias is added",
       "DeformConv",
       19,
       {make<float>({1, 2, 2}, {1, 2, 3, 4}), make<float>({1, 2, 1}, {1, 1}),
        make<float>({1, 2, 2}, {0, 0, 1, -1}), vec<float>({100}), make<float>({1, 2, 2}, {1, 1, 10, 0.5})},
       {attr("offset_group", 2)},
       {make<float>({1, 1, 2}, {100 + 1 + 40, 100 + 2 + 1.5})}},
      {"bfloat16",
       "DeformConv",
       22,
       {make<BFloat16>({1, 1, 2}, {1, 2}), make<BFloat16>({1, 1, 1}, {2}),
        make<BFloat16>({1, 1, 2}, {0.5, 0})},
       {},
       {make<BFloat16>({1, 1, 2}, {3, 4})}},
      {"float16",
       "DeformConv",
       19,
       {make<Float16>({1, 1, 2}, {1, 2}), make<Float16>({1, 1, 1}, {2}), make<Float16>({1, 1, 2}, {0.5, 0})},
       {},
       {make<Float16>({1, 1, 2}, {3, 4})}},
      {"double",
       "DeformConv",
       19,
       {make<double>({1, 1, 2}, {1, 2}), make<double>({1, 1, 1}, {1}), make<double>({1, 1, 2}, {0x1p-40, 0})},
       {},
       {make<double>({1, 1, 2}, {1 + 0x1p-40, 2})}},
      {"no batch",
       "DeformConv",
       19,
       {make<float>({0, 1, 2}, {}), make<float>({1, 1, 1}, {2}), make<float>({0, 1, 2}, {})},
       {},
       {make<float>({0, 1, 2}, {})}},
  });
}

// Without offsets it is Conv, whole offsets read a shifted X.
TEST(DeformConv, IsConvWithoutOffsets) {
  std::mt19937 random(5);
  struct Case {
    Shape x, w, offset;
    int group;
    List strides, pads, dilations;
  };
  const std::vector<Case> cases = {
      {{2, 3, 7}, {2, 3, 3}, {2, 3, 7}, 1, {1}, {1, 1}, {1}},
      {{2, 4, 5, 6}, {6, 2, 3, 2}, {2, 12, 3, 3}, 2, {2, 3}, {1, 0, 1, 2}, {1, 1}},
      {{1, 2, 4, 4, 4}, {2, 1, 2, 2, 2}, {1, 24, 2, 2, 2}, 2, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, {2, 2, 2}},
  };
  for (const Case& c : cases) {
    const Tensor x = random_tensor(random, c.x), w = random_tensor(random, c.w);
    const Tensor bias = random_tensor(random, {c.w[0]});
    const Attributes attributes{attr("group", c.group), attr("strides", c.strides), attr("pads", c.pads),
                                attr("dilations", c.dilations)};
    const auto expected = run_node("Conv", "", 11, {x, w, bias}, attributes);
    const auto got =
        run_node("DeformConv", "", 19, {x, w, Tensor::zeros(DType::float32, c.offset), bias}, attributes);
    EXPECT_EQ(difference(got[0].tensor(), expected[0].tensor()), "") << c.x.to_string();
  }
}

TEST(DeformConv, Errors) {
  const ErrorKind invalid = ErrorKind::invalid_model;
  const Tensor x = make<float>({1, 2, 2}, {1, 2, 3, 4}), w = make<float>({1, 2, 1}, {1, 1});
  const Tensor offset = make<float>({1, 1, 2}, {0, 0});
  const Value none;
  check_errors({
      {"shape of offset",
       "DeformConv",
       19,
       {x, w, make<float>({1, 2, 2}, {0, 0, 0, 0})},
       {},
       invalid,
       "offset is [1,2,2], but must be [1,1,2]"},
      {"offset_group", "DeformConv", 19, {x, w, offset}, {attr("offset_group", 3)}, invalid, "offset_group"},
      {"B", "DeformConv", 19, {x, w, offset, vec<float>({1, 2})}, {}, invalid, "takes [oC], here [1]"},
      {"mask",
       "DeformConv",
       19,
       {x, w, offset, none, make<float>({1, 1, 1}, {1})},
       {},
       invalid,
       "mask is [1,1,1], but must be [1,1,2]"},
      {"group",
       "DeformConv",
       19,
       {x, w, offset},
       {attr("group", 2)},
       invalid,
       "group is 2, but W is [1,2,1]"},
      {"kernel_shape",
       "DeformConv",
       19,
       {x, w, offset},
       {attr("kernel_shape", List{2})},
       invalid,
       "kernel_shape"},
      {"rank",
       "DeformConv",
       19,
       {make<float>({1, 2}, {1, 2}), w, offset},
       {},
       invalid,
       "takes [oC,C/group,...], here [oC,C/group]"},
      {"no spatial axis",
       "DeformConv",
       19,
       {make<float>({1, 1}, {1}), make<float>({1, 1}, {1}), make<float>({1, 0}, {})},
       {},
       invalid,
       "X is [1,1], but must have a spatial axis behind [N,C]"},
      {"no spatial axis",
       "ConvTranspose",
       11,
       {make<float>({1, 1}, {1}), make<float>({1, 1}, {1})},
       {},
       invalid,
       "X is [1,1], but must have a spatial axis behind [N,C]"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
