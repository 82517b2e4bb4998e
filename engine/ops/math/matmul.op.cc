// MatMul: Y = numpy.matmul(A, B): A [..., M, K], B [..., K, N], Y [..., M, N], the stacks broadcast; vectors
// as rows of A and columns of B. A constant matrix B is packed once, unless it is large.
#include <memory>
#include <utility>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/matrix_product.h"

namespace grurun::engine {

namespace {

void require_type(const Tensor& A, DType dtype) {
  if (A.dtype() != dtype) refuse();
}

template <typename T>
Tensor multiply_packed(const Tensor& A, const kernels::PackedB<T>& B) {
  const ProductShape shape = product_shape(A.shape(), Shape{B.K(), B.N()});
  Tensor Y(dtype_of<T>, shape.output);
  const std::int64_t rows = shape.stack.element_count() * shape.M;
  kernels::gemm_packed<T>(rows, {A.data<T>(), B.K()}, B, Y.mutable_data<T>(), B.N());
  return Y;
}

// The same in float32, with a tail.
RunFunction product_with_tail(std::shared_ptr<const kernels::PackedB<float>> packed) {
  return product_step(packed->N(), [packed](RunContext& run, const ChainTail& tail) {
    const Tensor& A = run.tensor(0);
    run.accept_input(1);  // lies in packed
    require_type(A, DType::float32);
    const ProductShape shape = product_shape(A.shape(), Shape{packed->K(), packed->N()});
    Tensor& Y = run.output(0, DType::float32, shape.output);
    multiply_rows(shape.stack.element_count() * shape.M, {A.data<float>(), packed->K()}, *packed,
                  Y.mutable_data<float>(), kernels::Start::bias, tail);
  });
}

template <typename T>
RunFunction with_packed(DType dtype, std::shared_ptr<const kernels::PackedB<T>> packed) {
  return [dtype, packed](RunContext& run) {
    const Tensor& A = run.tensor(0);
    run.accept_input(1);  // lies in packed
    require_type(A, dtype);
    run.set_output(0, cast_tensor(multiply_packed<T>(cast_tensor(A, dtype_of<T>), *packed), dtype));
  };
}

RunFunction prepare_matmul(PrepareContext& node) {
  const Tensor* B = node.constant_input(1);
  if (B != nullptr && B->rank() == 2) {
    const bool large = B->byte_size() > kernels::tuning::most_packed_bytes;
    const DType dtype = B->dtype();
    if (dtype == DType::float64 && !large) return with_packed(dtype, packed_factor<double>(node, *B));
    if (dtype == DType::float32 && !large) return product_with_tail(packed_factor<float>(node, *B));
    // Narrower ones need the wide copy anyway.
    if (is_floating(dtype) && dtype_size(dtype) < sizeof(float))
      return with_packed(dtype, packed_factor<float>(node, *B));
  }
  return [](RunContext& run) {
    const Tensor& A = run.tensor(0);
    run.set_output(0, matrix_product(A, run.tensor(1)));
  };
}

}  // namespace

std::vector<OpRow> op_rows_matmul() {
  return {{"", "MatMul", {1, 9, 13}, prepare_matmul}};
}

}  // namespace grurun::engine
