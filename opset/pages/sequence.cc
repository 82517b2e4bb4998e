#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> sequence_pages() {
  static constexpr Page pages[] = {
      {.op_type = "ConcatFromSequence", .attributes = "new_axis: 0, 1", .rules = {{check_joined_sequence}}},
      {.op_type = "Optional", .rules = {{check_wrapped}}},
      {.op_type = "OptionalGetElement", .rules = {{check_held}}},
      {.op_type = "OptionalHasElement"},
      {.op_type = "SequenceAt", .shapes = "@11 - one", .rules = {{check_position}}},
      {.op_type = "SequenceConstruct"},
      {.op_type = "SequenceEmpty", .together = names_element_type},
      {.op_type = "SequenceErase", .shapes = "@11 - one", .rules = {{check_erased}}},
      {.op_type = "SequenceInsert", .shapes = "@11 - - one", .rules = {{check_inserted}}},
      {.op_type = "SequenceLength"},
      {.op_type = "SequenceMap", .rules = {{check_mapped_lengths}}},
      {.op_type = "SplitToSequence",
       .shapes = "@11 - list",
       .attributes = "keepdims: 0, 1",
       .numbers = "axis=0: [-r,r)",
       .rules = {{check_split_to_sequence}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
