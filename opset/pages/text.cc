#include "opset/pages/families.h"

namespace grurun::opset {

std::span<const Page> text_pages() {
  static constexpr Page pages[] = {
      {.op_type = "RegexFullMatch"},
      {.op_type = "StringConcat"},
      {.op_type = "StringNormalizer",
       .shapes = "@10 [C] | [1,C]",
       .attributes = "case_change_action: NONE, LOWER, UPPER"},
      {.op_type = "StringSplit"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
