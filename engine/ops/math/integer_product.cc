#include "engine/ops/math/integer_product.h"

#include <algorithm>
#include <vector>

#include "engine/kernels/integer_dot.h"
#include "engine/kernels/parallel.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/matrix_product.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine {

namespace {

using Bytes = TypeList<std::int8_t, std::uint8_t>;

/// The elements less their zero point: 9 bits, so int16 holds them and products of two fit in 32.
std::vector<std::int16_t> centred(const Tensor& x, const Tensor* zero_point, QuantizedSide side,
                                  const char* what) {
  std::vector<std::int16_t> out(static_cast<std::size_t>(x.size()));
  Tensor none = Tensor::zeros(x.dtype(), Shape{});
  const Tensor zero = zero_point == nullptr ? none : aligned_parameter(*zero_point, side, x.shape(), what);
  if (zero.dtype() != x.dtype()) fail_invalid("{} must have its matrix's element type", what);
  const BroadcastWalk walk(x.shape(), {&x.shape(), &zero.shape()});
  dispatch(Bytes{}, x.dtype(), [&]<typename T>() {
    const T* from = x.data<T>();
    const T* minus = zero.data<T>();
    const std::int64_t step = walk.steps(1) ? 1 : 0;
    walk.for_each(0, walk.size(),
                  [&](std::int64_t begin, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
                    for (std::int64_t i = 0; i < n; ++i) {
                      out[static_cast<std::size_t>(begin + i)] =
                          static_cast<std::int16_t>(from[begin + i] - minus[offsets[1] + i * step]);
                    }
                  });
  });
  return out;
}

/// Each [K, N] of the stack as [N, K], so that the sums run along memory.
std::vector<std::int16_t> transposed(const std::vector<std::int16_t>& stack, std::int64_t K, std::int64_t N) {
  std::vector<std::int16_t> out(stack.size());
  const std::int64_t count = K * N == 0 ? 0 : static_cast<std::int64_t>(stack.size()) / (K * N);
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int16_t* from = stack.data() + s * K * N;
    std::int16_t* to = out.data() + s * K * N;
    for (std::int64_t n = 0; n < N; ++n) {
      for (std::int64_t k = 0; k < K; ++k) to[n * K + k] = from[k * N + n];
    }
  }
  return out;
}

// The standard lets the sums wrap.
std::int32_t wrapped(std::int64_t sum) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
}

}  // namespace

Tensor aligned_parameter(const Tensor& parameter, QuantizedSide side, const Shape& matrix, const char* what) {
  if (parameter.size() == 1) return parameter.reshaped(Shape{});
  Shape shape = parameter.shape();
  if (shape.rank() == 1 && side == QuantizedSide::A && matrix.rank() >= 2) shape.push_back(1);
  const std::size_t along =
      side == QuantizedSide::A ? 1 : 2;  // from the back: where only an extent of 1 fits
  const bool constant = side == QuantizedSide::B && shape.rank() == 1;
  if (!constant && (shape.rank() < 2 || shape[shape.rank() - along] != 1)) {
    fail_invalid("{} of shape {} is neither a scalar nor one {} of {}", what, parameter.shape().to_string(),
                 side == QuantizedSide::A ? "for each row" : "for each column", matrix.to_string());
  }
  require_broadcastable_to(what, shape, matrix);
  return parameter.reshaped(shape);
}

Tensor integer_product(const Tensor& A, const Tensor* a_zero_point, const Tensor& B,
                       const Tensor* b_zero_point) {
  const ProductShape shape = product_shape(A.shape(), B.shape());
  const std::int64_t M = shape.M, N = shape.N, K = shape.K;
  const std::vector<std::int16_t> a = centred(A, a_zero_point, QuantizedSide::A, "a_zero_point");
  const std::vector<std::int16_t> b =
      transposed(centred(B, b_zero_point, QuantizedSide::B, "b_zero_point"), K, N);
  Tensor C(DType::int32, shape.output);
  std::int32_t* c = C.mutable_data<std::int32_t>();
  const BroadcastWalk walk(shape.stack, {&shape.stack_a, &shape.stack_b});
  const std::int64_t grain = 32768 / (K * N + 1) + 1;
  walk.for_each(0, walk.size(),
                [&](std::int64_t first, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
                  for (std::int64_t s = 0; s < n; ++s) {
                    const std::int16_t* left = a.data() + (offsets[0] + (walk.steps(0) ? s : 0)) * M * K;
                    const std::int16_t* right = b.data() + (offsets[1] + (walk.steps(1) ? s : 0)) * K * N;
                    std::int32_t* out = c + (first + s) * M * N;
                    kernels::parallel_for(M, grain, [&](std::int64_t begin, std::int64_t end) {
                      std::vector<std::int64_t> sums(static_cast<std::size_t>(N));
                      for (std::int64_t i = begin; i < end; ++i) {
                        kernels::integer_dots(left + i * K, right, K, N, sums.data());
                        std::ranges::transform(sums, out + i * N, wrapped);
                      }
                    });
                  }
                });
  return C;
}

}  // namespace grurun::engine
