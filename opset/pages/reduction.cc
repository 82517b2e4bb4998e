#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> reduction_pages() {
  constexpr std::string_view reduced_axes = "keepdims: 0, 1; noop_with_empty_axes@18: 0, 1";
  constexpr std::string_view reduced_axis = "axes: [-R,R)";
  static constexpr Page pages[] = {
      {.op_type = "ArgMax",
       .attributes = "keepdims: 0, 1",
       .numbers = "axis=0: [-r,r)",
       .rules = {{check_extreme}}},
      {.op_type = "ArgMin",
       .attributes = "keepdims: 0, 1",
       .numbers = "axis=0: [-r,r)",
       .rules = {{check_extreme}}},
      {.op_type = "ReduceL1", .shapes = "@18 - list", .attributes = reduced_axes, .numbers = reduced_axis},
      {.op_type = "ReduceL2", .shapes = "@18 - list", .attributes = reduced_axes, .numbers = reduced_axis},
      {.op_type = "ReduceLogSum",
       .shapes = "@18 - list",
       .attributes = reduced_axes,
       .numbers = reduced_axis},
      {.op_type = "ReduceLogSumExp",
       .shapes = "@18 - list",
       .attributes = reduced_axes,
       .numbers = reduced_axis},
      {.op_type = "ReduceMax",
       .shapes = "@18 - list",
       .attributes = reduced_axes,
       .numbers = reduced_axis,
       .folded = Folded::first},
      {.op_type = "ReduceMean",
       .shapes = "@18 - list",
       .attributes = reduced_axes,
       .numbers = reduced_axis,
       .folded = Folded::first},
      {.op_type = "ReduceMin",
       .shapes = "@18 - list",
       .attributes = reduced_axes,
       .numbers = reduced_axis,
       .folded = Folded::first},
      {.op_type = "ReduceProd",
       .shapes = "@18 - list",
       .attributes = reduced_axes,
       .numbers = reduced_axis,
       .folded = Folded::first},
      {.op_type = "ReduceSum",
       .shapes = "@13 - list",
       .attributes = "keepdims: 0, 1; noop_with_empty_axes@13: 0, 1",
       .numbers = reduced_axis,
       .folded = Folded::first},
      {.op_type = "ReduceSumSquare",
       .shapes = "@18 - list",
       .attributes = reduced_axes,
       .numbers = reduced_axis},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
