#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> image_pages() {
  static constexpr Page pages[] = {
      {.op_type = "ImageDecoder", .shapes = "@20 [bytes]", .attributes = "pixel_format: RGB, BGR, Grayscale"},
      {.op_type = "NonMaxSuppression",
       .shapes = "@10 [num_batches,spatial,4] [num_batches,num_classes,spatial] one one one",
       .attributes = "center_point_box: 0, 1",
       .numbers = "iou_threshold: [0,1]"},
      {.op_type = "RoiAlign",
       .shapes = "@10 [N,C,H,W] [num_rois,4] [num_rois]",
       .attributes = "mode: avg, max; coordinate_transformation_mode@16: half_pixel, output_half_pixel; "
                     "sampling_ratio >= 0; output_height >= 1; output_width >= 1",
       .numbers = "batch_indices: [0,n)",
       .rules = {{check_regions}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
