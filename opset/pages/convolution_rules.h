// Sizes that weights, groups and windows of convolutions settle together.
#pragma once

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// Each throws Error(invalid_model) for sizes that are known and do not fit: channels of groups, kernel_shape
/// against W, a window that is longer than the padded input. W is input number `weights`.
void check_convolution(const NodeFacts& facts, std::size_t weights);
void check_transposed_convolution(const NodeFacts& facts);
/// offset and mask too.
void check_deformed_convolution(const NodeFacts& facts);

}  // namespace grurun::opset
