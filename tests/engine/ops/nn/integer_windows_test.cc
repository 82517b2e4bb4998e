// Convolutions of 8-bit integers by panels against those by the kernels of floats, which are exact, too.
#include "engine/ops/nn/integer_windows.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "engine/ops/nn/integer_convolution.h"
#include "tests/engine/kernels/target_fixture.h"

namespace grurun::engine {
namespace {

class IntegerWindowsOf : public kernels::EveryTarget {
 protected:
  void TearDown() override {
    kernels::EveryTarget::TearDown();
    kernels::tuning::override_multiplies_bytes({});
  }
};
GRURUN_FOR_EVERY_TARGET(IntegerWindowsOf);

struct Windows {
  Shape x, w;
  std::int64_t group;
  std::vector<std::int64_t> pads, strides, dilations;
};

const Windows windows[] = {
    {{2, 3, 11}, {9, 3, 3}, 1, {1, 1}, {1}, {1}},
    {{1, 6, 40}, {40, 3, 4}, 2, {0, 3}, {3}, {2}},
    {{1, 5, 9, 14}, {17, 5, 3, 3}, 1, {1, 1, 1, 1}, {1, 1}, {1, 1}},
    {{2, 64, 7, 7}, {70, 64, 1, 1}, 1, {0, 0, 0, 0}, {1, 1}, {1, 1}},
    {{1, 7, 23, 19}, {8, 7, 3, 5}, 1, {2, 0, 0, 4}, {2, 3}, {3, 2}},
    {{1, 4, 60, 33}, {100, 4, 2, 2}, 1, {0, 0, 0, 0}, {1, 1}, {1, 1}},  // several blocks of rows
    {{1, 24, 8, 8}, {48, 8, 3, 3}, 3, {1, 1, 1, 1}, {2, 2}, {1, 1}},
    {{1, 2, 3, 3}, {8, 2, 2, 2}, 1, {0, 0, 0, 0}, {2, 2}, {1, 1}},    // rows that no window reads
    {{1, 8, 29, 28}, {8, 8, 1, 1}, 1, {0, 0, 0, 0}, {1, 1}, {1, 1}},  // rows that are loaded together
    {{1, 2, 2, 3}, {8, 2, 3, 3}, 1, {2, 3, 2, 3}, {1, 1}, {1, 1}},    // windows wholly in padding
    {{1, 6, 9, 10}, {19, 6, 1, 1}, 1, {0, 0, 0, 0}, {2, 2}, {1, 1}},  // of each two rows and columns one
    {{1, 5, 4, 6}, {8, 5, 1, 1}, 1, {1, 2, 2, 3}, {1, 1}, {1, 1}},    // more outputs than inputs
    {{1, 9, 21, 70}, {13, 9, 2, 3}, 1, {0, 2, 1, 0}, {1, 1}, {1, 2}},
    {{1, 3, 200}, {11, 3, 9}, 1, {4, 4}, {4}, {3}},
    {{1, 3, 3, 100}, {8, 3, 1, 130}, 1, {0, 90, 0, 95}, {1, 1}, {1, 1}},  // long padding at both ends
};

template <typename T>
Tensor bytes(const Shape& shape, std::mt19937& draw) {
  Tensor tensor(dtype_of<T>, shape);
  std::uniform_int_distribution<int> values(0, 255);
  for (T& value : std::span(tensor.template mutable_data<T>(), static_cast<std::size_t>(tensor.size())))
    value = static_cast<T>(values(draw));
  return tensor;
}

ConvShape shape_of(const Windows& test) {
  WindowAttributes attributes;
  attributes.pads = test.pads;
  attributes.strides = test.strides;
  attributes.dilations = test.dilations;
  return conv_shape(test.x, test.w, test.group, attributes);
}

template <typename X, typename W>
void expect_equal(const Windows& test, bool zero_of_w, std::mt19937& draw) {
  const Tensor x = bytes<X>(test.x, draw), w = bytes<W>(test.w, draw);
  const Tensor x_zero = bytes<X>(Shape{}, draw), w_zero = bytes<W>(Shape{test.w[0]}, draw);
  const ConvShape shape = shape_of(test);
  std::vector<std::int32_t> bias(static_cast<std::size_t>(test.w[0]));
  for (std::int32_t& value : bias) value = static_cast<std::int32_t>(draw());
  const Tensor* zero = zero_of_w ? &w_zero : nullptr;
  const IntegerFilters filters = integer_filters(w, zero, test.group);
  const bool planes = !zero_of_w && std::is_signed_v<W> && kernels::multiplies_bytes();
  ASSERT_EQ((planes ? filters.planes.size() : filters.panels.size()), static_cast<std::size_t>(test.group));
  ASSERT_TRUE(suits_windows(shape));
  // Filters of a group that is not one have no panels.
  const IntegerFilters otherwise = integer_filters(w, zero, 0);
  ASSERT_TRUE(otherwise.panels.empty() && otherwise.planes.empty());
  const Tensor expected = integer_convolution(shape, x, &x_zero, otherwise, bias.data());
  const Tensor y = integer_convolution(shape, x, &x_zero, filters, bias.data());
  for (std::int64_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(y.data<std::int32_t>()[i], expected.data<std::int32_t>()[i])
        << test.x.to_string() << " " << test.w.to_string() << ", element " << i;
  }
  std::vector<double> factors(bias.size());
  for (double& factor : factors) factor = 1e-8 * static_cast<double>(1 + draw() % 9);
  factors.back() = test.x[0] == 2 ? 1e39 : 0.5;  // beyond float; ties
  for (const std::int64_t step : {0, 1}) {
    for (const std::int32_t* addends :
         {static_cast<const std::int32_t*>(bias.data()), static_cast<const std::int32_t*>(nullptr)}) {
      const kernels::Requantization by{factors.data(), step, 1, 3, std::is_signed_v<X> ? -128 : 0, addends};
      const Tensor quantized = quantized_convolution(shape, x, &x_zero, filters, by, dtype_of<X>);
      const Tensor wanted = quantized_convolution(shape, x, &x_zero, otherwise, by, dtype_of<X>);
      ASSERT_TRUE(std::ranges::equal(quantized.span<X>(), wanted.span<X>()))
          << test.x.to_string() << " " << test.w.to_string() << ", step " << step;
    }
  }
}

TEST_P(IntegerWindowsOf, SumWhatTheFloatKernelsSum) {
  std::mt19937 draw(1);
  for (const bool bytes_at_once : {true, false}) {
    kernels::tuning::override_multiplies_bytes(bytes_at_once);
    for (const int threads : {1, 3}) {
      kernels::set_threads(threads);
      for (const Windows& test : windows) {
        expect_equal<std::uint8_t, std::int8_t>(test, false, draw);
        expect_equal<std::int8_t, std::uint8_t>(test, true, draw);
        expect_equal<std::int8_t, std::int8_t>(test, true, draw);
      }
    }
  }
}

const Windows few_filters[] = {
    {{2, 5, 9, 7}, {10, 1, 3, 3}, 5, {1, 1, 1, 1}, {1, 1}, {1, 1}},
    {{1, 70, 33, 31}, {70, 1, 3, 3}, 70, {0, 1, 1, 0}, {2, 2}, {1, 1}},  // several lots
    {{2, 12, 8, 21}, {8, 3, 5, 2}, 4, {2, 0, 2, 1}, {1, 3}, {2, 1}},
    {{1, 6, 40}, {6, 1, 5}, 6, {2, 2}, {1}, {1}},
    {{2, 300, 5, 6}, {300, 1, 3, 3}, 300, {1, 1, 1, 1}, {1, 1}, {1, 1}},  // several lots of planes
    {{1, 2, 70, 75}, {6, 1, 5, 5}, 2, {2, 2, 2, 2}, {1, 1}, {1, 1}},      // several pieces of a plane
    {{1, 3, 20, 90}, {3, 1, 2, 9}, 3, {0, 4, 1, 4}, {1, 2}, {1, 3}},
    {{1, 3, 9, 80}, {3, 1, 3, 2}, 3, {0, 0, 0, 3}, {2, 4}, {3, 1}},
    {{1, 2, 64}, {2, 1, 4}, 2, {1, 2}, {3}, {2}},
    {{1, 2, 64}, {2, 1, 3}, 2, {1, 2}, {5}, {2}},  // steps that the sums under taps do not know
    {{1, 4, 3, 2, 5}, {4, 1, 2, 1, 3}, 4, {1, 0, 1, 0, 0, 1}, {1, 1, 2}, {1, 1, 1}},
};

/// The sum that the definition gives element (n, m, place) of y.
template <typename X, typename W>
std::int32_t convolution_sum(const ConvShape& shape, const Tensor& x, X x_zero, const Tensor& w, W w_zero,
                             std::int64_t n, std::int64_t m, std::int64_t place) {
  const std::int64_t channels = shape.channels / shape.group, taps = shape.kernel_size();
  const std::int64_t first = m / (shape.filters / shape.group) * channels;
  std::int64_t sum = 0;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    std::int64_t at = 0, step = 1, t = tap, o = place;
    bool inside = true;
    for (std::size_t i = shape.axes.size(); i-- > 0;) {
      const WindowAxis& axis = shape.axes[i];
      const std::int64_t k = o % axis.output * axis.stride - axis.pad_begin + t % axis.kernel * axis.dilation;
      inside = inside && k >= 0 && k < axis.input;
      at += k * step;
      step *= axis.input;
      t /= axis.kernel;
      o /= axis.output;
    }
    for (std::int64_t c = 0; inside && c < channels; ++c) {
      sum += (std::int64_t{x.data<X>()[(n * shape.channels + first + c) * step + at]} - x_zero) *
             (w.data<W>()[(m * channels + c) * taps + tap] - w_zero);
    }
  }
  return static_cast<std::int32_t>(sum);
}

/// `centred`: with zero points of w that int8 weights do without.
template <typename X, typename W>
void expect_defined(const Windows& test, bool centred, std::mt19937& draw) {
  const Tensor x = bytes<X>(test.x, draw), w = bytes<W>(test.w, draw);
  const Tensor x_zero = bytes<X>(Shape{}, draw);
  Tensor w_zero = bytes<W>(Shape{test.w[0]}, draw);
  if (centred)
    std::fill_n(w_zero.mutable_data<W>(), test.w[0], static_cast<W>(std::is_signed_v<W> ? 0 : 128));
  const ConvShape shape = shape_of(test);
  const IntegerFilters filters = integer_filters(w, &w_zero, test.group);
  ASSERT_TRUE(filters.panels.empty());
  ASSERT_EQ(filters.taps.has_value(), centred && test.w[1] == 1 && test.w.rank() < 5);
  std::vector<std::int32_t> bias(static_cast<std::size_t>(test.w[0]));
  std::vector<double> factors(bias.size());
  for (std::int32_t& value : bias) value = static_cast<std::int32_t>(draw());
  for (double& factor : factors) factor = 1e-7 * static_cast<double>(1 + draw() % 9);
  const kernels::Requantization by{factors.data(), 1, 1, 3, std::is_signed_v<X> ? -128 : 0, bias.data()};
  const Tensor sums = integer_convolution(shape, x, &x_zero, filters, bias.data());
  const Tensor y = quantized_convolution(shape, x, &x_zero, filters, by, dtype_of<X>);
  const std::int64_t places = shape.output_size();
  for (std::int64_t i = 0; i < sums.size(); ++i) {
    const std::int64_t m = i / places % shape.filters, n = i / places / shape.filters;
    const auto f = static_cast<std::size_t>(m);
    const std::int32_t sum =
        convolution_sum<X, W>(shape, x, *x_zero.data<X>(), w, w_zero.data<W>()[m], n, m, i % places);
    const auto wanted =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(bias[f]));
    ASSERT_EQ(sums.data<std::int32_t>()[i], wanted) << test.x.to_string() << ", element " << i;
    const double level =
        std::clamp(std::nearbyint(wanted * factors[f]) + 3, by.least + 0.0, by.least + 255.0);
    ASSERT_EQ(y.data<X>()[i], static_cast<X>(level)) << test.x.to_string() << ", element " << i;
  }
}

