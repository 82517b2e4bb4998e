// Sizes that weights, groups and windows of convolutions settle together.
#pragma once

#include "onnx/defs/shape_inference.h"

namespace grurun::opset {

/// Each throws Error(invalid_model) for sizes that are known and do not fit: channels of groups, kernel_shape
/// against W, a window that is longer than the padded input. W is input number `weights`.
void check_convolution(const onnx::InferenceContext& context, std::size_t weights);
void check_transposed_convolution(const onnx::InferenceContext& context);
/// offset and mask too.
void check_deformed_convolution(const onnx::InferenceContext& context);

}  // namespace grurun::opset
