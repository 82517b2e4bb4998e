#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

namespace {

constexpr Page logical_rows[] = {
    {.op_type = "And", .rules = {{check_pair, 1, 1}}, .folded = Folded::broadcast},
    {.op_type = "BitwiseAnd"},
    {.op_type = "BitwiseNot"},
    {.op_type = "BitwiseOr"},
    {.op_type = "BitwiseXor"},
    {.op_type = "Equal", .rules = {{check_pair, 1, 1}}, .folded = Folded::broadcast},
    {.op_type = "Greater", .rules = {{check_pair, 1, 1}}, .folded = Folded::broadcast},
    {.op_type = "GreaterOrEqual", .folded = Folded::broadcast},
    {.op_type = "Less", .rules = {{check_pair, 1, 1}}, .folded = Folded::broadcast},
    {.op_type = "LessOrEqual", .folded = Folded::broadcast},
    {.op_type = "Not", .folded = Folded::first},
    {.op_type = "Or", .rules = {{check_pair, 1, 1}}, .folded = Folded::broadcast},
    {.op_type = "Xor", .rules = {{check_pair, 1, 1}}, .folded = Folded::broadcast},
};
static_assert(is_sorted_by_name(logical_rows));

}  // namespace

std::span<const Page> logical_pages() {
  return logical_rows;
}

}  // namespace grurun::opset
