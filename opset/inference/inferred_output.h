// What ONNX's inference functions get wrong of outputs.
#pragma once

#include "onnx/defs/schema.h"
#include "onnx/defs/shape_inference.h"
#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// After the operator's inference function: sizes that it made up are unknown again, and those that it gets
/// wrong are as the operator's page has them.
void correct_inferred(const onnx::OpSchema& schema, onnx::InferenceContext& context);

/// output [batch_size, frames, bins, 2], for facts that its page allows.
void infer_stft(const NodeFacts& facts, onnx::InferenceContext& context);

/// In the place of an inference function that is not to be called (may_infer): what the operator's text says
/// of the outputs, as far as it is known.
void infer_by_text(const onnx::OpSchema& schema, onnx::InferenceContext& context);

}  // namespace grurun::opset
