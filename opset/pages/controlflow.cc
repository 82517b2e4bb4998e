#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> controlflow_pages() {
  static constexpr Page pages[] = {
      {.op_type = "If", .rules = {{check_single_elements}}},
      {.op_type = "Loop", .rules = {{check_single_elements}}},
      {.op_type = "Scan",
       .attributes = "directions: 0, 1; scan_input_directions@9: 0, 1; scan_output_directions@9: 0, 1",
       .rules = {{check_scan}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
