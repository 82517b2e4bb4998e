// DynamicQuantizeLSTM of com.microsoft: values of attributes, which no schema holds it against.
#pragma once

#include "opset/findings/check_report.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

/// Values of attributes, by the text of LSTM: direction, activations with their parameters, clip,
/// hidden_size, input_forget. What schema says of their types is not told again.
void check_quantized_attributes(const NodeAt& at, const SchemaInfo& schema, CheckReport& report);

}  // namespace grurun::opset
