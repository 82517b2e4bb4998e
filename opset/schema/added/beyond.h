// Operators outside the standard that run here, as schemas like those of the standard. ONNX's registry does
// not know them: find_schema and newest_opset do not either.
#pragma once

#include <string_view>
#include <vector>

#include "opset/schema/registry.h"

namespace grurun::opset {

/// DynamicQuantizeLSTM of com.microsoft.
const std::vector<SchemaInfo>& schemas_beyond_the_standard();

/// The version of it that a model which imports this opset means; nullptr for any other operator.
const SchemaInfo* find_schema_beyond(std::string_view op_type, std::string_view domain,
                                     std::int64_t opset_version);

/// LSTM with W and R transposed: [num_directions, input_size, 4*hidden_size] and [num_directions,
/// hidden_size, 4*hidden_size].
bool is_dynamic_quantize_lstm(std::string_view op_type, std::string_view domain);

/// The LSTM that the reader of OpenVINO IR makes of a layer with a clip (onnx_io/openvino/openvino_ir.h): its
/// attributes, inputs and outputs are those of ONNX's.
bool is_openvino_lstm(std::string_view op_type, std::string_view domain);

}  // namespace grurun::opset
