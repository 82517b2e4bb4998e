#include "engine/ops/shared/matrix_product.h"

#include <algorithm>

#include "engine/graph/refusal.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/gemm_generic.h"
#include "engine/kernels/integer/gemm_integer.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/broadcast.h"
#include "engine/ops/shared/cast.h"

namespace grurun::engine {

namespace {

template <typename T>
void multiply(std::int64_t M, std::int64_t N, std::int64_t K, kernels::Matrix<T> A, kernels::Matrix<T> B,
              T* C) {
  if constexpr (std::is_floating_point_v<T>) {
    kernels::gemm<T>(M, N, K, T{1}, A, B, T{0}, C, N);
  } else if constexpr (sizeof(T) >= 4) {
    kernels::gemm_integer<T>(M, N, K, A, B, C, N);
  } else {
    // The low bits of a sum depend on nothing above them.
    kernels::gemm_generic<std::int32_t, T, T, T>(M, N, K, A, B, C, N);
  }
}

template <typename T>
Tensor multiply_tensors(const Tensor& A, const Tensor& B, const ProductShape& shape) {
  Tensor C(dtype_of<T>, shape.output);
  if (C.size() == 0) return C;
  const T* a = A.data<T>();
  const T* b = B.data<T>();
  T* c = C.mutable_data<T>();
  const std::int64_t M = shape.M, N = shape.N, K = shape.K;
  if (shape.stack_b.element_count() == 1) {
    // One B for all of A: the rows of the whole stack are those of one tall matrix.
    multiply_stacks<T>(1, shape.stack.element_count() * M, N, K, {a, 0, K}, {b, 0, N}, c);
    return C;
  }
  const BroadcastWalk walk(shape.stack, {&shape.stack_a, &shape.stack_b});
  const std::int64_t step_a = walk.steps(0) ? M * K : 0;
  const std::int64_t step_b = walk.steps(1) ? K * N : 0;
  walk.for_each(0, walk.size(),
                [&](std::int64_t first, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
                  multiply_stacks<T>(n, M, N, K, {a + offsets[0] * M * K, step_a, K},
                                     {b + offsets[1] * K * N, step_b, N}, c + first * M * N);
                });
  return C;
}

}  // namespace

template <typename T>
void multiply_stacks(std::int64_t count, std::int64_t M, std::int64_t N, std::int64_t K, MatrixStack<T> A,
                     MatrixStack<T> B, T* C) {
  const auto one = [&](std::int64_t i) {
    multiply<T>(M, N, K, {A.data + i * A.stride, A.ld, A.transposed},
                {B.data + i * B.stride, B.ld, B.transposed}, C + i * M * N);
  };
  if (count < kernels::threads()) {
    // Too few to share out; each product may split itself.
    for (std::int64_t i = 0; i < count; ++i) one(i);
    return;
  }
  constexpr std::int64_t operations_per_piece = 1 << 18;
  const double operations = static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K) + 1;
  const auto grain = static_cast<std::int64_t>(operations_per_piece / operations) + 1;
  kernels::parallel_for(count, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) one(i);
  });
}

#define GRURUN_INSTANTIATE(T)                                                                              \
  template void multiply_stacks<T>(std::int64_t, std::int64_t, std::int64_t, std::int64_t, MatrixStack<T>, \
                                   MatrixStack<T>, T*)
GRURUN_INSTANTIATE(float);
GRURUN_INSTANTIATE(double);
GRURUN_INSTANTIATE(std::int8_t);
GRURUN_INSTANTIATE(std::int16_t);
GRURUN_INSTANTIATE(std::int32_t);
GRURUN_INSTANTIATE(std::int64_t);
GRURUN_INSTANTIATE(std::uint8_t);
GRURUN_INSTANTIATE(std::uint16_t);
GRURUN_INSTANTIATE(std::uint32_t);
GRURUN_INSTANTIATE(std::uint64_t);
#undef GRURUN_INSTANTIATE

