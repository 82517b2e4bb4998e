// The pages of each family, by name.
#pragma once

#include <span>

#include "opset/pages/page.h"

namespace grurun::opset {

std::span<const Page> controlflow_pages();
std::span<const Page> generator_pages();
std::span<const Page> image_pages();
std::span<const Page> logical_pages();
std::span<const Page> math_pages();
std::span<const Page> microsoft_pages();
std::span<const Page> nn_pages();
std::span<const Page> openvino_pages();
std::span<const Page> preview_pages();
std::span<const Page> quantization_pages();
std::span<const Page> reduction_pages();
std::span<const Page> rnn_pages();
std::span<const Page> sequence_pages();
std::span<const Page> tensor_pages();
std::span<const Page> text_pages();
std::span<const Page> traditionalml_pages();
std::span<const Page> training_pages();

}  // namespace grurun::opset
