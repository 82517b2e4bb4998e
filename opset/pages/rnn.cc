#include "opset/pages/families.h"

namespace grurun::opset {

namespace {

constexpr Page openvino_rows[] = {
    {.op_type = "LSTM", .flops = Flops::recurrent},
};
static_assert(is_sorted_by_name(openvino_rows));

constexpr Page rnn_rows[] = {
    {.op_type = "GRU", .flops = Flops::recurrent},
    {.op_type = "LSTM", .flops = Flops::recurrent},
    {.op_type = "RNN", .flops = Flops::recurrent},
};
static_assert(is_sorted_by_name(rnn_rows));

}  // namespace

std::span<const Page> openvino_pages() {
  return openvino_rows;
}

std::span<const Page> rnn_pages() {
  return rnn_rows;
}

}  // namespace grurun::opset
