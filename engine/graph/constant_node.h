// The value of a Constant node.
#pragma once

#include "onnx_io/model.h"
#include "tensor/value.h"

namespace grurun::engine {

/// Constant (ai.onnx 1, 9, 11, 12, 13, 19, 21, 23, 24, 25): exactly one of value, sparse_value (held dense),
/// value_float, value_floats, value_int, value_ints, value_string, value_strings; scalars have shape [],
/// lists [n]. Throws Error(invalid_model) when there is not exactly one, or another attribute.
Value constant_node_value(const onnx_io::Node& node);

}  // namespace grurun::engine
