#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> tensor_pages() {
  static constexpr Page pages[] = {
      {.op_type = "AffineGrid", .shapes = "@20 [N,2,3] [4] | [N,3,4] [5]"},
      {.op_type = "BitCast"},
      {.op_type = "Cast",
       .attributes = "round_mode@24: up, down, nearest",
       .folded = Folded::first,
       .elements = Elements::converted},
      {.op_type = "CastLike",
       .attributes = "round_mode@24: up, down, nearest",
       .folded = Folded::first,
       .elements = Elements::converted},
      {.op_type = "CenterCropPad", .shapes = "@18 - list", .rules = {{check_cropped_axes}}},
      {.op_type = "Compress", .shapes = "@9 - [n]", .rules = {{check_condition, 9}}},
      {.op_type = "Concat", .folded = Folded::all, .elements = Elements::picked},
      {.op_type = "DepthToSpace", .attributes = "mode@11: DCR, CRD", .rules = {{check_depth_to_space}}},
      {.op_type = "DynamicSlice"},
      {.op_type = "Expand", .shapes = "@8 - [n]", .folded = Folded::repeated},
      {.op_type = "Flatten", .folded = Folded::first, .elements = Elements::in_order},
      {.op_type = "Gather", .folded = Folded::each_of_second, .elements = Elements::picked},
      {.op_type = "GatherElements",
       .shapes = "@11 [+] [+]",
       .rules = {{check_axis}},
       .folded = Folded::second},
      {.op_type = "GatherND", .rules = {{check_batch_dims}}},
      {.op_type = "GridSample",
       .shapes = "@16 [N,C,H,W] [N,H_out,W_out,2]; @20 [N,C,+] [N,+,r]",
       .attributes =
           "mode: bilinear, nearest, bicubic; mode@20: linear, nearest, cubic; align_corners: 0, 1; "
           "padding_mode: zeros, border, reflection"},
      {.op_type = "Identity", .folded = Folded::first, .elements = Elements::in_order},
      {.op_type = "NonZero"},
      {.op_type = "OneHot"},
      {.op_type = "Pad",
       .shapes = "@11 - list; @18 - list - list",
       .attributes = "mode: constant, reflect, edge; mode@19: constant, reflect, edge, wrap"},
      {.op_type = "Reshape",
       .shapes = "@5 - list",
       .rules = {{check_count, 5}},
       .folded = Folded::first,
       .elements = Elements::in_order},
      {.op_type = "Resize",
       .shapes = "@10 - list; @11 - list list list",
       .attributes =
           "mode: nearest, linear; mode@11: nearest, linear, cubic; nearest_mode@11: round_prefer_floor, "
           "round_prefer_ceil, floor, ceil; coordinate_transformation_mode@11: half_pixel, "
           "pytorch_half_pixel, "
           "align_corners, asymmetric, tf_half_pixel_for_nn, tf_crop_and_resize; "
           "coordinate_transformation_mode@18: half_pixel, pytorch_half_pixel, align_corners, asymmetric, "
           "tf_crop_and_resize; coordinate_transformation_mode@19: half_pixel, half_pixel_symmetric, "
           "pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize; exclude_outside@11: 0, 1; "
           "antialias@18: 0, 1; keep_aspect_ratio_policy@18: stretch, not_larger, not_smaller"},
      {.op_type = "ReverseSequence", .rules = {{check_reversed}}},
      {.op_type = "Scatter", .shapes = "@9 [+] [+] [+]; @9 - [...] [...]", .rules = {{check_axis}}},
      {.op_type = "ScatterElements",
       .shapes = "@11 [+] [+] [+]; @11 - [...] [...]",
       .attributes = "reduction@16: none, add, mul; reduction@18: none, add, mul, max, min",
       .rules = {{check_axis}},
       .folded = Folded::first},
      {.op_type = "ScatterND",
       .attributes = "reduction@16: none, add, mul; reduction@18: none, add, mul, max, min",
       .rules = {{check_updates}},
       .folded = Folded::first},
      {.op_type = "Shape", .folded = Folded::first},
      {.op_type = "Size", .folded = Folded::first},
      {.op_type = "Slice",
       .shapes = "@10 - list list list list",
       .folded = Folded::first,
       .elements = Elements::picked},
      {.op_type = "SpaceToDepth", .attributes = "mode@28: DCR, CRD", .rules = {{check_space_to_depth}}},
      {.op_type = "Split", .rules = {{check_num_outputs, 18}}, .elements = Elements::picked},
      {.op_type = "Squeeze", .shapes = "@13 - list", .folded = Folded::first, .elements = Elements::in_order},
      {.op_type = "TensorScatter", .attributes = "mode: linear, circular"},
      {.op_type = "Tile", .folded = Folded::repeated},
      {.op_type = "Transpose",
       .rules = {{check_perm}},
       .folded = Folded::first,
       .elements = Elements::picked},
      {.op_type = "Trilu", .folded = Folded::first},
      {.op_type = "Unique"},
      {.op_type = "Unsqueeze",
       .shapes = "@13 - list",
       .folded = Folded::first,
       .elements = Elements::in_order},
      {.op_type = "Upsample",
       .shapes = "@9 - list",
       .attributes = "mode: nearest, bilinear; mode@7: nearest, linear"},
      {.op_type = "Where", .folded = Folded::broadcast},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
