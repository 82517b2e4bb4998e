// The typed data fields of TensorProto: float_data, int32_data, string_data, int64_data, double_data,
// uint64_data.
#pragma once

#include "onnx/onnx_pb.h"
#include "onnx_io/values/max_rank.h"
#include "tensor/tensor.h"

namespace grurun::onnx_io {

/// The name of a typed field that holds data, or nullptr. Throws Error(invalid_model) when more than one
/// does.
const char* used_typed_field(const ::onnx::TensorProto& proto);

/// The elements from the field that belongs to dtype; count is the shape's element count. Throws
/// Error(invalid_model) when that field does not hold exactly them, or another one is used.
Tensor tensor_from_typed_field(const ::onnx::TensorProto& proto, DType dtype, const Shape& shape,
                               std::int64_t count);

}  // namespace grurun::onnx_io
