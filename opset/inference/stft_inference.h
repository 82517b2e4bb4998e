// The shape of STFT's output, in the place of ONNX's inference: that takes onesided for 0 where it is left
// out, and rounds the number of frames towards 0.
#pragma once

#include "onnx/defs/shape_inference.h"

namespace grurun::opset {

/// output [batch_size, frames, bins, 2]. Throws Error(invalid_model) for a complex signal with onesided, for
/// lengths that are not positive or differ, and for a frame that is longer than the signal.
void infer_stft(onnx::InferenceContext& context);

}  // namespace grurun::opset
