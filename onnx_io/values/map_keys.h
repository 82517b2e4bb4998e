// The element types that a map's keys can have: string, and the integers of 8 bits and more.
#pragma once

#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace grurun::onnx_io {

/// Throws Error(invalid_model) when no map has keys of this type.
void require_key_type(DType dtype);

/// Throws Error(invalid_model) when no map has such keys, or a key is there twice, so that nothing would say
/// which value is meant. keys is 1-D.
void require_distinct_keys(const Tensor& keys);

}  // namespace grurun::onnx_io
