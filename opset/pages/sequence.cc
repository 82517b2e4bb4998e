#include "opset/pages/families.h"

namespace grurun::opset {

std::span<const Page> sequence_pages() {
  static constexpr Page pages[] = {
      {.op_type = "ConcatFromSequence", .attributes = "new_axis: 0, 1"},
      {.op_type = "Optional"},
      {.op_type = "OptionalGetElement"},
      {.op_type = "OptionalHasElement"},
      {.op_type = "SequenceAt"},
      {.op_type = "SequenceConstruct"},
      {.op_type = "SequenceEmpty"},
      {.op_type = "SequenceErase"},
      {.op_type = "SequenceInsert"},
      {.op_type = "SequenceLength"},
      {.op_type = "SequenceMap"},
      {.op_type = "SplitToSequence", .attributes = "keepdims: 0, 1"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
