// Random resizes against the definition, element by element: the value at an output index is the sum over all
// input elements of the product of their weights on each axis. Nothing of the engine's code is used.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

struct Configuration {
  std::string mode, coordinates;
  bool exclude_outside = false, antialias = false, by_scale = false;
  double a = -0.75;
  std::vector<std::int64_t> input, output;
  std::vector<float> scales;
};

double kernel(const Configuration& c, double x) {
  x = std::fabs(x);
  if (c.mode == "linear") return x < 1 ? 1 - x : 0;
  if (x <= 1) return (c.a + 2) * x * x * x - (c.a + 3) * x * x + 1;
  return x < 2 ? c.a * x * x * x - 5 * c.a * x * x + 8 * c.a * x - 4 * c.a : 0;
}

double scale_of(const Configuration& c, std::size_t d) {
  return c.by_scale ? double(c.scales[d]) : double(c.output[d]) / double(c.input[d]);
}

double place(const Configuration& c, std::size_t d, std::int64_t o) {
  const double scale = scale_of(c, d);
  const auto in = double(c.input[d]), width = scale * in, x = double(o);
  if (c.coordinates == "asymmetric") return x / scale;
  if (c.coordinates == "align_corners") return o == 0 ? 0 : x * (in - 1) / (width - 1);
  if (c.coordinates == "half_pixel_symmetric")
    return in / 2 * (1 - double(c.output[d]) / width) + (x + 0.5) / scale - 0.5;
  if (c.coordinates == "pytorch_half_pixel" && c.output[d] == 1) return 0;
  return (x + 0.5) / scale - 0.5;
}

// The weight of every input element of axis d for output o.
std::vector<double> weights(const Configuration& c, std::size_t d, std::int64_t o) {
  std::vector<double> all(static_cast<std::size_t>(c.input[d]), 0.0);
  const double x = place(c, d, o), shrink = c.antialias ? std::min(1.0, scale_of(c, d)) : 1;
  double sum = 0;
  for (std::int64_t i = -60; i < c.input[d] + 60; ++i) {
    const bool inside = i >= 0 && i < c.input[d];
    if (!inside && c.exclude_outside) continue;
    const double weight = kernel(c, (double(i) - x) * shrink);
    all[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, c.input[d] - 1))] += weight;
    sum += weight;
  }
  for (double& weight : all) weight /= sum;
  return all;
}

std::vector<double> oracle(const Configuration& c, const std::vector<double>& x) {
  std::vector<double> y;
  std::vector<std::int64_t> at(c.output.size(), 0);
  const auto total = Shape(c.output).element_count();
  for (std::int64_t n = 0; n < total; ++n) {
    std::vector<std::vector<double>> axis;
    for (std::size_t d = 0; d < at.size(); ++d) axis.push_back(weights(c, d, at[d]));
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double weight = 1;
      std::size_t rest = i;
      for (std::size_t d = at.size(); d-- > 0;) {
        weight *= axis[d][rest % axis[d].size()];
        rest /= axis[d].size();
      }
      sum += weight * x[i];
    }
    y.push_back(sum);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < c.output[d]) break;
      at[d] = 0;
    }
  }
  return y;
}

void check(const Configuration& c, std::mt19937& random) {
  const auto rank = static_cast<std::int64_t>(c.input.size());
  std::vector<double> x(static_cast<std::size_t>(Shape(c.input).element_count()));
  for (double& value : x) value = std::uniform_real_distribution<double>(-1, 1)(random);
  const Value sizes = Tensor::from(Shape{rank}, c.output);
  const Value scales = Tensor::from(Shape{rank}, c.scales);
  const auto got = run_node(
      "Resize", "", 19,
      {make<double>(Shape(c.input), x), Value(), c.by_scale ? scales : Value(), c.by_scale ? Value() : sizes},
      {attr("mode", c.mode.c_str()), attr("coordinate_transformation_mode", c.coordinates.c_str()),
       attr("exclude_outside", int(c.exclude_outside)), attr("antialias", int(c.antialias)),
       attr("cubic_coeff_a", float(c.a))});
  const std::vector<double> expected = oracle(c, x);
  ASSERT_EQ(got[0].tensor().shape(), Shape(c.output));
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::fabs(got[0].tensor().data<double>()[i] - expected[i]));
  EXPECT_LT(worst, 1e-12) << fmt::format(
      "{} {} {} -> {}{}{}", c.mode, c.coordinates, Shape(c.input).to_string(), Shape(c.output).to_string(),
      c.antialias ? " antialias" : "", c.exclude_outside ? " exclude_outside" : "");
}

constexpr const char* all_coordinates[] = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                           "half_pixel_symmetric"};

TEST(Resize, AgreesWithTheDefinition) {
  std::mt19937 random(11);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int trial = 0; trial < 300; ++trial) {
    Configuration c;
    c.mode = draw(0, 1) ? "linear" : "cubic";
    c.coordinates = all_coordinates[draw(0, 4)];
    c.exclude_outside = draw(0, 1);
    c.antialias = draw(0, 1);
    c.by_scale = draw(0, 1);
    c.a = draw(0, 1) ? -0.5 : -0.75;
    const int rank = draw(1, 3);
    for (int d = 0; d < rank; ++d) {
      c.input.push_back(draw(1, 6));
      const std::int64_t shortest = (8 + c.input.back() - 1) / c.input.back();  // in eighths, for one element
      c.scales.push_back(static_cast<float>(draw(static_cast<int>(shortest), 24)) / 8);
      c.output.push_back(c.by_scale
                             ? std::int64_t(std::floor(double(c.input.back()) * double(c.scales.back())))
                             : draw(1, 9));
    }
    check(c, random);
  }
}

// Along the innermost axis, where outputs that have the same weights are taken together.
TEST(Resize, ToTwiceTheLengthAgreesWithTheDefinition) {
  std::mt19937 random(12);
  for (const char* const mode : {"linear", "cubic"}) {
    for (const char* const coordinates : all_coordinates) {
      for (const bool exclude_outside : {false, true}) {
        for (const std::int64_t length : {1, 2, 3, 4, 5, 8, 9, 17, 40}) {
          Configuration c;
          c.mode = mode;
          c.coordinates = coordinates;
          c.exclude_outside = exclude_outside;
          c.input = {3, length};
          c.output = {3, 2 * length};
          c.scales = {1, 2};
          check(c, random);
        }
      }
    }
  }
}

}  // namespace
}  // namespace grurun::engine::testing
