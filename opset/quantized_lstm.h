// DynamicQuantizeLSTM of com.microsoft: attributes and shapes, which no schema holds it against.
#pragma once

#include <map>
#include <string>

#include "opset/check_node.h"
#include "opset/check_report.h"
#include "opset/registry.h"

namespace grurun::opset {

/// Values of attributes, by the text of LSTM: direction, activations with their parameters, clip,
/// hidden_size, input_forget. What schema says of their types is not told again.
void check_quantized_attributes(const NodeAt& at, const SchemaInfo& schema, CheckReport& report);

/// Shapes of the inputs of each such node of the main graph (recurrent_input_dims), as far as types has them
/// by name.
void check_quantized_shapes(const onnx_io::Model& model, const FunctionIndex& functions,
                            const std::map<std::string, ValueType>& types, CheckReport& report);

}  // namespace grurun::opset
