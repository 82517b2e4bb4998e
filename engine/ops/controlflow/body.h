// What If, Loop and Scan share about their body graphs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/plan.h"
#include "engine/graph/refusal.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// Throws Error(invalid_model) unless the body has these numbers of inputs and outputs.
void require_body(const Plan& body, const char* op, std::size_t inputs, std::size_t outputs);

/// The element of a tensor that the page of the operator wants to hold exactly one.
template <typename T>
T single_element(const Tensor& tensor) {
  if (tensor.size() != 1) refuse();
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
