// Convolutions against the sum of their definition, over shapes that reach every path: pointwise, one channel
// to one filter, taps that share rows and taps far apart, padding wider than the input, groups, one to three
// axes.
#include "engine/ops/nn/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "engine/kernels/machine/parallel.h"
#include "tests/sample.h"

namespace grurun::engine {
namespace {

struct Axis {
  std::int64_t input, kernel, stride, dilation, begin, end;
};

struct ConvCase {
  std::int64_t batch, channels, filters, group;
  std::vector<Axis> axes;
};

ConvShape shape_of(const ConvCase& c) {
  std::vector<std::int64_t> x{c.batch, c.channels}, w{c.filters, c.channels / c.group};
  WindowAttributes attributes;
  for (const Axis& axis : c.axes) {
    x.push_back(axis.input);
    w.push_back(axis.kernel);
    attributes.strides.push_back(axis.stride);
    attributes.dilations.push_back(axis.dilation);
    attributes.pads.push_back(axis.begin);
  }
  for (const Axis& axis : c.axes) attributes.pads.push_back(axis.end);
  return conv_shape(Shape(x), Shape(w), c.group, attributes);
}

// Calls body(coordinates) for every element of a space of these sizes.
template <typename Body>
void for_each(const std::vector<std::int64_t>& sizes, Body&& body) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<std::int64_t> at(sizes.size());
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      at[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    body(i, at);
  }
}

template <typename T>
T by_definition(const ConvShape& s, const std::vector<T>& x, const std::vector<T>& w, std::int64_t n,
                std::int64_t m, const std::vector<std::int64_t>& place) {
  const std::int64_t channels = s.channels / s.group, g = m / (s.filters / s.group);
  std::vector<std::int64_t> kernel{channels};
  for (const WindowAxis& axis : s.axes) kernel.push_back(axis.kernel);
  T sum = 0;
  for_each(kernel, [&](std::int64_t k, const std::vector<std::int64_t>& tap) {
    std::int64_t from = n * s.channels + g * channels + tap[0];
    for (std::size_t d = 0; d < s.axes.size(); ++d) {
      const WindowAxis& axis = s.axes[d];
      const std::int64_t at = place[d] * axis.stride - axis.pad_begin + tap[d + 1] * axis.dilation;
      if (at < 0 || at >= axis.input) return;
      from = from * axis.input + at;
    }
    sum +=
        x[static_cast<std::size_t>(from)] * w[static_cast<std::size_t>(m * channels * s.kernel_size() + k)];
  });
  return sum;
}

// Small whole numbers: sums are exact in every type, so results must be equal.
template <typename T>
void expect_by_definition(const ConvCase& test, std::mt19937& generator) {
  const ConvShape s = shape_of(test);
  std::uniform_int_distribution<int> values(-4, 4);
  const auto random = [&](std::int64_t n) {
    std::vector<T> made(static_cast<std::size_t>(n));
    for (T& value : made) value = static_cast<T>(values(generator));
    return made;
  };
  const auto x = random(s.batch * s.channels * s.input_size());
  const auto w = random(s.filters * (s.channels / s.group) * s.kernel_size());
  const auto bias = random(s.filters);
  std::vector<T> y(static_cast<std::size_t>(s.batch * s.filters * s.output_size()), T(99));
  convolve<T>(s, x.data(), w.data(), bias.data(), y.data());
  std::vector<std::int64_t> sizes{s.batch, s.filters};
  for (const WindowAxis& axis : s.axes) sizes.push_back(axis.output);
  Sample sample(11);
  for_each(sizes, [&](std::int64_t i, const std::vector<std::int64_t>& at) {
    if (!sample.takes_next()) return;
    const std::vector<std::int64_t> place(at.begin() + 2, at.end());
    const T expected = by_definition(s, x, w, at[0], at[1], place) + bias[static_cast<std::size_t>(at[1])];
    ASSERT_EQ(y[static_cast<std::size_t>(i)], expected) << "element " << i;
  });
}

TEST(Convolution, IsTheSumOfItsDefinition) {
  const ConvCase cases[] = {
      {1, 1, 1, 1, {{5, 3, 1, 1, 1, 1}}},
      {2, 3, 9, 1, {{50, 3, 1, 1, 0, 0}}},
      {1, 3, 5, 1, {{49, 4, 3, 2, 2, 1}}},
      {1, 2, 17, 1, {{13, 3, 1, 1, 1, 1}, {13, 3, 1, 1, 1, 1}}},
      {2, 8, 8, 2, {{10, 3, 2, 1, 1, 1}, {70, 3, 2, 1, 1, 1}}},
      {1, 4, 3, 1, {{6, 1, 1, 1, 0, 0}, {9, 1, 1, 1, 0, 0}}},     // pointwise
      {1, 4, 3, 1, {{6, 1, 2, 1, 0, 0}, {9, 1, 2, 1, 0, 0}}},     // a kernel of one place, with strides
      {2, 6, 6, 6, {{7, 3, 1, 2, 2, 2}, {20, 5, 2, 1, 2, 2}}},    // a filter a channel
      {1, 2, 4, 1, {{1, 1, 1, 1, 0, 0}, {3, 2, 1, 40, 30, 30}}},  // taps far apart in padding
      {1, 2, 4, 1, {{3, 2, 1, 1, 5, 5}, {3, 3, 1, 1, 7, 7}}},     // windows wholly in padding
      {1, 70, 3, 1, {{5, 3, 1, 1, 1, 1}, {20, 3, 1, 1, 1, 1}}},  // more channels than a product takes at once
      {1, 3, 4, 1, {{4, 2, 1, 1, 1, 0}, {5, 3, 2, 1, 1, 1}, {18, 3, 1, 2, 2, 2}}},
      {1, 2, 3, 1, {{1, 5, 1, 1, 40, 41}, {16, 3, 1, 1, 1, 1}}},   // rows that are mostly padding
      {1, 4, 70, 1, {{9, 3, 2, 1, 0, 1}, {31, 3, 2, 1, 1, 0}}},    // padding at one end only
      {1, 40, 4, 1, {{70, 1, 1, 1, 0, 0}, {99, 1, 1, 1, 0, 0}}},   // pointwise, in several blocks
      {1, 20, 3, 1, {{90, 3, 1, 1, 1, 1}, {100, 3, 1, 1, 1, 1}}},  // several blocks with rows in common
      {1, 20, 70, 1, {{40, 3, 1, 1, 1, 1}, {30, 3, 1, 1, 1, 1}}},  // more sums than stay in cache
      {2, 20, 20, 2, {{60, 5, 1, 1, 2, 2}, {1, 1, 1, 1, 0, 0}}},   // one column
      {1, 5, 3, 1, {{9, 3, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}}},      // one column that is padded
      {2, 40, 10, 2, {{5, 3, 2, 1, 1, 1}, {4, 3, 2, 1, 0, 1}}},    // few places
      {1, 1, 7, 1, {{640, 256, 128, 1, 0, 0}}},                    // few places, a long kernel
      {1, 0, 3, 1, {{4, 1, 1, 1, 0, 0}, {9, 3, 1, 1, 1, 1}}},      // nothing to sum
      {1, 0, 3, 1, {{4, 1, 1, 1, 0, 0}, {5, 2, 1, 1, 1, 1}, {9, 3, 1, 1, 1, 1}}},
      {1, 3, 4, 1, {{4, 2, 3, 1, 0, 0}, {18, 3, 7, 1, 0, 0}}},  // strides beyond the kernel
      // A channel a group: several planes a block, several blocks a plane.
      {2, 45, 45, 45, {{14, 3, 1, 1, 1, 1}, {14, 3, 1, 1, 1, 1}}},
      {1, 2, 2, 2, {{160, 3, 1, 1, 1, 1}, {131, 3, 1, 1, 1, 1}}},
      {1, 3, 9, 3, {{23, 5, 1, 1, 2, 2}, {49, 5, 1, 1, 2, 2}}},
      {1, 6, 12, 6, {{9, 7, 1, 1, 3, 3}, {70, 7, 1, 1, 3, 3}}},
      {1, 5, 5, 5, {{29, 3, 2, 1, 1, 1}, {66, 3, 2, 1, 0, 1}}},
      {2, 4, 4, 4, {{90, 3, 3, 1, 1, 1}, {33, 2, 3, 1, 0, 0}}},
      {1, 5, 5, 5, {{29, 3, 2, 1, 1, 1}, {67, 4, 2, 1, 2, 3}}},
      {1, 3, 4, 1, {{11, 5, 2, 1, 2, 2}, {3, 5, 2, 1, 2, 4}}},
      {2, 6, 6, 6, {{12, 2, 2, 1, 3, 2}, {90, 2, 2, 1, 1, 0}}},
      {1, 7, 7, 7, {{200, 4, 1, 1, 3, 0}}},
      {1, 5, 40, 5, {{9, 3, 1, 1, 1, 1}, {12, 3, 1, 1, 1, 1}}},  // many filters a group
      {1, 9, 1, 1, {{30, 3, 1, 1, 1, 1}, {21, 3, 1, 1, 1, 1}}},  // a filter alone
      // Kernels that are wider than what is left of a row; as wide as the input.
      {1, 8, 9, 1, {{28, 5, 1, 1, 0, 0}, {22, 12, 1, 1, 0, 0}}},
      {2, 3, 20, 1, {{60, 5, 2, 1, 2, 2}, {20, 17, 1, 1, 1, 0}}},
      {1, 3, 9, 1, {{90, 3, 1, 1, 1, 1}, {7, 7, 1, 1, 0, 0}}},
      {2, 2, 5, 1, {{23, 3, 2, 1, 1, 2}, {33, 33, 3, 1, 0, 0}}},
      {1, 4, 6, 2, {{20, 1, 2, 3, 0, 0}, {4, 4, 1, 1, 0, 0}}},
      {1, 4, 6, 1, {{20, 2, 1, 3, 0, 0}, {4, 4, 1, 1, 0, 0}}},
      {1, 3, 3, 3, {{20, 3, 1, 1, 1, 1}, {5, 5, 1, 1, 0, 0}}},
      {1, 3, 6, 1, {{4, 2, 1, 1, 0, 0}, {9, 3, 2, 1, 1, 0}, {6, 6, 1, 1, 0, 0}}},
      {1, 20, 40, 1, {{400, 7, 5, 1, 3, 3}}},
      // Signals: of odd lengths, shorter than the kernel, in batches and groups, with every stride and
      // dilation, and of two axes, one of which has a place.
      {1, 5, 13, 1, {{17, 3, 1, 1, 1, 1}}},
      {3, 7, 31, 1, {{65, 9, 1, 1, 4, 4}}},
      {2, 6, 22, 2, {{45, 5, 1, 2, 4, 4}}},
      {2, 33, 7, 1, {{61, 7, 2, 1, 3, 3}}},
      {1, 3, 19, 1, {{64, 4, 2, 3, 0, 5}}},
      {2, 8, 24, 4, {{63, 3, 3, 2, 2, 1}}},
      {1, 4, 14, 1, {{40, 5, 4, 1, 2, 2}}},
      {2, 5, 11, 1, {{40, 3, 5, 1, 0, 3}}},
      {1, 9, 8, 1, {{3, 9, 1, 1, 12, 12}}},
      {2, 9, 8, 1, {{2, 7, 2, 2, 20, 20}}},
      {2, 21, 21, 21, {{37, 5, 1, 2, 4, 3}}},
      {1, 21, 42, 21, {{37, 3, 2, 1, 1, 1}}},
      {1, 6, 9, 1, {{1, 1, 1, 1, 0, 0}, {33, 3, 1, 1, 1, 1}}},
      {1, 6, 9, 1, {{33, 3, 2, 1, 1, 1}, {1, 1, 1, 1, 0, 0}}},
      {1, 150, 13, 1, {{50, 7, 1, 1, 3, 3}}},  // sums in several parts
      // Batches of short signals.
      {9, 13, 20, 1, {{4, 3, 1, 1, 1, 1}}},
      {7, 1, 19, 1, {{288, 64, 48, 1, 0, 0}}},
      {6, 24, 32, 2, {{5, 3, 2, 1, 1, 1}}},
      {17, 40, 8, 1, {{1, 3, 1, 1, 1, 1}}},
      {3, 33, 9, 1, {{7, 1, 1, 1, 0, 0}}},
      {5, 8, 11, 1, {{3, 5, 2, 2, 6, 7}}},
  };
  std::mt19937 generator(1);
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(i);
    expect_by_definition<float>(cases[i], generator);
    expect_by_definition<double>(cases[i], generator);
  }
}

