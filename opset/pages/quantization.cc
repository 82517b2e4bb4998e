#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> quantization_pages() {
  static constexpr Page pages[] = {
      {.op_type = "DequantizeLinear",
       .shapes = "@10 - one one; @13 - [...] [...] | - one one",
       .attributes = "block_size@21 >= 0",
       .rules = {{check_scale, 13}},
       .folded = Folded::first},
      {.op_type = "DynamicQuantizeLinear"},
      {.op_type = "QuantizeLinear",
       .shapes = "@10 - one one; @13 - [...] [...] | - one one",
       .attributes = "precision@23: 0, 1, 10, 11, 16; block_size@21 >= 0",
       .rules = {{check_scale, 13}, {check_output_type, 21}},
       .folded = Folded::first},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
