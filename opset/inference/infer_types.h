// Types and shapes of a model's values, as far as inference finds them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "onnx_io/models/model.h"

namespace grurun::opset {

/// Values of the main graph by name, declared types included. sizes gives named dimensions of inputs a size.
/// Empty for a model that was not read from a file, or whose nesting, opsets or functions keep inference from
/// running; never throws for what a model says.
std::map<std::string, ValueType> infer_types(const onnx_io::Model& model,
                                             const std::map<std::string, std::int64_t>& sizes);

}  // namespace grurun::opset
