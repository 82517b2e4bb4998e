// Rules of operators of com.microsoft that none of the standard's has.
#pragma once

#include <optional>
#include <string>

#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// Tokenizer: separators or tokenexp is stated, not both.
std::optional<std::string> tokens_stated_once(const onnx_io::Node& node, int since_version);
/// CausalConvWithState: weight, bias and past_state for the channels of input, and a state of (k - 1) *
/// dilation places.
void check_dilated_state(const NodeFacts& facts);
/// SparseToDenseMatMul: columns of A against rows of B, transA and transB heeded.
void check_sparse_product(const NodeFacts& facts);
/// VarlenCausalConvWithState and VarlenNGramHashMapping: cumulative_sequence_length has an element.
void check_sequence_ends(const NodeFacts& facts);

}  // namespace grurun::opset
