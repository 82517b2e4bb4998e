// Schemas out of ONNX's registry.
#pragma once

#include <string>

#include "onnx/defs/schema.h"

namespace grurun::opset {

/// The schema of that operator and version, which ONNX has. ONNX leaves out in silence what it has no memory
/// to register: Error(limit).
const onnx::OpSchema& registered_schema(const std::string& op_type, int version, const std::string& domain);

}  // namespace grurun::opset
