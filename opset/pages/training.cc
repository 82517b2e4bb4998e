#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> preview_pages() {
  static constexpr Page pages[] = {
      {.op_type = "FlexAttention"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

std::span<const Page> training_pages() {
  static constexpr Page pages[] = {
      {.op_type = "Adagrad", .rules = {{check_optimizer}}},
      {.op_type = "Adam", .rules = {{check_optimizer}}},
      {.op_type = "Gradient"},
      {.op_type = "Momentum", .attributes = "mode: nesterov, standard", .rules = {{check_optimizer}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
