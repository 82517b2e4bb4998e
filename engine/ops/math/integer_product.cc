#include "engine/ops/math/integer_product.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "engine/graph/refusal.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/broadcast.h"
#include "engine/ops/shared/matrix_product.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

using Bytes = TypeList<std::int8_t, std::uint8_t>;

/// The zero points of a matrix or a stack of them, one for each row of A or column of B; or one for all.
Tensor zero_points_of(const Tensor& x, const Tensor* zero_point, QuantizedSide side) {
  if (zero_point == nullptr) return Tensor::zeros(x.dtype(), Shape{});
  if (zero_point->dtype() != x.dtype()) refuse();
  const Tensor zero = aligned_parameter(*zero_point, side, x.shape());
  if (zero.size() == 1 || x.size() == 0) return zero;  // of nothing: it may be one for each of many rows
  Shape shape = x.shape();
  shape[shape.rank() - (side == QuantizedSide::A ? 1 : 2)] = 1;
  Tensor out(x.dtype(), shape);
  const BroadcastWalk walk(shape, {&zero.shape()});
  dispatch(Bytes{}, x.dtype(), [&]<typename T>() {
    const T* from = zero.data<T>();
    T* to = out.mutable_data<T>();
    const std::int64_t step = walk.steps(0) ? 1 : 0;
    walk.for_each(0, walk.size(),
                  [&](std::int64_t begin, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
                    for (std::int64_t i = 0; i < n; ++i) to[begin + i] = from[offsets[0] + i * step];
                  });
  });
  return out;
}

}  // namespace

Tensor aligned_parameter(const Tensor& parameter, QuantizedSide side, const Shape& matrix) {
  if (parameter.size() == 1) return parameter.reshaped(Shape{});
  Shape shape = parameter.shape();
  if (shape.rank() == 1 && side == QuantizedSide::A && matrix.rank() >= 2) shape.push_back(1);
  const std::size_t along =
      side == QuantizedSide::A ? 1 : 2;  // from the back: where only an extent of 1 fits
  const bool constant = side == QuantizedSide::B && shape.rank() == 1 && matrix.rank() >= 2;
  if (!constant && (shape.rank() < 2 || shape[shape.rank() - along] != 1)) refuse();
  require_broadcastable_to(shape, matrix);
  return parameter.reshaped(shape);
}

IntegerFactor integer_factor(const Tensor& B, const Tensor* b_zero_point) {
  const Tensor zero = zero_points_of(B, b_zero_point, QuantizedSide::B);
  const Shape& shape = B.shape();
  const bool is_vector = shape.rank() < 2;
  const std::int64_t K = is_vector ? B.size() : shape[shape.rank() - 2];
  const std::int64_t N = is_vector ? 1 : shape[shape.rank() - 1];
  IntegerFactor out{shape, {}};
  if (B.size() == 0) return out;
  ScratchVector<std::int64_t> columns(static_cast<std::size_t>(N));
  std::iota(columns.begin(), columns.end(), 0);
  const std::int64_t step = zero.size() == 1 ? 0 : 1;
  dispatch(Bytes{}, B.dtype(), [&]<typename T>() {
    for (std::int64_t i = 0; i < B.size() / (K * N); ++i)
      out.matrices.emplace_back(B.data<T>() + i * K * N, K, N, columns, zero.data<T>() + i * N * step, step);
  });
  return out;
}

namespace {

/// to [M, N] = rows of A from `row` on times B.
void multiply(const kernels::IntegerRows& a, std::int64_t row, std::int64_t M,
              const kernels::IntegerPanels& b, std::int64_t N, std::int32_t* to) {
  constexpr std::int64_t strip = 3, height = 64;  // panels that stay in the cache for so many rows
  constexpr std::int64_t strip_columns = strip * kernels::IntegerPanels::column_count;
  const std::int64_t strips = (b.panels() + strip - 1) / strip, heights = (M + height - 1) / height;
  const std::int64_t work = std::min(M, height) * strip_columns * b.K();
  kernels::parallel_for(
      strips * heights, (std::int64_t{1} << 18) / (work + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t first = i / heights * strip, m = i % heights * height;
          kernels::multiply_integers(a, row + m, std::min(height, M - m), b, first,
                                     std::min(first + strip, b.panels()),
                                     to + m * N + first * kernels::IntegerPanels::column_count, N);
        }
      });
}

}  // namespace

Tensor integer_product(const Tensor& A, const Tensor* a_zero_point, const IntegerFactor& B) {
  const ProductShape shape = product_shape(A.shape(), B.shape);
  const std::int64_t M = shape.M, N = shape.N;
  const Tensor zero = zero_points_of(A, a_zero_point, QuantizedSide::A);
  if (shape.K == 0) return Tensor::zeros(DType::int32, shape.output);
  Tensor C(DType::int32, shape.output);
  if (C.size() == 0) return C;
  std::int32_t* c = C.mutable_data<std::int32_t>();
  dispatch(Bytes{}, A.dtype(), [&]<typename T>() {
    const kernels::IntegerRows a(A.data<T>(), A.size() / shape.K, zero.data<T>(), zero.size() == 1 ? 0 : 1,
                                 B.matrices.front());
    const BroadcastWalk walk(shape.stack, {&shape.stack_a, &shape.stack_b});
    walk.for_each(
        0, walk.size(), [&](std::int64_t first, const BroadcastWalk::Offsets& offsets, std::int64_t n) {
          for (std::int64_t s = 0; s < n; ++s) {
            const std::int64_t left = offsets[0] + (walk.steps(0) ? s : 0);
            const std::int64_t right = offsets[1] + (walk.steps(1) ? s : 0);
            multiply(a, left * M, M, B.matrices[static_cast<std::size_t>(right)], N, c + (first + s) * M * N);
          }
        });
  });
  return C;
}

}  // namespace grurun::engine
