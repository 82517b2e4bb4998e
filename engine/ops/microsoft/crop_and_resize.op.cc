// CropAndResize (com.microsoft 1): a part of an image, resized.
//
// X [N, C, H, W], rois [num_rois, 4] of [y1, x1, y2, x2], 1 being the last row or column, batch_indices
// [num_rois], crop_size [2] -> Y [num_rois, C, crop_height, crop_width]. Row i of a crop is taken from y1 *
// (H - 1) + i * (y2 - y1) * (H - 1) / (crop_height - 1), the last one from y2 * (H - 1), the only one from
// the middle; columns likewise. Between places it interpolates (mode bilinear), or takes the nearest, halves
// away from zero; beyond the image it gives extrapolation_value.
#include <cmath>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct Crop {
  bool bilinear;
  float outside;
};

// Where place i of count lies among size places.
float place_of(std::int64_t i, std::int64_t count, float begin, float end, std::int64_t size) {
  const auto last = static_cast<float>(size - 1);
  if (count == 1)
    return static_cast<float>(0.5 * static_cast<double>(begin + end) * static_cast<double>(last));
  if (i == count - 1) return end * last;
  const float step = (end - begin) * last / static_cast<float>(count - 1);
  return begin * last + static_cast<float>(i) * step;
}

bool is_inside(float place, std::int64_t size) {
  return place >= 0 && place <= static_cast<float>(size - 1);
}

float taken(const Crop& op, const float* image, std::int64_t width, float y, float x) {
  if (!op.bilinear)
    return image[static_cast<std::int64_t>(std::round(y)) * width + static_cast<std::int64_t>(std::round(x))];
  const auto top = static_cast<std::int64_t>(std::floor(y)) * width;
  const auto bottom = static_cast<std::int64_t>(std::ceil(y)) * width;
  const auto left = static_cast<std::int64_t>(std::floor(x)), right = static_cast<std::int64_t>(std::ceil(x));
  const float along = x - std::floor(x), down = y - std::floor(y);
  const float above = image[top + left] + (image[top + right] - image[top + left]) * along;
  const float below = image[bottom + left] + (image[bottom + right] - image[bottom + left]) * along;
  return above + (below - above) * down;
}

void crop(const Crop& op, RunContext& run) {
  const Tensor &X = run.tensor(0), &rois = run.tensor(1), &images = run.tensor(2), &size = run.tensor(3);
  const bool fits = X.rank() == 4 && rois.rank() == 2 && rois.dim(1) == 4 && images.rank() == 1 &&
                    images.dim(0) == rois.dim(0) && size.rank() == 1 && size.dim(0) == 2;
  if (!fits) refuse();
  const std::int64_t rows = size.data<std::int32_t>()[0], columns = size.data<std::int32_t>()[1];
  if (rows < 1 || columns < 1) refuse();
  const auto* of = images.data<std::int32_t>();
  for (std::int64_t r = 0; r < images.size(); ++r) {
    if (of[r] < 0 || of[r] >= X.dim(0)) refuse();
  }
  const std::int64_t channels = X.dim(1), height = X.dim(2), width = X.dim(3);
  float* Y = run.output(0, DType::float32, {rois.dim(0), channels, rows, columns}).mutable_data<float>();
  kernels::parallel_for(rois.dim(0) * channels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t r = plane / channels, c = plane % channels;
      const float* roi = rois.data<float>() + r * 4;
      const float* image = X.data<float>() + (of[r] * channels + c) * height * width;
      float* to = Y + plane * rows * columns;
      for (std::int64_t i = 0; i < rows; ++i) {
        const float y = place_of(i, rows, roi[0], roi[2], height);
        for (std::int64_t j = 0; j < columns; ++j) {
          const float x = place_of(j, columns, roi[1], roi[3], width);
          const bool inside = is_inside(y, height) && is_inside(x, width);
          *to++ = inside ? taken(op, image, width, y, x) : op.outside;
        }
      }
    }
  });
}

RunFunction prepare_crop_and_resize(PrepareContext& node) {
  const Crop op{node.string_attribute("mode", "bilinear") == "bilinear",
                node.float_attribute("extrapolation_value", 0.0f)};
  return [op](RunContext& run) { crop(op, run); };
}

}  // namespace

std::vector<OpRow> op_rows_crop_and_resize() {
  return {{"com.microsoft", "CropAndResize", {1}, prepare_crop_and_resize, {{"T1", TypeList<float>::set}}}};
}

}  // namespace grurun::engine
