#include "opset/pages/families.h"

namespace grurun::opset {

std::span<const Page> image_pages() {
  static constexpr Page pages[] = {
      {.op_type = "ImageDecoder", .attributes = "pixel_format: RGB, BGR, Grayscale"},
      {.op_type = "NonMaxSuppression",
       .shapes = "@10 [num_batches,spatial,4] [num_batches,num_classes,spatial] one one one",
       .attributes = "center_point_box: 0, 1"},
      {.op_type = "RoiAlign",
       .attributes = "mode: avg, max; coordinate_transformation_mode@16: half_pixel, output_half_pixel; "
                     "sampling_ratio >= 0"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
