// DynamicQuantizeLSTM of com.microsoft as ONNX's shape inference knows operators.
#pragma once

#include "onnx/defs/schema.h"

namespace grurun::opset {

/// Names, types and options of its inputs and outputs (schemas_beyond_the_standard), without an inference
/// function.
onnx::OpSchema quantized_lstm_schema();

}  // namespace grurun::opset
