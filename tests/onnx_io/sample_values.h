// Values of every kind and element type to write and read back.
#pragma once

#include <string>
#include <vector>

#include "tensor/value.h"

namespace grurun::onnx_io {

/// Every element type, undefined excepted.
std::vector<DType> every_dtype();

/// A tensor whose elements run through the codes of its type: extremes, infinities, negative zero and one NaN
/// (no payload) where the type has them; "" and text beyond ASCII for strings.
Tensor sample_tensor(DType dtype, Shape shape = {5, 3});

/// Nested sequences, optionals with and without a value, maps of each key type.
std::vector<Value> sample_containers();

/// Empty when both are of the same type and shape, and the same bits; else where they differ.
std::string difference(const Value& a, const Value& b);

}  // namespace grurun::onnx_io
