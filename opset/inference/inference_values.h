// Types and tensors as inference may safely be given them.
#pragma once

#include "onnx/onnx_pb.h"

namespace grurun::opset {

/// Inference reads the values of small tensors only: shapes, axes, sizes. Larger ones need not be copied for
/// it.
inline constexpr std::size_t max_copied_bytes = 1 << 16;

/// True for a tensor whose type is enough: it is large, or its data is outside.
bool is_left_out(const onnx::TensorProto& tensor);

onnx::TypeProto type_of(const onnx::TensorProto& tensor);

/// Negative sizes become unknown, as other runtimes read them, and so do shapes of a rank that makes copies
/// costly.
void clean(onnx::TypeProto& type);

/// True when an initializer cannot have the type or shape that is declared for its name.
bool contradicts(const onnx::TypeProto& declared, const onnx::TensorProto& initializer);

}  // namespace grurun::opset
