#include "engine/kernels/integer/gemm_integer.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/kernels/machine/unroll.h"
#include "tensor/memory/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/integer/gemm_integer.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

#ifndef GRURUN_KERNELS_GEMM_INTEGER
#define GRURUN_KERNELS_GEMM_INTEGER
namespace grurun::kernels {
namespace {

constexpr size_t strip_bytes = 256;
template <class T>
constexpr size_t strip_columns = strip_bytes / sizeof(T);

/// Rows of A times a part of strip_columns columns of B. T is unsigned, as sums wrap.
template <class T>
struct StripProduct {
  const T* a;
  size_t rows, a_row, a_column;  // elements from one row, and column, to the next
  const T* b;                    // [depth, strip_columns]
  size_t depth;
  T* c;
  size_t ldc, columns;  // as many of the strip are wanted
  bool add;             // to what C holds
};

}  // namespace
}  // namespace grurun::kernels
#endif  // GRURUN_KERNELS_GEMM_INTEGER

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums, and what multiplies them, fit into the registers.
constexpr size_t most_rows = 4;
template <class D>
constexpr size_t tile_vectors = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 64 ? 4 : 2;

template <size_t row_count, class T>
void multiply_tile(const StripProduct<T>& p, size_t row, size_t column) {
  using D = hn::ScalableTag<T>;
  const D d;
  constexpr size_t vector_count = tile_vectors<D>;
  const size_t lanes = hn::Lanes(d);
  const T *a = p.a + row * p.a_row, *b = p.b + column;
  hn::Vec<D> sums[row_count][vector_count];
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) sums[r][v] = hn::Zero(d);
  }
  for (size_t k = 0; k < p.depth; ++k, a += p.a_column, b += strip_columns<T>) {
    hn::Vec<D> factors[vector_count];
    GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) factors[v] = hn::LoadU(d, b + v * lanes);
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
      const auto factor = hn::Set(d, a[r * p.a_row]);
      GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) sums[r][v] =
          hn::Add(sums[r][v], hn::Mul(factor, factors[v]));
    }
  }
  for (size_t r = 0; r < row_count; ++r) {
    T* const c = p.c + (row + r) * p.ldc;
    for (size_t v = 0, at = column; v < vector_count && at < p.columns; ++v, at += lanes) {
      const size_t left = p.columns - at;
      const auto before = p.add ? load_first(d, c + at, left) : hn::Zero(d);
      store_first(hn::Add(before, sums[r][v]), d, c + at, left);
    }
  }
}

template <size_t row_count, class T>
void multiply_rows(const StripProduct<T>& p, size_t row) {
  using D = hn::ScalableTag<T>;
  const size_t tile = tile_vectors<D> * hn::Lanes(D());
  for (; row + row_count <= p.rows; row += row_count) {
    for (size_t column = 0; column < p.columns; column += tile) multiply_tile<row_count>(p, row, column);
  }
  if constexpr (row_count > 1) multiply_rows<row_count / 2>(p, row);
}

void multiply_u32(const StripProduct<uint32_t>& p) {
  multiply_rows<most_rows>(p, 0);
}
void multiply_u64(const StripProduct<uint64_t>& p) {
  multiply_rows<most_rows>(p, 0);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(multiply_u32);
HWY_EXPORT(multiply_u64);

namespace {

void multiply(const StripProduct<uint32_t>& p) {
  HWY_DYNAMIC_DISPATCH(multiply_u32)(p);
}
void multiply(const StripProduct<uint64_t>& p) {
  HWY_DYNAMIC_DISPATCH(multiply_u64)(p);
}

/// strip [depth, strip_columns]: rows [k, k + depth) and `columns` columns of B from j on, the rest as it
/// was.
template <class T>
void fill_strip(Matrix<T> B, int64_t k, int64_t depth, int64_t j, int64_t columns, T* strip) {
  constexpr auto width = static_cast<int64_t>(strip_columns<T>);
  if (!B.transposed) {
    for (int64_t i = 0; i < depth; ++i) std::copy_n(B.data + (k + i) * B.ld + j, columns, strip + i * width);
    return;
  }
  for (int64_t c = 0; c < columns; ++c) {
    const T* from = B.data + (j + c) * B.ld + k;
    for (int64_t i = 0; i < depth; ++i) strip[i * width + c] = from[i];
  }
}

template <class T>
void multiply_unsigned(int64_t M, int64_t N, int64_t K, Matrix<T> A, Matrix<T> B, T* C, int64_t ldc) {
  if (M == 0 || N == 0) return;
  constexpr auto width = static_cast<int64_t>(strip_columns<T>);
  constexpr int64_t most_depth = 256, row_count = 64;  // a strip is in L2
  const int64_t a_row = A.transposed ? 1 : A.ld, a_column = A.transposed ? A.ld : 1;
  const int64_t strips = (N + width - 1) / width, pieces = (M + row_count - 1) / row_count;
  const int64_t operations = std::min(M, row_count) * width * std::max<int64_t>(K, 1);
  const int64_t grain = tuning::plain_operations_of_thread / operations + 1;
  parallel_for(strips * pieces, grain, [&](int64_t first, int64_t last) {
    ScratchVector<T> strip(static_cast<size_t>(std::min(K, most_depth) * width));
    for (int64_t i = first; i < last; ++i) {
      const int64_t j = i / pieces * width, row = i % pieces * row_count, columns = std::min(width, N - j);
      for (int64_t k = 0; k == 0 || k < K; k += most_depth) {
        const int64_t depth = std::min(most_depth, K - k);
        fill_strip(B, k, depth, j, columns, strip.data());
        multiply({.a = A.data + row * a_row + k * a_column,
                  .rows = static_cast<size_t>(std::min(row_count, M - row)),
                  .a_row = static_cast<size_t>(a_row),
                  .a_column = static_cast<size_t>(a_column),
                  .b = strip.data(),
                  .depth = static_cast<size_t>(depth),
                  .c = C + row * ldc + j,
                  .ldc = static_cast<size_t>(ldc),
                  .columns = static_cast<size_t>(columns),
                  .add = k > 0});
      }
    }
  });
}

}  // namespace

template <class T>
void gemm_integer(int64_t M, int64_t N, int64_t K, Matrix<T> A, Matrix<T> B, T* C, int64_t ldc) {
  using U = std::make_unsigned_t<T>;
  const auto bits = [](Matrix<T> m) {
    return Matrix<U>{reinterpret_cast<const U*>(m.data), m.ld, m.transposed};
  };
  multiply_unsigned<U>(M, N, K, bits(A), bits(B), reinterpret_cast<U*>(C), ldc);
}

template void gemm_integer(int64_t, int64_t, int64_t, Matrix<int32_t>, Matrix<int32_t>, int32_t*, int64_t);
template void gemm_integer(int64_t, int64_t, int64_t, Matrix<uint32_t>, Matrix<uint32_t>, uint32_t*, int64_t);
template void gemm_integer(int64_t, int64_t, int64_t, Matrix<int64_t>, Matrix<int64_t>, int64_t*, int64_t);
template void gemm_integer(int64_t, int64_t, int64_t, Matrix<uint64_t>, Matrix<uint64_t>, uint64_t*, int64_t);

}  // namespace grurun::kernels
#endif  // HWY_ONCE