TEST(Convolution, EndsWithItsTail) {
  const ConvCase cases[] = {
      {1, 3, 5, 1, {{9, 3, 1, 1, 1, 1}, {20, 3, 1, 1, 1, 1}}},
      {2, 3, 5, 1, {{9, 1, 1, 1, 0, 0}, {20, 1, 1, 1, 0, 0}}},
      {1, 3, 5, 1, {{4, 2, 1, 1, 1, 0}, {5, 3, 2, 1, 1, 1}, {18, 3, 1, 2, 2, 2}}},
      {2, 3, 6, 3, {{100, 3, 1, 1, 1, 1}, {120, 3, 1, 1, 1, 1}}},
      {1, 3, 1, 1, {{9, 3, 1, 1, 1, 1}, {20, 3, 1, 1, 1, 1}}},
      {5, 24, 16, 1, {{4, 3, 1, 1, 1, 1}}},
  };
  for (const ConvCase& test : cases) {
    const ConvShape s = shape_of(test);
    const std::vector<float> x(static_cast<std::size_t>(s.batch * s.channels * s.input_size()), 1.5f);
    const std::vector<float> w(static_cast<std::size_t>(s.filters * s.channels * s.kernel_size()), -0.25f);
    std::vector<float> plain(static_cast<std::size_t>(s.batch * s.filters * s.output_size())),
        y(plain.size());
    convolve<float>(s, x.data(), w.data(), nullptr, plain.data());
    const auto tail = [](float* values, std::int64_t n, ChannelPlaces at) {
      for (std::int64_t i = 0; i < n; ++i)
        values[i] = values[i] * 3 + static_cast<float>(at.first + i / at.places);
    };
    convolve<float>(s, x.data(), w.data(), nullptr, y.data(), tail);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto channel = static_cast<std::int64_t>(i) / s.output_size() % s.filters;
      ASSERT_EQ(y[i], plain[i] * 3 + static_cast<float>(channel)) << i;
    }
  }
}

