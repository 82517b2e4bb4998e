#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

namespace {

constexpr Page preview_rows[] = {
    {.op_type = "FlexAttention"},
};
static_assert(is_sorted_by_name(preview_rows));

constexpr Page training_rows[] = {
    {.op_type = "Adagrad", .rules = {{check_optimizer}}},
    {.op_type = "Adam", .rules = {{check_optimizer}}},
    {.op_type = "Gradient"},
    {.op_type = "Momentum", .attributes = "mode: nesterov, standard", .rules = {{check_optimizer}}},
};
static_assert(is_sorted_by_name(training_rows));

}  // namespace

std::span<const Page> preview_pages() {
  return preview_rows;
}

std::span<const Page> training_pages() {
  return training_rows;
}

}  // namespace grurun::opset
