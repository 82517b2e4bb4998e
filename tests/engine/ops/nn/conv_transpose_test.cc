#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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
  const auto both = [&](const char* name, int opset, const char* mode, const std::vector<double>& expected) {
    return OpRowCase{name,
                     "ConvTranspose",
                     opset,
                     {x, w},
                     {attr("auto_pad", mode), attr("output_shape", List{3})},
                     {row(expected)}};
  };
  check_rows({
      same("-2, one at each end", 11, "SAME_UPPER", 4, {0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0}),
      same("-2 in version 1", 1, "SAME_LOWER", 4, {0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0}),
      same("-1, at the end", 11, "SAME_UPPER", 3, {1, 2, 0, 1, 2, 0, 1, 2, 0}),
      same("-1, SAME_LOWER", 22, "SAME_LOWER", 3, {1, 2, 0, 1, 2, 0, 1, 2, 0}),
      same("1, of version 1, at the end", 1, "SAME_UPPER", 1, {1, 3, 3}),
      same("1, of version 1, at the begin", 1, "SAME_LOWER", 1, {3, 3, 2}),
      same("1, at the end", 11, "SAME_UPPER", 1, {1, 3, 3}),
      same("1, at the begin", 22, "SAME_LOWER", 1, {3, 3, 2}),
      both("output_shape and SAME_UPPER, 1, in version 1", 1, "SAME_UPPER", {3, 3, 2}),
      both("output_shape and SAME_LOWER, 1, in version 1", 1, "SAME_LOWER", {1, 3, 3}),
      both("output_shape and SAME_UPPER, 1", 11, "SAME_UPPER", {1, 3, 3}),
      both("output_shape and SAME_LOWER, 1", 22, "SAME_LOWER", {3, 3, 2}),
      stated("output_shape, -1", 11, 5, {1, 3, 3, 2, 0}),
      stated("output_shape, -1, version 1", 1, 5, {1, 3, 3, 2, 0}),
      stated("output_shape, -2", 11, 6, {0, 1, 3, 3, 2, 0}),
      stated("output_shape, -3", 22, 7, {0, 1, 3, 3, 2, 0, 0}),
      stated("output_shape, 1", 11, 3, {3, 3, 2}),
  });
}

struct Axis {
  std::int64_t input, kernel, stride, dilation, begin, end, output_padding;
  std::int64_t output() const {
    return stride * (input - 1) + output_padding + (kernel - 1) * dilation + 1 - begin - end;
  }
};

// Place i of an axis list, row-major, as an index of each axis.
List index_of(std::int64_t i, const std::vector<Axis>& axes, std::int64_t (*size)(const Axis&)) {
  List index(axes.size());
  for (std::size_t d = axes.size(); d-- > 0; i /= size(axes[d])) index[d] = i % size(axes[d]);
  return index;
}

