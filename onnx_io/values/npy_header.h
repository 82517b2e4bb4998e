// The header of a .npy file (numpy's NEP 1; format versions 1.0, 2.0 and 3.0).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "onnx_io/values/npy_dtype.h"
#include "tensor/shape.h"

namespace grurun::onnx_io {

struct NpyHeader {
  NpyDType type;
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
};

/// Reads the header that file begins with. expected: see parse_npy_dtype. Throws Error(invalid_model) when it
/// breaks the format, Error(unsupported) for element types that ONNX does not have.
NpyHeader parse_npy_header(std::string_view file, DType expected);

/// Magic, version and dictionary, padded to a multiple of 64 bytes; descr goes in quotes.
std::string npy_header(const std::string& descr, const Shape& shape);

}  // namespace grurun::onnx_io
