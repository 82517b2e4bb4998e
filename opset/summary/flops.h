// How many floating-point operations a node takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// True for the operators that are counted: see FlopCount in model_flops.h.
bool has_flops(const onnx_io::Node& node);

/// Of one node; nullopt where a size is not known or the number would not fit.
std::optional<std::int64_t> node_flops(const onnx_io::Node& node,
                                       const std::map<std::string, ValueType>& types);

}  // namespace grurun::opset