// Small integers, so that any order of additions gives the same sums.
OpRowCase by_definition(std::int64_t batch, std::int64_t channels, std::int64_t filters, std::int64_t group,
                        const std::vector<Axis>& axes) {
  const auto input_of = [](const Axis& axis) { return axis.input; };
  const auto kernel_of = [](const Axis& axis) { return axis.kernel; };
  Shape x_shape{batch, channels * group}, w_shape{channels * group, filters}, y_shape{batch, filters * group};
  List strides, dilations, pads, ends, output_padding;
  for (const Axis& axis : axes) {
    x_shape.push_back(axis.input);
    w_shape.push_back(axis.kernel);
    y_shape.push_back(axis.output());
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    pads.push_back(axis.begin);
    ends.push_back(axis.end);
    output_padding.push_back(axis.output_padding);
  }
  pads.insert(pads.end(), ends.begin(), ends.end());
  const std::int64_t inputs = x_shape.count(2, x_shape.rank()), taps = w_shape.count(2, w_shape.rank());
  const std::int64_t outputs = y_shape.count(2, y_shape.rank());
  const auto numbers = [](std::int64_t count, std::int64_t step) {
    std::vector<double> out;
    for (std::int64_t i = 0; i < count; ++i) out.push_back(static_cast<double>(i * step % 11 - 5));
    return out;
  };
  const std::vector<double> x = numbers(x_shape.element_count(), 7), w = numbers(w_shape.element_count(), 3),
                            bias = numbers(filters * group, 1);
  std::vector<double> y(static_cast<std::size_t>(y_shape.element_count()));
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = bias[i / static_cast<std::size_t>(outputs) % static_cast<std::size_t>(filters * group)];
  for (std::int64_t i = 0; i < inputs; ++i) {
    const List from = index_of(i, axes, input_of);
    for (std::int64_t k = 0; k < taps; ++k) {
      const List tap = index_of(k, axes, kernel_of);
      std::int64_t to = 0;
      bool inside = true;
      for (std::size_t d = 0; d < axes.size(); ++d) {
        const std::int64_t at = from[d] * axes[d].stride - axes[d].begin + tap[d] * axes[d].dilation;
        inside = inside && at >= 0 && at < axes[d].output();
        to = to * axes[d].output() + at;
      }
      for (std::int64_t j = 0; inside && j < batch * group * channels * filters; ++j) {
        const std::int64_t m = j % filters, c = j / filters % (group * channels);
        const std::int64_t n = j / filters / (group * channels), g = c / channels;
        y[static_cast<std::size_t>((n * group * filters + g * filters + m) * outputs + to)] +=
            x[static_cast<std::size_t>((n * group * channels + c) * inputs + i)] *
            w[static_cast<std::size_t>((c * filters + m) * taps + k)];
      }
    }
  }
  return {x_shape.to_string() + " times " + w_shape.to_string() + " to " + y_shape.to_string(),
          "ConvTranspose",
          11,
          {make<float>(x_shape, x), make<float>(w_shape, w), vec<float>(bias)},
          {attr("strides", strides), attr("dilations", dilations), attr("pads", pads),
           attr("output_padding", output_padding), attr("group", group)},
          {make<float>(y_shape, y)}};
}

TEST(ConvTranspose, IsTheSumOfItsDefinition) {
  std::vector<OpRowCase> rows = {
      by_definition(1, 8, 8, 1,
                    {{60, 3, 2, 1, 1, 1, 1}, {60, 3, 2, 1, 1, 1, 1}}),  // several blocks of places
      by_definition(2, 2, 16, 2, {{9000, 4, 2, 1, 1, 1, 0}}),
      by_definition(1, 2, 3, 1, {{5, 2, 2, 1, 0, 0, 0}, {6, 2, 2, 1, 0, 0, 0}}),
      by_definition(1, 2, 2, 1, {{3, 2, 2, 1, 0, 0, 1}, {3, 5, 2, 1, 4, 3, 1}, {4, 3, 2, 1, 2, 2, 0}}),
      by_definition(1, 1, 1, 1, {{1, 4, 2, 1, 3, 0, 0}}),
      by_definition(1, 1, 1, 1, {{2, 5, 2, 1, 0, 5, 0}}),
  };
  std::mt19937 random(17);
  const auto one_of = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int i = 0; i < 150; ++i) {
    std::vector<Axis> axes(static_cast<std::size_t>(one_of(1, 3)));
    for (Axis& axis : axes) {
      axis = {one_of(1, 6), one_of(1, 5), one_of(1, 3), one_of(1, 2), one_of(0, 3), one_of(0, 3), 0};
      axis.output_padding = one_of(0, static_cast<int>(std::max(axis.stride, axis.dilation)) - 1);
      while (axis.output() < 1) ++axis.input;
    }
    rows.push_back(by_definition(one_of(1, 2), one_of(1, 3), one_of(1, 3), one_of(1, 2), axes));
  }
  check_rows(rows);
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
