// 16-bit floats in, computed as float, 16-bit floats out: for operators whose loops exist for float and
// double only.
#pragma once

#include "engine/ops/shared/float_rows.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// The tensor with elements of type C (float or double): itself where it has them, else converted exactly.
/// Throws Error(unsupported) for types that are no 16-bit float.
template <typename C>
Tensor widened(const Tensor& tensor) {
  if (tensor.dtype() == dtype_of<C>) return tensor;
  Tensor out(dtype_of<C>, tensor.shape());
  if (dtype_size(tensor.dtype()) != 2)
    fail_unsupported("no kernel for element type {}", dtype_name(tensor.dtype()));
  convert_floats(tensor.dtype(), tensor.raw(), dtype_of<C>, out.mutable_raw(), tensor.size());
  return out;
}

/// The tensor rounded once to dtype, a floating type of at most its width; itself where it has it.
inline Tensor narrowed(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor out(dtype, tensor.shape());
  convert_floats(tensor.dtype(), tensor.raw(), dtype, out.mutable_raw(), tensor.size());
  return out;
}

/// body.template operator()<C>() for C double where dtype is double, else float; its tensor is rounded to
/// dtype.
template <typename Body>
Tensor compute_in_float(DType dtype, Body&& body) {
  if (dtype == DType::float64) return body.template operator()<double>();
  return narrowed(body.template operator()<float>(), dtype);
}

}  // namespace grurun::engine
