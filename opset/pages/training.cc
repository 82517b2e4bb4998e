#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> preview_pages() {
  static constexpr Page pages[] = {
      {.op_type = "FlexAttention",
       .shapes = "@1 [batch,q_heads,q,head] [batch,kv_heads,kv,head] [batch,kv_heads,kv,v]",
       .attributes = "softmax_precision: 1, 10, 11, 16",
       .rules = {{check_shared_heads}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

std::span<const Page> training_pages() {
  static constexpr Page pages[] = {
      {.op_type = "Adagrad", .shapes = "@1 one one", .rules = {{check_optimizer}}},
      {.op_type = "Adam", .shapes = "@1 one one", .rules = {{check_optimizer}}},
      {.op_type = "Gradient", .together = gradient_names_fault},
      {.op_type = "Momentum",
       .shapes = "@1 one one",
       .attributes = "mode: nesterov, standard",
       .rules = {{check_optimizer}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
