#include "engine/ops/math/integer_product.h"

#include <algorithm>
#include <array>

#include "engine/kernels/parallel.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/matrix_product.h"
#include "engine/ops/type_dispatch.h"

namespace grurun::engine {

namespace {

using Bytes = TypeList<std::int8_t, std::uint8_t>;

/// The elements less their zero point: 9 bits, so int16 holds them and products of two fit in 32.
Tensor centred(const Tensor& x, const Tensor* zero_point, QuantizedSide side, const char* what) {
  Tensor out(DType::int16, x.shape());
  std::int16_t* to = out.mutable_data<std::int16_t>();
  Tensor none = Tensor::zeros(x.dtype(), Shape{});
  const Tensor zero = zero_point == nullptr ? none : aligned_parameter(*zero_point, side, x.shape(), what);
  if (zero.dtype() != x.dtype()) fail_invalid("{} must have its matrix's element type", what);
  const BroadcastWalk walk(x.shape(), {&x.shape(), &zero.shape()});
  dispatch(Bytes{}, x.dtype(), [&]<typename T>() {
    const T* from = x.data<T>();
    const T* minus = zero.data<T>();
    const std::int64_t step = walk.steps(1) ? 1 : 0;
    walk.for_each(
        0, walk.size(), [&](std::int64_t begin, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i)
            to[begin + i] = static_cast<std::int16_t>(from[begin + i] - minus[offsets[1] + i * step]);
        });
  });
  return out;
}

/// to [N, K] = the transpose of from [K, N], a few columns at a time: what is written meanwhile stays in the
/// cache.
void transpose(const std::int16_t* from, std::int64_t K, std::int64_t N, std::int16_t* to) {
  constexpr std::int64_t strip = 32;
  for (std::int64_t first = 0; first < N; first += strip) {
    const std::int64_t end = std::min(first + strip, N);
    for (std::int64_t k = 0; k < K; ++k) {
      for (std::int64_t n = first; n < end; ++n) to[n * K + k] = from[k * N + n];
    }
  }
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

IntegerFactor integer_factor(const Tensor& B, const Tensor* b_zero_point) {
  const Tensor values = centred(B, b_zero_point, QuantizedSide::B, "b_zero_point");
  const Shape& shape = B.shape();
  if (shape.rank() < 2) return {shape, {values, values.size()}};
  const std::int64_t K = shape[shape.rank() - 2], N = shape[shape.rank() - 1];
  Tensor columns(DType::int16, shape);
  std::int16_t* to = columns.mutable_data<std::int16_t>();
  for (std::int64_t begin = 0; begin < values.size(); begin += K * N)
    transpose(values.data<std::int16_t>() + begin, K, N, to + begin);
  return {shape, {columns, K}};
}

namespace {

/// to [M, N] = rows [M, K] times columns from first_column on.
void multiply(std::int64_t M, std::int64_t N, std::int64_t K, const std::int16_t* rows,
              const IntegerColumns& columns, std::int64_t first_column, std::int32_t* to) {
  constexpr std::int64_t strip = 64;  // columns that stay in the cache for all rows
  constexpr std::int64_t rows_at_once = 8;
  const std::int64_t strips = (N + strip - 1) / strip;
  const std::int64_t grain = (std::int64_t{1} << 18) / (M * K * strip + 1) + 1;
  kernels::parallel_for(strips, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t n = first * strip; n < std::min(last * strip, N); n += strip) {
      const std::int64_t count = std::min(strip, N - n);
      std::array<std::int64_t, rows_at_once * strip> sums;
      for (std::int64_t m = 0; m < M; m += rows_at_once) {
        const std::int64_t height = std::min(rows_at_once, M - m);
        columns.dots(rows + m * K, height, first_column + n, count, sums.data());
        for (std::int64_t i = 0; i < height; ++i)
          std::transform(sums.begin() + i * count, sums.begin() + (i + 1) * count, to + (m + i) * N + n,
                         wrapped);
      }
    }
  });
}

}  // namespace

Tensor integer_product(const Tensor& A, const Tensor* a_zero_point, const IntegerFactor& B) {
  const ProductShape shape = product_shape(A.shape(), B.shape);
  const std::int64_t M = shape.M, N = shape.N, K = shape.K;
  const Tensor a = centred(A, a_zero_point, QuantizedSide::A, "a_zero_point");
  Tensor C(DType::int32, shape.output);
  if (C.size() == 0) return C;
  std::int32_t* c = C.mutable_data<std::int32_t>();
  const BroadcastWalk walk(shape.stack, {&shape.stack_a, &shape.stack_b});
  walk.for_each(
      0, walk.size(), [&](std::int64_t first, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
        for (std::int64_t s = 0; s < n; ++s) {
          const std::int64_t left = (offsets[0] + (walk.steps(0) ? s : 0)) * M * K;
          const std::int64_t right = (offsets[1] + (walk.steps(1) ? s : 0)) * N;
          multiply(M, N, K, a.data<std::int16_t>() + left, B.columns, right, c + (first + s) * M * N);
        }
      });
  return C;
}

}  // namespace grurun::engine
