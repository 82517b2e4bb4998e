#include "opset/pages/families.h"

namespace grurun::opset {

namespace {

constexpr Page text_rows[] = {
    {.op_type = "RegexFullMatch"},
    {.op_type = "StringConcat"},
    {.op_type = "StringNormalizer", .attributes = "case_change_action: NONE, LOWER, UPPER"},
    {.op_type = "StringSplit"},
};
static_assert(is_sorted_by_name(text_rows));

}  // namespace

std::span<const Page> text_pages() {
  return text_rows;
}

}  // namespace grurun::opset
