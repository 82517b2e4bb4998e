// Operators of domains that are not ONNX's, as schemas like its own. find_schema, find_signature and
// inference find them as they find ONNX's; ONNX's registry does not hold them, and newest_opset knows their
// domains no more than it does. An operator more is a schema in the file of its family, a family more a file
// and its line in added_schemas.cc.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "onnx/defs/schema.h"

namespace grurun::opset {

std::span<const std::string_view> added_domains();

/// All versions of all operators of the domain; empty for one that is not among added_domains().
const std::vector<onnx::OpSchema>& added_schemas_of(std::string_view domain);

/// DynamicQuantizeLSTM. Source: onnxruntime's page of operators, com.microsoft.
std::vector<onnx::OpSchema> microsoft_recurrent_schemas();

/// LSTM as the reader of OpenVINO IR writes it (onnx_io/openvino/openvino_ir.h): ONNX's, from whose registry
/// it comes.
std::vector<onnx::OpSchema> openvino_schemas();

}  // namespace grurun::opset
