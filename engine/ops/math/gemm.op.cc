// Gemm: Y = alpha A' B' + beta C: A' [M, K] is A or, if transA, its transpose, B' [K, N] likewise, Y [M, N].
// C broadcasts to Y: in versions 1 and 6 only with the attribute broadcast; it may be omitted from version 11
// on. With beta 0, C is not read. Integers wrap; a factor that is no integer scales in the widest float and
// cuts off the fraction. A constant B with alpha 1 is packed once, together with a constant row C, unless it
// is large.
#include "engine/kernels/gemm/gemm.h"

#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/ops/shared/broadcast.h"
#include "engine/ops/shared/cast.h"
#include "engine/ops/shared/matrix_product.h"
#include "engine/ops/shared/wrapping.h"

namespace grurun::engine {

namespace {

struct GemmAttributes {
  float alpha, beta;
  bool transA, transB;
  bool broadcast;
};

struct Sizes {
  std::int64_t M, N, K;
};

Sizes check_sizes(const GemmAttributes& attributes, const Shape& a, const Shape& b, const Shape* c) {
  if (a.rank() != 2 || b.rank() != 2) refuse();
  const Sizes sizes{a[attributes.transA ? 1 : 0], b[attributes.transB ? 0 : 1], a[attributes.transA ? 0 : 1]};
  if (sizes.K != b[attributes.transB ? 1 : 0]) refuse();
  if (c != nullptr) {
    const Shape y{sizes.M, sizes.N};
    if (!attributes.broadcast && !(*c == y)) refuse();
    require_broadcastable_to(*c, y);
  }
  return sizes;
}

template <typename T>
void copy_broadcast(const Tensor& C, const Shape& shape, T* y) {
  const BroadcastWalk walk(shape, {&C.shape()});
  const T* c = C.data<T>();
  walk.for_each(0, walk.size(),
                [&](std::int64_t begin, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
                  if (walk.steps(0)) {
                    std::copy_n(c + offsets[0], n, y + begin);
                  } else {
                    std::fill_n(y + begin, n, c[offsets[0]]);
                  }
                });
}

template <typename T>
T scaled(float factor, T value) {
  if (factor == std::trunc(factor) && std::fabs(factor) < 0x1p31f) {
    return wrapping_mul(static_cast<T>(static_cast<std::int64_t>(factor)), value);
  }
  const long double exact = static_cast<long double>(factor) * static_cast<long double>(value);
  if (!(std::fabs(exact) < 0x1p63L))
    fail_unsupported("factor {} times {}, which leaves 63 bits", factor, value);
  return static_cast<T>(static_cast<std::int64_t>(exact));
}

template <typename T>
Tensor compute(const GemmAttributes& attributes, const Tensor& A, const Tensor& B, const Tensor* C) {
  const auto [M, N, K] = check_sizes(attributes, A.shape(), B.shape(), C != nullptr ? &C->shape() : nullptr);
  const bool adds = C != nullptr && attributes.beta != 0;
  Tensor Y(dtype_of<T>, Shape{M, N});
  T* y = Y.mutable_data<T>();
  const std::int64_t ld_a = attributes.transA ? M : K;
  const std::int64_t ld_b = attributes.transB ? K : N;
  if constexpr (std::is_floating_point_v<T>) {
    if (adds) copy_broadcast<T>(*C, Y.shape(), y);
    kernels::gemm<T>(M, N, K, static_cast<T>(attributes.alpha), {A.data<T>(), ld_a, attributes.transA},
                     {B.data<T>(), ld_b, attributes.transB}, adds ? static_cast<T>(attributes.beta) : T{0}, y,
                     N);
  } else {
    multiply_stacks<T>(1, M, N, K, {A.data<T>(), 0, ld_a, attributes.transA},
                       {B.data<T>(), 0, ld_b, attributes.transB}, y);
    for (std::int64_t i = 0; i < M * N && attributes.alpha != 1; ++i) y[i] = scaled(attributes.alpha, y[i]);
    if (adds) {
      Tensor added(dtype_of<T>, Y.shape());
      T* c = added.mutable_data<T>();
      copy_broadcast<T>(*C, Y.shape(), c);
      for (std::int64_t i = 0; i < M * N; ++i) y[i] = wrapping_add(y[i], scaled(attributes.beta, c[i]));
    }
  }
  return Y;
}

Tensor gemm_of(const GemmAttributes& attributes, const Tensor& A, const Tensor& B, const Tensor* C) {
  if (A.dtype() != B.dtype() || (C != nullptr && C->dtype() != A.dtype())) refuse();
  if (A.dtype() == DType::float16 || A.dtype() == DType::bfloat16) {
    const Tensor wide_c = C != nullptr ? cast_tensor(*C, DType::float32) : Tensor();
    return cast_tensor(compute<float>(attributes, cast_tensor(A, DType::float32),
                                      cast_tensor(B, DType::float32), C != nullptr ? &wide_c : nullptr),
                       A.dtype());
  }
  return dispatch(ProductTypes{}, A.dtype(), [&]<typename T>() { return compute<T>(attributes, A, B, C); });
}

// Y = A' B' + C with B', and C if it is a row, known beforehand.
template <typename T>
RunFunction packed_step(PrepareContext& node, const GemmAttributes& attributes, const Tensor& B,
                        const Tensor* row) {
  const auto packed = packed_factor<T>(node, B, attributes.transB, row);
  const std::int64_t N = packed->N();
  auto product = [attributes, packed, N, b_shape = B.shape(), has_row = row != nullptr](
                     RunContext& run, const ChainTail& tail) {
    const Tensor& A = run.tensor(0);
    run.accept_input(1);  // lies in packed
    const Tensor* C = nullptr;
    if (has_row) {
      run.accept_input(2);  // lies in packed
    } else {
      C = run.optional_tensor(2);
    }
    const Sizes sizes = check_sizes(attributes, A.shape(), b_shape, C != nullptr ? &C->shape() : nullptr);
    Tensor& Y = run.output(0, dtype_of<T>, Shape{sizes.M, N});
    T* y = Y.mutable_data<T>();
    if (C != nullptr) copy_broadcast<T>(*C, Y.shape(), y);
    const kernels::Matrix<T> a{A.data<T>(), A.dim(1), attributes.transA};
    const kernels::Start start = C != nullptr ? kernels::Start::c_plus_bias : kernels::Start::bias;
    if constexpr (std::is_same_v<T, float>) {
      multiply_rows(sizes.M, a, *packed, y, start, tail);
    } else {
      kernels::gemm_packed<T>(sizes.M, a, *packed, y, N, start);
    }
  };
  if constexpr (std::is_same_v<T, float>) return product_step(N, std::move(product));
  return [product](RunContext& run) { product(run, {}); };
}

bool is_row(const Tensor& C, std::int64_t N) {
  return (C.rank() == 1 || (C.rank() == 2 && C.dim(0) == 1)) && C.dim(C.rank() - 1) == N;
}

RunFunction prepare_gemm(PrepareContext& node) {
  GemmAttributes attributes{node.float_attribute("alpha", 1.0f), node.float_attribute("beta", 1.0f),
                            node.int_attribute("transA", 0) != 0, node.int_attribute("transB", 0) != 0, true};
  if (node.since_version() < 7) attributes.broadcast = node.int_attribute("broadcast", 0) != 0;

  const Tensor* B = node.constant_input(1);
  const bool packable = B != nullptr && B->rank() == 2 && attributes.alpha == 1 && attributes.beta == 1 &&
                        B->byte_size() <= kernels::tuning::most_packed_bytes;
  if (packable && (B->dtype() == DType::float32 || B->dtype() == DType::float64)) {
    const Tensor* C = node.constant_input(2);
    if (C != nullptr && (C->dtype() != B->dtype() || !attributes.broadcast ||
                         !is_row(*C, B->dim(attributes.transB ? 0 : 1)))) {
      C = nullptr;
    }
    return B->dtype() == DType::float32 ? packed_step<float>(node, attributes, *B, C)
                                        : packed_step<double>(node, attributes, *B, C);
  }
  return [attributes](RunContext& run) {
    const Tensor& A = run.tensor(0);
    const Tensor& B = run.tensor(1);
    run.set_output(0, gemm_of(attributes, A, B, run.optional_tensor(2)));
  };
}

}  // namespace

std::vector<OpRow> op_rows_gemm() {
  return {{"", "Gemm", {1, 6, 7, 9, 11, 13}, prepare_gemm}};
}

}  // namespace grurun::engine
