// What If, Loop and Scan share about their body graphs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// Throws Error(invalid_model) unless the body has these numbers of inputs and outputs.
void require_body(const Plan& body, const char* op, std::size_t inputs, std::size_t outputs);

/// The element of a tensor that must hold exactly one, a T; throws Error(invalid_model) naming it.
template <typename T>
T single_element(const Tensor& tensor, const char* what) {
  if (tensor.dtype() != dtype_of<T>) {
    fail_invalid("{} must be tensor({}), but is tensor({})", what, dtype_name(dtype_of<T>),
                 dtype_name(tensor.dtype()));
  }
  if (tensor.size() != 1) {
    fail_invalid("{} must hold one element, but has shape {}", what, tensor.shape().to_string());
  }
  return *tensor.data<T>();
}

/// A scalar as the body declares its input: shape [1] where it declares one dimension, else [].
template <typename T>
Tensor as_declared(T value, const ValueType& declared) {
  Tensor scalar = Tensor::scalar(value);
  return declared.shape && declared.shape->size() == 1 ? scalar.reshaped(Shape{1}) : scalar;
}

/// Scan output index of the body when no iteration made it: length 0 along axis, the other dimensions as the
/// body declares them, 0 where it leaves them open.
Tensor empty_scan_output(const Plan& body, std::size_t index, std::int64_t axis);

/// Values of one scan output from all iterations put along a new axis, counted in the result.
Tensor stack_scan_output(std::span<const Value> values, std::int64_t axis, bool reversed);

}  // namespace grurun::engine
