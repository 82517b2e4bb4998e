#include "opset/pages/families.h"

namespace grurun::opset {

std::span<const Page> openvino_pages() {
  static constexpr Page pages[] = {
      {.op_type = "LSTM", .flops = Flops::recurrent},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

std::span<const Page> rnn_pages() {
  static constexpr Page pages[] = {
      {.op_type = "GRU", .flops = Flops::recurrent},
      {.op_type = "LSTM", .flops = Flops::recurrent},
      {.op_type = "RNN", .flops = Flops::recurrent},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
