#include "engine/ops/tensor/resize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/graph/refusal.h"
#include "engine/ops/shared/interpolation.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace {

constexpr double longest = 0x1p62;        // of an axis
constexpr double widest_filter = 0x1p31;  // input elements on one side of a place
constexpr std::size_t most_weights = std::size_t{1} << 28;

std::int64_t nearest_place(NearestMode mode, double scale, double x) {
  const double below = std::floor(x);
  const double part = x - below;
  switch (mode) {
    case NearestMode::floor_or_ceil:
      return static_cast<std::int64_t>(scale < 1 ? std::ceil(x) : below);
    case NearestMode::floor:
      return static_cast<std::int64_t>(below);
    case NearestMode::ceil:
      return static_cast<std::int64_t>(std::ceil(x));
    case NearestMode::round_prefer_floor:
      return static_cast<std::int64_t>(below) + (part > 0.5);
    case NearestMode::round_prefer_ceil:
      return static_cast<std::int64_t>(below) + (part >= 0.5);
  }
  return 0;
}

// The filter of linear or cubic interpolation, stretched by 1 / shrink.
struct Filter {
  ResizeMode mode;
  double a;
  double shrink;

  double reach() const { return (mode == ResizeMode::linear ? 1 : 2) / shrink; }
  double weight(double distance) const {
    return mode == ResizeMode::linear ? linear_weight(distance * shrink) : cubic_weight(distance * shrink, a);
  }
};

// Weights of the elements around x, those beyond the edges put on the edge (or left out, with
// exclude_outside), into weights; returns the first element.
std::int64_t filter_weights(const Filter& filter, const ResizeForm& form, double x, std::int64_t length,
                            ScratchVector<double>& weights) {
  const double reach = filter.reach();
  const auto low = static_cast<std::int64_t>(std::floor(x - reach)) + 1;
  const auto high = static_cast<std::int64_t>(std::ceil(x + reach)) - 1;
  const std::int64_t first = std::clamp<std::int64_t>(low, 0, length - 1);
  weights.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(high, first, length - 1) - first + 1),
                 0.0);
  double sum = 0;
  for (std::int64_t i = low; i <= high; ++i) {
    const bool inside = i >= 0 && i < length;
    if (!inside && form.exclude_outside) continue;
    const double weight = filter.weight(static_cast<double>(i) - x);
    sum += weight;
    weights[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, length - 1) - first)] += weight;
  }
  if (form.exclude_outside || filter.shrink < 1) {
    if (sum == 0)
      fail_unsupported("the weights of the elements around {} sum to 0 and cannot be normalised", x);
    for (double& weight : weights) weight /= sum;
  }
  return first;
}

// Elements of weight 0 at both ends are left out, so that an infinity there has no influence.
void append_taps(AxisTaps& taps, std::int64_t first, std::span<const double> weights) {
  std::size_t begin = 0, end = weights.size();
  while (begin + 1 < end && weights[begin] == 0) ++begin;
  while (end > begin + 1 && weights[end - 1] == 0) --end;
  if (taps.weights.size() + (end - begin) > most_weights) {
    fail_unsupported("the antialiasing filter of one axis would take more than {} weights", most_weights);
  }
  taps.first.push_back(first + static_cast<std::int64_t>(begin));
  taps.weights.insert(taps.weights.end(), weights.begin() + static_cast<std::ptrdiff_t>(begin),
                      weights.begin() + static_cast<std::ptrdiff_t>(end));
  taps.start.push_back(static_cast<std::int64_t>(taps.weights.size()));
}

}  // namespace

ResizeAxis axis_by_scale(std::int64_t input, double scale, double roi_start, double roi_end) {
  const double width = static_cast<double>(input) * scale;
  const double output = std::floor(static_cast<double>(input) * (roi_end - roi_start) * scale);
  if (!(output >= 0 && output < longest)) refuse();
  return {.input = input,
          .output = static_cast<std::int64_t>(output),
          .numerator = scale,
          .denominator = 1,
          .width = width,
          .corner_width = width,
          .roi_start = roi_start,
          .roi_end = roi_end};
}

