#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> logical_pages() {
  static constexpr Page pages[] = {
      {.op_type = "And", .rules = {{check_pair, 1, 1}, {check_broadcast, 7}}, .folded = Folded::broadcast},
      {.op_type = "BitwiseAnd", .rules = {{check_broadcast}}},
      {.op_type = "BitwiseNot"},
      {.op_type = "BitwiseOr", .rules = {{check_broadcast}}},
      {.op_type = "BitwiseXor", .rules = {{check_broadcast}}},
      {.op_type = "Equal", .rules = {{check_pair, 1, 1}, {check_broadcast, 7}}, .folded = Folded::broadcast},
      {.op_type = "Greater",
       .rules = {{check_pair, 1, 1}, {check_broadcast, 7}},
       .folded = Folded::broadcast},
      {.op_type = "GreaterOrEqual", .rules = {{check_broadcast}}, .folded = Folded::broadcast},
      {.op_type = "Less", .rules = {{check_pair, 1, 1}, {check_broadcast, 7}}, .folded = Folded::broadcast},
      {.op_type = "LessOrEqual", .rules = {{check_broadcast}}, .folded = Folded::broadcast},
      {.op_type = "Not", .folded = Folded::first},
      {.op_type = "Or", .rules = {{check_pair, 1, 1}, {check_broadcast, 7}}, .folded = Folded::broadcast},
      {.op_type = "Xor", .rules = {{check_pair, 1, 1}, {check_broadcast, 7}}, .folded = Folded::broadcast},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
