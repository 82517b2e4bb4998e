// The shape of STFT's output, in the place of ONNX's inference: that takes onesided for 0 where it is left
// out, and rounds the number of frames towards 0.
#pragma once

#include "onnx/defs/shape_inference.h"
#include "opset/pages/node_facts.h"

namespace grurun::opset {

/// output [batch_size, frames, bins, 2], for facts that its page allows.
void infer_stft(const NodeFacts& facts, onnx::InferenceContext& context);

}  // namespace grurun::opset
