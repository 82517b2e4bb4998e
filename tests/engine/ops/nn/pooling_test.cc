#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using List = std::vector<std::int64_t>;

struct Pooled {
  const char* what;
  Attributes more;
  std::int64_t kernel, stride;
  std::string outcome;  // shape of Y and its elements, or "refused"
};

std::string outcome(const char* op, const Pooled& row) {
  Attributes attributes = row.more;
  attributes.push_back(attr("kernel_shape", List{row.kernel}));
  attributes.push_back(attr("strides", List{row.stride}));
  try {
    const Value made = run_node(op, "", 22, {make<float>({1, 1, 3}, {4, 4, 4})}, attributes)[0];
    std::string text = made.tensor().shape().to_string();
    for (const float value : made.tensor().span<float>()) text += " " + std::to_string(int(value));
    return text;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::invalid_model ? "refused" : error.what();
  }
}

// The length is what the formulas of the text give: floor or ceil of (3 - kernel) / stride, and 1.
TEST(Pooling, WindowsBeyondTheInputGiveTheLengthOfTheFormula) {
  const Attributes ceil = {attr("ceil_mode", 1)}, valid = {attr("auto_pad", "VALID")};
  const std::vector<Pooled> table = {
      {"as long as the input", {}, 3, 1, "[1,1,1] 4"},
      {"as long as the stride", {}, 3, 3, "[1,1,1] 4"},
      {"longer by 1", {}, 4, 1, "[1,1,0]"},
      {"longer by 2", {}, 5, 1, "refused"},
      {"longer by the stride", {}, 5, 2, "[1,1,0]"},
      {"longer by more", {}, 6, 2, "refused"},
      {"ceil, longer by less than the stride", ceil, 4, 2, "[1,1,1] 4"},
      {"ceil, longer by the stride", ceil, 4, 1, "[1,1,0]"},
      {"ceil, longer by more", ceil, 6, 2, "refused"},
      {"VALID, longer by 1", valid, 4, 1, "[1,1,0]"},
      {"VALID, longer by the stride", valid, 5, 2, "[1,1,0]"},
      {"VALID, longer by more", valid, 6, 2, "refused"},
  };
  for (const char* op : {"MaxPool", "AveragePool"}) {
    for (const Pooled& row : table) EXPECT_EQ(outcome(op, row), row.outcome) << op << ": " << row.what;
  }
}

TEST(Pooling, PadsAndAutoPadExcludeEachOther) {
  const Tensor x = make<float>({1, 1, 3}, {1, 2, 3}), w = make<float>({1, 1, 3}, {1, 1, 1});
  const auto pads = attr("pads", List{1, 1}), kernel = attr("kernel_shape", List{3});
  std::vector<OpErrorCase> refused;
  for (const char* mode : {"VALID", "SAME_UPPER", "SAME_LOWER"}) {
    for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
      refused.push_back({std::string(op) + " " + mode,
                         op,
                         22,
                         {x},
                         {attr("auto_pad", mode), pads, kernel},
                         ErrorKind::invalid_model,
                         "pads cannot be used with auto_pad"});
    }
    for (const char* op : {"Conv", "ConvTranspose"}) {
      refused.push_back({std::string(op) + " " + mode,
                         op,
                         1,
                         {x, w},
                         {attr("auto_pad", mode), pads},
                         ErrorKind::invalid_model,
                         "pads cannot be used with auto_pad"});
    }
  }
  check_errors(refused);
  check_rows({{"NOTSET",
               "Conv",
               22,
               {x, w},
               {attr("auto_pad", "NOTSET"), pads},
               {make<float>({1, 1, 3}, {3, 6, 5})}},
              {"zeros",
               "Conv",
               22,
               {x, w},
               {attr("auto_pad", "SAME_UPPER"), attr("pads", List{0, 0})},
               {make<float>({1, 1, 3}, {3, 6, 5})}}});
}

// They are counted with, so that there is an upper bound, too.
TEST(Pooling, NumbersBeyondTheBoundNameIt) {
  const Tensor x = make<float>({1, 1, 3}, {1, 2, 3});
  constexpr std::int64_t beyond = (std::int64_t{1} << 40) + 1;
  const auto kernel = attr("kernel_shape", List{1});
  constexpr auto invalid = ErrorKind::invalid_model, limit = ErrorKind::limit;
  check_errors({
      {"pads",
       "MaxPool",
       22,
       {x},
       {kernel, attr("pads", List{beyond, 0})},
       limit,
       "pads holds 1099511627777, more than 1099511627776"},
      {"negative strides",
       "MaxPool",
       22,
       {x},
       {kernel, attr("strides", List{0})},
       invalid,
       "strides holds 0, but must hold numbers from 1 on"},
      {"size",
       "LRN",
       13,
       {x},
       {attr("size", beyond)},
       limit,
       "size is 1099511627777, more than 1099511627776"},
      {"no size",
       "LRN",
       13,
       {x},
       {attr("size", 0)},
       invalid,
       "size is 0, but must be at least 1 [SCHEMA013]"},
      {"output_shape",
       "ConvTranspose",
       22,
       {x, x},
       {attr("output_shape", List{beyond})},
       limit,
       "output_shape holds 1099511627777, more than 1099511627776"},
  });
}

