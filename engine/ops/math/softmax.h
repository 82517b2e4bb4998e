// Softmax for operators that have one inside.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace grurun::engine {

/// Softmax-13 of x, float, double or a 16-bit float, along an axis, which may count from the end.
Tensor softmax(const Tensor& x, std::int64_t axis);

/// The same of each row of x [rows, n], n > 0, in place, as a tensor of `precision` would give it.
void softmax_rows(DType precision, float* x, std::int64_t rows, std::int64_t n);
void softmax_rows(DType precision, double* x, std::int64_t rows, std::int64_t n);

/// LogSoftmax-13, likewise.
Tensor log_softmax(const Tensor& x, std::int64_t axis);

}  // namespace grurun::engine
