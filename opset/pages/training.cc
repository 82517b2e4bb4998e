#include "opset/pages/families.h"

namespace grurun::opset {

namespace {

constexpr Page preview_rows[] = {
    {.op_type = "FlexAttention"},
};
static_assert(is_sorted_by_name(preview_rows));

constexpr Page training_rows[] = {
    {.op_type = "Adagrad"},
    {.op_type = "Adam"},
    {.op_type = "Gradient"},
    {.op_type = "Momentum", .attributes = "mode: nesterov, standard"},
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