template <typename T>
std::shared_ptr<const kernels::PackedB<T>> packed_factor(PrepareContext& node, const Tensor& B,
                                                         bool transposed, const Tensor* row) {
  return node.arrangements().get<kernels::PackedB<T>>({&B, row}, {transposed}, [&] {
    const Tensor wide = cast_tensor(B, dtype_of<T>);
    return std::make_shared<kernels::PackedB<T>>(kernels::pack_b<T>(
        B.dim(transposed ? 1 : 0), B.dim(transposed ? 0 : 1), {wide.data<T>(), B.dim(1), transposed},
        row != nullptr ? row->data<T>() : nullptr));
  });
}

template std::shared_ptr<const kernels::PackedB<float>> packed_factor(PrepareContext&, const Tensor&, bool,
                                                                      const Tensor*);
template std::shared_ptr<const kernels::PackedB<double>> packed_factor(PrepareContext&, const Tensor&, bool,
                                                                       const Tensor*);

void multiply_rows(std::int64_t rows, kernels::Matrix<float> A, const kernels::PackedB<float>& B, float* C,
                   kernels::Start start, const ChainTail& tail) {
  constexpr std::int64_t near_elements = 1 << 16;  // of C, to be found in the cache by the tail
  constexpr std::int64_t near_weights = 1 << 17;   // of B, to pass by for every piece
  constexpr std::int64_t least_rows = 32;
  const std::int64_t N = B.N();
  if (!tail || rows == 0 || N == 0) return kernels::gemm_packed<float>(rows, A, B, C, N, start);
  const std::int64_t shared_out = (rows - 1) / (4 * std::int64_t{kernels::threads()}) + 1;
  const std::int64_t piece =
      std::max(least_rows, std::min(near_elements / N, kernels::threads() > 1 ? shared_out : rows));
  if (rows <= piece || A.transposed || B.K() * N > near_weights) {
    kernels::gemm_packed<float>(rows, A, B, C, N, start);
    kernels::parallel_for(rows, elements_per_piece / N + 1, [&](std::int64_t begin, std::int64_t end) {
      tail(C + begin * N, (end - begin) * N, {});
    });
    return;
  }
  kernels::parallel_for((rows - 1) / piece + 1, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t row = i * piece;
      const std::int64_t count = std::min(piece, rows - row);
      kernels::gemm_packed<float>(count, {A.data + row * A.ld, A.ld}, B, C + row * N, N, start);
      tail(C + row * N, count * N, {});
    }
  });
}

ProductShape product_shape(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) refuse();
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  ProductShape out{};
  out.M = row ? 1 : a[a.rank() - 2];
  out.K = a[a.rank() - 1];
  out.N = column ? 1 : b[b.rank() - 1];
  if (out.K != (column ? b[0] : b[b.rank() - 2])) refuse();
  if (!row) out.stack_a = Shape(a.dims().first(a.rank() - 2));
  if (!column) out.stack_b = Shape(b.dims().first(b.rank() - 2));
  out.stack = broadcast_shape(out.stack_a, out.stack_b);
  out.output = out.stack;
  if (!row) out.output.push_back(out.M);
  if (!column) out.output.push_back(out.N);
  return out;
}

Tensor matrix_product(const Tensor& A, const Tensor& B) {
  if (A.dtype() != B.dtype()) refuse();
  if (A.dtype() == DType::float16 || A.dtype() == DType::bfloat16) {
    const Tensor wide = matrix_product(cast_tensor(A, DType::float32), cast_tensor(B, DType::float32));
    return cast_tensor(wide, A.dtype());
  }
  const ProductShape shape = product_shape(A.shape(), B.shape());
  return dispatch(ProductTypes{}, A.dtype(), [&]<typename T>() { return multiply_tensors<T>(A, B, shape); });
}

}  // namespace grurun::engine
