#include "opset/pages/families.h"

namespace grurun::opset {

namespace {

constexpr Page microsoft_rows[] = {
    {.op_type = "DynamicQuantizeLSTM", .flops = Flops::recurrent},
};
static_assert(is_sorted_by_name(microsoft_rows));

}  // namespace

std::span<const Page> microsoft_pages() {
  return microsoft_rows;
}

}  // namespace grurun::opset
