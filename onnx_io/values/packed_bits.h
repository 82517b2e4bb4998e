// 4- and 2-bit elements as files hold them: the first element in the lowest bits of a byte
// (TensorProto.raw_data, onnx 1.23; float6 there is one bit stream, 4 elements in 3 bytes).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace grurun::onnx_io {

/// True for the types that files pack and memory does not.
bool is_packed(DType dtype);

/// Bytes that count elements take in a file; count * bits must have been checked against overflow.
std::int64_t file_bytes(DType dtype, std::int64_t count);

/// from holds file_bytes(dtype, count) bytes, to count elements. Bits beyond the last element are not looked
/// at.
void unpack(DType dtype, const std::byte* from, std::byte* to, std::int64_t count);

/// The reverse of unpack; bits beyond the last element are zero.
void pack(DType dtype, const std::byte* from, std::byte* to, std::int64_t count);

}  // namespace grurun::onnx_io
