// Products of stacks of matrices for every element type, over the kernels' gemm. MatMul, Gemm, Einsum and
// whatever else multiplies matrices go through here.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/kernels/gemm/gemm.h"
#include "engine/ops/shared/chain_step.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

/// The types that a product can be formed in; 16-bit floats are widened before.
using ProductTypes = Join<TypeList<float, double>, Integers>;

/// One stack: count matrices, `stride` elements apart, rows `ld` elements apart; `transposed` as in
/// kernels::Matrix.
template <typename T>
struct MatrixStack {
  const T* data;
  std::int64_t stride;
  std::int64_t ld;
  bool transposed = false;
};

/// C[i] = A[i] * B[i] for A[i] [M, K], B[i] [K, N], C[i] [M, N] dense, for i in [0, count). Integers wrap. T
/// is one of ProductTypes. C must not overlap A or B.
template <typename T>
void multiply_stacks(std::int64_t count, std::int64_t M, std::int64_t N, std::int64_t K, MatrixStack<T> A,
                     MatrixStack<T> B, T* C);

/// The step of a product by a constant float32 matrix of N columns, whose result has at least one dimension.
/// product: (RunContext&, const ChainTail&), which is given whole rows.
template <typename Product>
RunFunction product_step(std::int64_t N, Product product) {
  // With a tail and without, it is one product: what it has packed may be large.
  const auto shared = std::make_shared<const Product>(std::move(product));
  const auto with_tail = [shared](ChainTail tail) -> RunFunction {
    return [shared, tail = std::move(tail)](RunContext& run) { (*shared)(run, tail); };
  };
  return chain_head({.least_rank = 1, .channels = N, .with_tail = with_tail});
}

/// The constant B [K, N], or [N, K] if transposed, as a factor in T, and optionally the row [N] of type T
/// that starts its sums: packed once for all nodes that multiply by it. B of another type is widened.
template <typename T>
std::shared_ptr<const kernels::PackedB<T>> packed_factor(PrepareContext& node, const Tensor& B,
                                                         bool transposed = false,
                                                         const Tensor* row = nullptr);

/// C = start + A * B for A [rows, B.K()], C [rows, B.N()] dense, and then the tail, if there is one, on every
/// row, some rows at a time while these are in the cache.
void multiply_rows(std::int64_t rows, kernels::Matrix<float> A, const kernels::PackedB<float>& B, float* C,
                   kernels::Start start, const ChainTail& tail);

/// numpy.matmul: A [..., M, K] times B [..., K, N] with broadcast stacks; a vector counts as one row (A) or
/// one column (B) that is dropped from the result. Both of one element type among ProductTypes and the 16-bit
/// floats. Refuses shapes that do not fit.
Tensor matrix_product(const Tensor& A, const Tensor& B);

/// The parts of the shapes that matter to such a product, checked.
struct ProductShape {
  std::int64_t M, N, K;
  Shape stack_a, stack_b;  // leading dimensions of each
  Shape stack;             // broadcast
  Shape output;
};
ProductShape product_shape(const Shape& a, const Shape& b);

}  // namespace grurun::engine
