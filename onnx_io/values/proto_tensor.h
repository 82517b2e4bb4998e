// TensorProto and SparseTensorProto to Tensor and back. For onnx_io and opset only: it shows ONNX's messages.
#pragma once

#include <memory>
#include <string>

#include "onnx/onnx_pb.h"
#include "onnx_io/models/external_data.h"
#include "tensor/tensor.h"

namespace grurun::onnx_io {

/// Where a tensor's bytes may come from, beside the message itself.
struct TensorSource {
  /// Resolves external data; null: external data is refused.
  ExternalData* external = nullptr;
  /// Keeps the message alive; large tensors then borrow its raw_data instead of copying. Null: they copy.
  std::shared_ptr<const void> message;
};

/// The element type a file's number means. Throws Error(invalid_model) when the standard has no such number.
DType dtype_from_proto(std::int64_t number);

/// All element types, from raw_data, the typed fields or external data. The data must be in exactly one
/// place, in the field that belongs to the type, and of exactly the size that dims ask for. Throws
/// Error(invalid_model) otherwise, Error(unsupported) for segments.
Tensor tensor_from_proto(const ::onnx::TensorProto& proto, const TensorSource& source = {});

/// The dense form. values [nnz]; indices int64, [nnz] (into the flattened tensor) or [nnz, rank], within dims
/// and strictly ascending. Throws Error(invalid_model) otherwise.
Tensor dense_from_proto(const ::onnx::SparseTensorProto& proto, const TensorSource& source = {});

/// Writes raw_data (strings: string_data); the reverse of tensor_from_proto.
::onnx::TensorProto tensor_to_proto(const Tensor& tensor, const std::string& name = {});

/// The elements whose bits are not all zero, with linear indices; the reverse of dense_from_proto.
::onnx::SparseTensorProto sparse_to_proto(const Tensor& tensor);

}  // namespace grurun::onnx_io
