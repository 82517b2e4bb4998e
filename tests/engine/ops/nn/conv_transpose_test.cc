#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using List = std::vector<std::int64_t>;

Tensor row(const std::vector<double>& values) {
  return make<float>({1, 1, static_cast<std::int64_t>(values.size())}, values);
}

// X [1, 1, 3] of ones and W [1, 1, 2] = 1 2: what the input reaches, and zeros around it.
TEST(ConvTranspose, PadsOfAnOutputBeyondWhatTheInputReachesAreNegative) {
  const Tensor x = row({1, 1, 1}), w = row({1, 2});
  const auto same = [&](const char* name, int opset, const char* mode, int stride,
                        const std::vector<double>& expected) {
    return OpRowCase{name,
                     "ConvTranspose",
                     opset,
                     {x, w},
                     {attr("auto_pad", mode), attr("strides", List{stride})},
                     {row(expected)}};
  };
  const auto stated = [&](const char* name, int opset, std::int64_t length,
                          const std::vector<double>& expected) {
    return OpRowCase{name,           "ConvTranspose", opset, {x, w}, {attr("output_shape", List{length})},
                     {row(expected)}};
  };
  check_rows({
      same("-2, one at each end", 11, "SAME_UPPER", 4, {0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0}),
      same("-2 in version 1", 1, "SAME_LOWER", 4, {0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0}),
      same("-1, at the end", 11, "SAME_UPPER", 3, {1, 2, 0, 1, 2, 0, 1, 2, 0}),
      same("-1, SAME_LOWER", 22, "SAME_LOWER", 3, {1, 2, 0, 1, 2, 0, 1, 2, 0}),
      stated("output_shape, -1", 11, 5, {1, 3, 3, 2, 0}),
      stated("output_shape, -1, version 1", 1, 5, {1, 3, 3, 2, 0}),
      stated("output_shape, -2", 11, 6, {0, 1, 3, 3, 2, 0}),
      stated("output_shape, -3", 22, 7, {0, 1, 3, 3, 2, 0, 0}),
      stated("output_shape, 1", 11, 3, {3, 3, 2}),
  });
}

TEST(ConvTranspose, OutputPaddingMustBeLessThanStrideOrDilation) {
  const Tensor x = row({1, 1}), w = row({1, 2});
  const auto attributes = [](std::int64_t padding, std::int64_t stride, std::int64_t dilation) {
    return Attributes{attr("output_padding", List{padding}), attr("strides", List{stride}),
                      attr("dilations", List{dilation})};
  };
  check_rows({
      {"less than the stride", "ConvTranspose", 11, {x, w}, attributes(1, 2, 1), {row({1, 2, 1, 2, 0})}},
      {"less than the dilation", "ConvTranspose", 22, {x, w}, attributes(1, 1, 2), {row({1, 1, 2, 2, 0})}},
      {"version 1 does not say so", "ConvTranspose", 1, {x, w}, attributes(1, 1, 1), {row({1, 3, 2, 0})}},
  });
  const char* text = "must be less than its stride";
  check_errors({
      {"as both", "ConvTranspose", 11, {x, w}, attributes(1, 1, 1), ErrorKind::invalid_model, text},
      {"as the larger", "ConvTranspose", 22, {x, w}, attributes(2, 2, 1), ErrorKind::invalid_model, text},
      {"as the default",
       "ConvTranspose",
       11,
       {x, w},
       {attr("output_padding", List{1})},
       ErrorKind::invalid_model,
       text},
  });
}

}  // namespace
}  // namespace grurun::engine::testing