TEST(Convolution, HasTheSameBitsWithAnyNumberOfThreads) {
  const ConvCase cases[] = {
      {1, 30, 40, 1, {{26, 3, 1, 1, 1, 1}, {26, 3, 1, 1, 1, 1}}},  // parts of places
      {1, 90, 70, 1, {{7, 3, 1, 1, 1, 1}, {6, 3, 1, 1, 1, 1}}},    // parts of filters
      {1, 60, 33, 1, {{23, 1, 1, 1, 0, 0}, {29, 1, 1, 1, 0, 0}}},
      {3, 24, 20, 2, {{19, 3, 2, 1, 1, 1}, {33, 3, 2, 1, 1, 1}}},
      {1, 8, 24, 1, {{150, 3, 1, 1, 1, 1}, {128, 3, 1, 1, 1, 1}}},  // several blocks a part
      {1, 1, 2, 1, {{50, 3, 1, 1, 1, 1}, {40, 3, 1, 1, 1, 1}}},
      {1, 45, 45, 45, {{14, 5, 1, 1, 2, 2}, {15, 5, 1, 1, 2, 2}}},
      {1, 9, 1, 1, {{50, 3, 1, 1, 1, 1}, {40, 3, 1, 1, 1, 1}}},
      {1, 64, 64, 1, {{129, 5, 1, 1, 2, 2}}},  // signals
      {3, 32, 41, 1, {{127, 9, 2, 2, 8, 8}}},
      {2, 90, 90, 90, {{301, 3, 1, 1, 1, 1}}},
      {33, 40, 70, 1, {{7, 3, 1, 1, 1, 1}}},
  };
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> values(-1, 1);
  for (const ConvCase& test : cases) {
    const ConvShape s = shape_of(test);
    const auto random = [&](std::int64_t n) {
      std::vector<float> made(static_cast<std::size_t>(n));
      for (float& value : made) value = values(generator);
      return made;
    };
    auto x = random(s.batch * s.channels * s.input_size());
    auto w = random(s.filters * (s.channels / s.group) * s.kernel_size());
    const auto bias = random(s.filters);
    x[x.size() / 2] = std::numeric_limits<float>::infinity();
    x[x.size() / 3] = w[w.size() / 2] = 1e-20f;  // numbers that tile registers do not multiply well
    std::vector<float> alone(static_cast<std::size_t>(s.batch * s.filters * s.output_size())),
        y(alone.size());
    convolve<float>(s, x.data(), w.data(), bias.data(), alone.data());
    for (const int threads : {2, 3, 5}) {
      kernels::set_threads(threads);
      std::ranges::fill(y, 99.0f);
      convolve<float>(s, x.data(), w.data(), bias.data(), y.data());
      kernels::set_threads(1);
      for (std::size_t i = 0; i < y.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(alone[i]))
            << i << ", " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace grurun::engine
