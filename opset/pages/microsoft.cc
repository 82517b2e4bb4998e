#include "opset/pages/families.h"

namespace grurun::opset {

std::span<const Page> microsoft_pages() {
  static constexpr Page pages[] = {
      {.op_type = "DynamicQuantizeLSTM", .flops = Flops::recurrent},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