TEST_P(IntegerWindowsOf, GroupsOfFewFiltersAreExact) {
  std::mt19937 draw(1);
  for (const bool centred : {false, true}) {
    for (const int threads : {1, 3}) {
      kernels::set_threads(threads);
      kernels::tuning::override_multiplies_bytes(threads == 1);
      for (const Windows& test : few_filters) {
        expect_defined<std::uint8_t, std::int8_t>(test, centred, draw);
        expect_defined<std::int8_t, std::uint8_t>(test, centred, draw);
        expect_defined<std::int8_t, std::int8_t>(test, centred, draw);
      }
    }
  }
}

TEST(IntegerWindows, PaddingThatIsMostOfTheInputIsNotLaidOut) {
  WindowAttributes attributes;
  attributes.pads = {0, 1 << 20};
  attributes.strides = {1 << 19};
  const Tensor x = Tensor::from(Shape{1, 1, 2}, std::vector<std::uint8_t>{3, 5});
  const Tensor w = Tensor::from(Shape{8, 1, 1}, std::vector<std::int8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  const ConvShape shape = conv_shape(x.shape(), w.shape(), 1, attributes);
  EXPECT_FALSE(suits_windows(shape));
  const Tensor y = integer_convolution(shape, x, nullptr, integer_filters(w, nullptr, 1), nullptr);
  const auto got = y.span<std::int32_t>();
  EXPECT_EQ(std::vector<std::int32_t>(got.begin(), got.begin() + 6),
            (std::vector<std::int32_t>{3, 0, 0, 6, 0, 0}));
}

}  // namespace
}  // namespace grurun::engine
