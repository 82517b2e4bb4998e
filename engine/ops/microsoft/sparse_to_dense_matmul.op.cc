// SparseToDenseMatMul (com.microsoft 1): Y = alpha * A * B for a sparse A [M, K], held dense here, and B
// [..., K, N]; transA and transB transpose the last two axes before. alpha counts where the elements are
// floats, and as the integer it holds where they are integers.
#include <cmath>
#include <utility>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/matrix_product.h"
#include "engine/ops/shared/wrapping.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using SparseNumbers = TypeList<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

Tensor turned(const Tensor& matrix) {
  if (matrix.rank() < 2) refuse();
  std::vector<std::int64_t> dims(matrix.shape().dims().begin(), matrix.shape().dims().end());
  const std::size_t last = dims.size() - 1;
  const std::int64_t rows = dims[last - 1], columns = dims[last];
  const std::int64_t size = matrix.size() == 0 ? 0 : rows * columns;
  std::swap(dims[last - 1], dims[last]);
  Tensor made(matrix.dtype(), Shape(dims));
  dispatch(SparseNumbers{}, matrix.dtype(), [&]<typename T>() {
    const T* from = matrix.data<T>();
    T* to = made.mutable_data<T>();
    for (std::int64_t i = 0; i < matrix.size(); ++i) {
      const std::int64_t stack = i / size, at = i % size;
      to[stack * size + at % columns * rows + at / columns] = from[i];
    }
  });
  return made;
}

RunFunction prepare_sparse_to_dense_matmul(PrepareContext& node) {
  const bool turns_a = node.int_attribute("transA", 0) != 0, turns_b = node.int_attribute("transB", 0) != 0;
  const float alpha = node.float_attribute("alpha", 1.0f);
  if (!(std::abs(alpha) < 1e9f)) fail_unsupported("SparseToDenseMatMul with alpha {}", alpha);
  return [=](RunContext& run) {
    const Tensor &A = run.tensor(0), &B = run.tensor(1);
    if (A.rank() != 2) refuse();
    Tensor made = matrix_product(turns_a ? turned(A) : A, turns_b ? turned(B) : B);
    if (alpha != 1) {
      dispatch(SparseNumbers{}, made.dtype(), [&]<typename T>() {
        T* y = made.mutable_data<T>();
        const auto factor = [&] {
          if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::int64_t>(alpha));
          return static_cast<T>(alpha);
        }();
        for (std::int64_t i = 0; i < made.size(); ++i) y[i] = wrapping_mul(factor, y[i]);
      });
    }
    run.set_output(0, made);
  };
}

}  // namespace

std::vector<OpRow> op_rows_sparse_to_dense_matmul() {
  return {{"com.microsoft", "SparseToDenseMatMul", {1}, prepare_sparse_to_dense_matmul}};
}

}  // namespace grurun::engine