ResizeAxis axis_by_size(std::int64_t input, std::int64_t output, double roi_start, double roi_end) {
  const auto width = static_cast<double>(output);
  return {.input = input,
          .output = output,
          .numerator = width,
          .denominator = static_cast<double>(input),
          .width = width,
          .corner_width = width,
          .roi_start = roi_start,
          .roi_end = roi_end};
}

double original_place(CoordinateMode mode, const ResizeAxis& axis, std::int64_t x_resized) {
  const auto x = static_cast<double>(x_resized);
  const auto length = static_cast<double>(axis.input);
  const auto over_scale = [&](double value) { return value * axis.denominator / axis.numerator; };
  switch (mode) {
    case CoordinateMode::half_pixel:
      return over_scale(x + 0.5) - 0.5;
    case CoordinateMode::half_pixel_symmetric: {
      const double adjustment = static_cast<double>(axis.output) / axis.width;
      return length / 2 * (1 - adjustment) + over_scale(x + 0.5) - 0.5;
    }
    case CoordinateMode::pytorch_half_pixel:
      return axis.output > 1 ? over_scale(x + 0.5) - 0.5 : 0;
    case CoordinateMode::align_corners:
      return x_resized == 0 ? 0 : x * (length - 1) / (axis.corner_width - 1);
    case CoordinateMode::asymmetric:
      return over_scale(x);
    case CoordinateMode::tf_half_pixel_for_nn:
      return over_scale(x + 0.5);
    case CoordinateMode::tf_crop_and_resize:
      return axis.output > 1
                 ? axis.roi_start * (length - 1) + x * (axis.roi_end - axis.roi_start) * (length - 1) /
                                                       static_cast<double>(axis.output - 1)
                 : 0.5 * (axis.roi_start + axis.roi_end) * (length - 1);
  }
  return 0;
}

AxisTaps resize_taps(const ResizeForm& form, const ResizeAxis& axis) {
  const bool crops = form.coordinates == CoordinateMode::tf_crop_and_resize;
  // An axis of scale 1 is not resized, whatever the coordinates: tf_half_pixel_for_nn would shift it.
  if (!crops && axis.input == axis.output && axis.numerator == axis.denominator)
    return identity_taps(axis.input);
  if (axis.input == 0) refuse();
  const double scale = axis.numerator / axis.denominator;
  const Filter filter{form.mode, form.cubic_coeff_a, form.antialias ? std::min(1.0, scale) : 1.0};
  if (form.mode != ResizeMode::nearest && !(filter.reach() <= widest_filter)) {
    fail_unsupported("antialias with a scale of {} takes more than {} elements for one", scale,
                     widest_filter);
  }
  AxisTaps taps{axis.input, axis.output, {}, {0}, {}, {}};
  taps.first.reserve(static_cast<std::size_t>(axis.output));
  taps.start.reserve(static_cast<std::size_t>(axis.output) + 1);
  constexpr std::array none{0.0}, all{1.0};
  ScratchVector<double> weights;
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const double x = original_place(form.coordinates, axis, o);
    if (crops && !(x >= 0 && x <= static_cast<double>(axis.input - 1))) {
      taps.outside.push_back(o);
      append_taps(taps, 0, none);
    } else if (form.mode == ResizeMode::nearest) {
      const std::int64_t place = nearest_place(form.nearest, scale, x);
      append_taps(taps, std::clamp<std::int64_t>(place, 0, axis.input - 1), all);
    } else {
      const std::int64_t first = filter_weights(filter, form, x, axis.input, weights);
      append_taps(taps, first, weights);
    }
  }
  return taps;
}

Tensor resize(const Tensor& x, const ResizeForm& form, std::span<const ResizeAxis> axes) {
  Shape shape;
  for (const ResizeAxis& axis : axes) shape.push_back(axis.output);
  // Nothing to compute; and lengths are bounded by the elements of the output only where it has some.
  if (shape.element_count() == 0) return {x.dtype(), shape};
  // The output has room for every axis: what is too large is refused here, before tables are made for it.
  static_cast<void>(Tensor(x.dtype(), shape));
  ScratchVector<AxisTaps> taps;
  for (const ResizeAxis& axis : axes) taps.push_back(resize_taps(form, axis));
  Tensor y = form.mode == ResizeMode::nearest ? taken_elements(x, taps) : weighted_sums(x, taps);
  fill_outside(y, taps, form.extrapolation_value);
  return y;
}

}  // namespace grurun::engine
