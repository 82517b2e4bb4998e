// Resampling of Resize and Upsample: which places of the input an output place is made of.
#pragma once

#include <cstdint>
#include <span>

#include "engine/ops/shared/separable.h"
#include "tensor/memory/scratch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

enum class ResizeMode { nearest, linear, cubic };

enum class NearestMode {
  round_prefer_floor,
  round_prefer_ceil,
  floor,
  ceil,
  floor_or_ceil,  // floor, but ceil on an axis whose scale is below 1
};

enum class CoordinateMode {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize,
};

/// How values are made. The defaults are what Upsample does.
struct ResizeForm {
  ResizeMode mode = ResizeMode::nearest;
  CoordinateMode coordinates = CoordinateMode::asymmetric;
  NearestMode nearest = NearestMode::floor;
  double cubic_coeff_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  float extrapolation_value = 0;
};

/// One axis. scale is numerator / denominator, kept as two numbers so that x / scale is rounded once; width
/// is the output's length before it was made an integer, corner_width the one that align_corners goes by.
struct ResizeAxis {
  std::int64_t input = 0, output = 0;
  double numerator = 1, denominator = 1;
  double width = 0, corner_width = 0;
  double roi_start = 0, roi_end = 1;
};

/// An axis whose output length is floor(input * scale), or with a roi floor(input * (end - start) * scale).
/// Throws Error(invalid_model) where that is no length.
ResizeAxis axis_by_scale(std::int64_t input, double scale, double roi_start = 0, double roi_end = 1);

/// An axis of this output length, its scale output / input.
ResizeAxis axis_by_size(std::int64_t input, std::int64_t output, double roi_start = 0, double roi_end = 1);

/// x_original, the place in the input that element x_resized of the output stands for.
double original_place(CoordinateMode mode, const ResizeAxis& axis, std::int64_t x_resized);

/// What every output element of the axis is made of. Throws Error(invalid_model) for an empty input axis.
AxisTaps resize_taps(const ResizeForm& form, const ResizeAxis& axis);

/// x under these axes, one for each of its own. Any element type for nearest, any but strings otherwise.
Tensor resize(const Tensor& x, const ResizeForm& form, std::span<const ResizeAxis> axes);

}  // namespace grurun::engine