// Of a vast kernel the taps inside of the input count alone, and they are few.
TEST(Pooling, KernelsFarLargerThanTheInputTakeNoTime) {
  constexpr std::int64_t vast = std::int64_t{1} << 40;
  const Tensor x = make<float>({1, 1, 4}, {0, 1, 2, 3});
  const Attributes same = {attr("kernel_shape", List{vast}), attr("auto_pad", "SAME_LOWER")};
  OneNode both{.op = "MaxPool", .domain = "", .opset = 22, .inputs = {x}, .attributes = same};
  both.outputs = {true, true};
  const auto maxima = run_node(both);
  EXPECT_EQ(difference(maxima[0].tensor(), make<float>({1, 1, 4}, {3, 3, 3, 3})), "");
  EXPECT_EQ(difference(maxima[1].tensor(), make<std::int64_t>({1, 1, 4}, {3, 3, 3, 3})), "");
  const auto only_maxima = run_node("MaxPool", "", 22, {x}, same);
  EXPECT_EQ(difference(only_maxima[0].tensor(), maxima[0].tensor()), "");
  const auto means = run_node("AveragePool", "", 22, {x}, same);
  EXPECT_EQ(difference(means[0].tensor(), make<float>({1, 1, 4}, {1.5, 1.5, 1.5, 1.5})), "");
  const auto norms = run_node("LpPool", "", 22, {x}, same);
  EXPECT_EQ(difference(norms[0].tensor(), make<float>({1, 1, 4}, std::vector<double>(4, std::sqrt(14)))), "");
  const Attributes strided = {attr("kernel_shape", List{4}), attr("pads", List{3, 3}),
                              attr("strides", List{3})};
  EXPECT_EQ(
      difference(run_node("MaxPool", "", 22, {x}, strided)[0].tensor(), make<float>({1, 1, 3}, {0, 3, 3})),
      "");
}

TEST(GlobalLpPool, TakesTheNormOfEachPlane) {
  const Tensor x = make<float>({1, 2, 2, 2}, {3, 0, -4, 0, 1, -1, 1, 1});
  const auto by_plane = [](double first, double second) {
    return make<float>({1, 2, 1, 1}, {first, second});
  };
  check_rows({
      {"p of 2 by default", "GlobalLpPool", 22, {x}, {}, {by_plane(5, 2)}},
      {"the sum of magnitudes", "GlobalLpPool", 22, {x}, {attr("p", 1)}, {by_plane(7, 4)}},
      {"version 2", "GlobalLpPool", 2, {x}, {attr("p", 3)}, {by_plane(std::cbrt(91.0), std::cbrt(4.0))}},
      {"version 1: p is a float",
       "GlobalLpPool",
       1,
       {x},
       {attr("p", 0.5F)},
       {by_plane(std::pow(std::sqrt(3.0) + 2, 2), 16)}},
      {"version 1: 2 by default", "GlobalLpPool", 1, {x}, {}, {by_plane(5, 2)}},
      {"NaN stays in its plane",
       "GlobalLpPool",
       22,
       {make<float>({1, 2, 1}, {nan, -3})},
       {},
       {make<float>({1, 2, 1}, {nan, 3})}},
      {"no plane", "GlobalLpPool", 22, {make<float>({0, 2, 3}, {})}, {}, {make<float>({0, 2, 1}, {})}},
      {"float64", "GlobalLpPool", 22, {make<double>({1, 1, 2}, {3, 4})}, {}, {make<double>({1, 1, 1}, {5})}},
  });
  constexpr auto invalid = ErrorKind::invalid_model;
  check_errors({
      {"p of 0", "GlobalLpPool", 22, {x}, {attr("p", 0)}, invalid, "p is 0, but must be above 0 [SCHEMA013]"},
      {"empty planes",
       "GlobalLpPool",
       22,
       {make<float>({1, 2, 0}, {})},
       {},
       invalid,
       "X is [1,2,0]: its planes have no element"},
      {"no channels",
       "GlobalLpPool",
       22,
       {make<float>({3}, {1, 2, 3})},
       {},
       invalid,
       "input X is [3]; GlobalLpPool-22 takes [N,C,...]"},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
