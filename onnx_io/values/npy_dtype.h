// numpy's element types as .npy headers spell them, and the ONNX types they are.
#pragma once

#include <cstddef>
#include <string>

#include "tensor/dtype.h"

namespace grurun::onnx_io {

struct NpyDType {
  enum class Kind {
    plain,
    bytes,
    ucs4
  };  // bytes ('S'), ucs4 ('U'): strings of a fixed width, padded with NUL

  Kind kind = Kind::plain;
  DType dtype = DType::undefined;
  std::size_t item_size = 0;  // bytes of one element in the file
  bool swap = false;          // big-endian
};

/// Reads a descr: "<f4", "|b1", ">U12", and the names ml_dtypes registers ("bfloat16"). A void ("<V2", "|V1")
/// says only how wide the element is: two bytes are bfloat16; of one byte the type is what expected says,
/// undefined makes it an error. Throws Error(unsupported) for types that ONNX does not have (object,
/// datetime, ...).
NpyDType parse_npy_dtype(const std::string& descr, DType expected);

/// A record of one field, [(name, descr)]: the field's name says which type of ml_dtypes its void is.
NpyDType parse_npy_field(const std::string& name, const std::string& descr);

/// The descr of every type but string: numpy's for those it has, else the name ml_dtypes registers with
/// numpy, so that np.load gives the very type where ml_dtypes is imported.
std::string npy_descr(DType dtype);

}  // namespace grurun::onnx_io
