#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> text_pages() {
  static constexpr Page pages[] = {
      {.op_type = "RegexFullMatch"},
      {.op_type = "StringConcat", .rules = {{check_broadcast}}},
      {.op_type = "StringNormalizer",
       .shapes = "@10 [C] | [1,C]",
       .attributes = "case_change_action: NONE, LOWER, UPPER"},
      {.op_type = "StringSplit"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
