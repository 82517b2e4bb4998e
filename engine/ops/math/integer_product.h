// Matrix products of 8-bit integers with zero points: what MatMulInteger and QLinearMatMul share.
#pragma once

#include "engine/kernels/integer/integer_panels.h"
#include "tensor/memory/scratch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// Which operand a scale or zero point belongs to: A's vary by row, B's by column.
enum class QuantizedSide { A, B };

/// A scale or zero point in a shape that broadcasts to its matrix or stack of matrices: a scalar stays one, a
/// vector becomes [M, 1] for A and [N] for B, [..., M, 1] and [..., 1, N] are as they are. Throws
/// Error(invalid_model) naming `what` for others.
Tensor aligned_parameter(const Tensor& parameter, QuantizedSide side, const Shape& matrix);

/// B and its zero point, arranged for products.
struct IntegerFactor {
  Shape shape;                                     // B's
  ScratchVector<kernels::IntegerPanels> matrices;  // of the stack
};

/// B is int8 or uint8; the zero point may be nullptr. Refuses where they do not fit.
IntegerFactor integer_factor(const Tensor& B, const Tensor* b_zero_point);

/// (A - a_zero_point) (B - b_zero_point) as numpy.matmul forms it, int8 and uint8 in any mixture, int32 sums
/// that wrap. The zero point may be nullptr.
Tensor integer_product(const Tensor& A, const Tensor* a_zero_point, const IntegerFactor& B);

}  // namespace grurun::engine
