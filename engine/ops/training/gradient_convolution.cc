// Derivatives of Conv and of pooling over everything.
//
//   Y[n, m, o] = sum_{c, k} X[n, c, o * s + k * d - p] W[m, c, k] + B[m]
//   dX: the transposed convolution of dY with W
//   dW[m, c, k] = sum_{n, o} X[n, c, k * d + o * s - p] dY[n, m, o]: a convolution of X with dY, in which
//   examples are channels and strides and dilations change places
#include <algorithm>
#include <numeric>

#include "engine/ops/training/gradient_tape.h"

namespace grurun::engine {

namespace {

using Id = Tape::Id;

struct Window {
  std::vector<std::int64_t> strides, dilations, pads;  // pads: begins, then ends
  std::int64_t group;
};

Window window_of(Backward& b) {
  const Shape& X = b.shape(b.x(0));
  const Shape& W = b.shape(b.x(1));
  const Shape& Y = b.shape(b.y());
  const std::size_t spatial = X.rank() - 2;
  Window out{b.ints_attribute("strides"), b.ints_attribute("dilations"), b.ints_attribute("pads"),
             b.int_attribute("group", 1)};
  if (out.strides.empty()) out.strides.assign(spatial, 1);
  if (out.dilations.empty()) out.dilations.assign(spatial, 1);
  if (out.pads.empty()) out.pads.assign(2 * spatial, 0);
  const std::string auto_pad = b.string_attribute("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < spatial && auto_pad.starts_with("SAME"); ++d) {
    const std::int64_t reach = (W[d + 2] - 1) * out.dilations[d] + 1;
    const std::int64_t total = std::max<std::int64_t>(0, (Y[d + 2] - 1) * out.strides[d] + reach - X[d + 2]);
    const std::int64_t smaller = total / 2;
    out.pads[d] = auto_pad == "SAME_LOWER" ? total - smaller : smaller;
    out.pads[d + spatial] = total - out.pads[d];
  }
  return out;
}

Id input_gradient(Backward& b, const Window& window) {
  const Shape& X = b.shape(b.x(0));
  const Shape& W = b.shape(b.x(1));
  const Shape& Y = b.shape(b.y());
  const std::size_t spatial = X.rank() - 2;
  // Places that no window reaches at the end.
  std::vector<std::int64_t> left(spatial);
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t reach = (W[d + 2] - 1) * window.dilations[d] + 1;
    left[d] =
        X[d + 2] - ((Y[d + 2] - 1) * window.strides[d] + reach - window.pads[d] - window.pads[d + spatial]);
  }
  return b.op(
      "ConvTranspose", {b.dy(), b.x(1)},
      {ints_attr("strides", window.strides), ints_attr("dilations", window.dilations),
       ints_attr("pads", window.pads), ints_attr("output_padding", left), int_attr("group", window.group)});
}

Id channels(Backward& b, Id a, std::int64_t begin, std::int64_t count) {
  if (count == b.shape(a)[1]) return a;
  return b.op("Slice", {a, b.ints({begin}), b.ints({begin + count}), b.ints({1})});
}

Id weight_gradient(Backward& b, const Window& window) {
  const Shape W = b.shape(b.x(1));
  std::vector<std::int64_t> swapped(W.rank());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[0], swapped[1]);
  const std::int64_t outputs = W[0] / window.group;
  std::vector<Id> groups;
  for (std::int64_t g = 0; g < window.group; ++g) {
    const Id X = b.transpose(channels(b, b.x(0), g * W[1], W[1]), swapped);
    const Id dY = b.transpose(channels(b, b.dy(), g * outputs, outputs), swapped);
    const Id all = b.op("Conv", {X, dY},
                        {ints_attr("strides", window.dilations), ints_attr("dilations", window.strides),
                         ints_attr("pads", window.pads)});
    groups.push_back(b.transpose(all, swapped));
  }
  const Id joined = groups.size() == 1 ? groups[0] : b.op("Concat", groups, {int_attr("axis", 0)});
  // Strides may leave room for more places than the kernel has.
  std::vector<std::int64_t> axes(W.rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  const std::vector<std::int64_t> ends(W.begin() + 2, W.end());
  return b.op("Slice",
              {joined, b.ints(std::vector<std::int64_t>(axes.size(), 0)), b.ints(ends), b.ints(axes)});
}

void conv(Backward& b) {
  if (b.tensor(b.x(0)).size() == 0 || b.tensor(b.y()).size() == 0) b.refuse("of nothing");
  const Window window = window_of(b);
  if (b.wants(0)) b.give(0, input_gradient(b, window));
  if (b.wants(1)) b.give(1, weight_gradient(b, window));
  if (!b.wants(2)) return;
  std::vector<std::int64_t> axes = {0};
  for (std::size_t d = 2; d < b.shape(b.y()).rank(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  b.give(2, b.reduce_sum(b.dy(), axes, false));
}

void global_average_pool(Backward& b) {
  const Shape& X = b.shape(b.x());
  const auto count = static_cast<double>(X.count(2, X.rank()));
  b.give(0, b.expand(b.div(b.dy(), b.number(count, b.dy())), X));
}

}  // namespace

void add_convolution_rules(GradientRules& rules) {
  rules["Conv"] = conv;
  rules["GlobalAveragePool"] = global_average_pool;
}

}  // namespace grurun::engine
