// What ONNX's inference functions take at its word, looked at before they are called: where they would write
// beside a shape, read a type that is not there, loop for ever, or take memory by a number that the model
// states.
#pragma once

#include "onnx/defs/schema.h"

namespace grurun::opset {

/// ONNX tracks the values of small integer tensors; a declared size of 10^12 would be taken at its word.
inline constexpr int max_propagated_size = 4096;

/// False where the operator's inference function is not to be called: what it would find is wrong or not
/// worth its memory, and no fault of the model.
bool may_infer(const onnx::OpSchema& schema, const onnx::InferenceContext& context);

/// As may_infer, of the function that tracks values.
bool may_propagate(const onnx::OpSchema& schema, onnx::DataPropagationContext& context);

}  // namespace grurun::opset
