#include "engine/kernels/gemm/dot_products.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm/dot_products.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/machine/keep-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A tile's sums leave registers for a vector of each of its rows of A and one of B.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr size_t dot_tile_rows = 4, dot_tile_columns = 6;
#else
constexpr size_t dot_tile_rows = 3, dot_tile_columns = 3;
#endif

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vec = hn::Vec<Tag<T>>;

template <size_t column_count, class T>
HWY_INLINE void dots_of_row(const DotProducts<T>& p, const T* HWY_RESTRICT a, const T* HWY_RESTRICT B,
                            T* HWY_RESTRICT c) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), K = static_cast<size_t>(p.K), ldb = static_cast<size_t>(p.ldb);
  constexpr size_t way_count =
      2;  // the same for any column_count: how columns are grouped must not change a sum
  Vec<T> sum[column_count][way_count];
  GRURUN_UNROLL for (size_t j = 0; j < column_count; ++j) {
    GRURUN_UNROLL for (size_t w = 0; w < way_count; ++w) sum[j][w] = hn::Zero(d);
  }
  size_t k = 0;
  for (; k + way_count * lanes <= K; k += way_count * lanes) {
    GRURUN_UNROLL for (size_t w = 0; w < way_count; ++w) {
      const Vec<T> av = kept(hn::LoadU(d, a + k + w * lanes));
      GRURUN_UNROLL for (size_t j = 0; j < column_count; ++j) {
        sum[j][w] = hn::MulAdd(av, hn::LoadU(d, B + j * ldb + k + w * lanes), sum[j][w]);
      }
    }
  }
  for (; k + lanes <= K; k += lanes) {
    const Vec<T> av = hn::LoadU(d, a + k);
    GRURUN_UNROLL for (size_t j = 0; j < column_count; ++j) {
      sum[j][0] = hn::MulAdd(av, hn::LoadU(d, B + j * ldb + k), sum[j][0]);
    }
  }
  GRURUN_UNROLL for (size_t j = 0; j < column_count; ++j) {
    GRURUN_UNROLL for (size_t w = 1; w < way_count; ++w) sum[j][0] = hn::Add(sum[j][0], sum[j][w]);
    T dot = hn::GetLane(hn::SumOfLanes(d, sum[j][0]));
    for (size_t i = k; i < K; ++i) dot += a[i] * B[j * ldb + i];
    const T scaled = p.alpha * dot;
    c[j] = p.beta == 0 ? scaled : scaled + p.beta * c[j];
  }
}

template <class T>
void dots(const DotProducts<T>& p) {
  for (int64_t j = 0; j < p.columns;) {
    const int64_t step = p.columns - j >= 4 ? 4 : 1;
    for (int64_t i = 0; i < p.rows; ++i) {
      const T *a = p.A + i * p.lda, *B = p.B + j * p.ldb;
      T* c = p.C + i * p.ldc + j;
      if (step == 4) {
        dots_of_row<4>(p, a, B, c);
      } else {
        dots_of_row<1>(p, a, B, c);
      }
    }
    j += step;
  }
}

/// row_count x column_count dot products. Rows of B beyond them are asked for on the way where they come
/// next.
template <size_t row_count, size_t column_count, bool ahead, class T>
void dot_tile(const DotProducts<T>& p, size_t row, size_t column) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), K = static_cast<size_t>(p.K);
  const auto lda = static_cast<size_t>(p.lda), ldb = static_cast<size_t>(p.ldb);
  const T *HWY_RESTRICT A = p.A + row * lda, *HWY_RESTRICT B = p.B + column * ldb;
  Vec<T> sum[row_count][column_count];
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    GRURUN_UNROLL for (size_t j = 0; j < column_count; ++j) sum[r][j] = hn::Zero(d);
  }
  size_t k = 0;
  for (; k + lanes <= K; k += lanes) {
    Vec<T> a[row_count];
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) a[r] = kept(hn::LoadU(d, A + r * lda + k));
    GRURUN_UNROLL for (size_t j = 0; j < column_count; ++j) {
      const Vec<T> b = kept(hn::LoadU(d, B + j * ldb + k));
      if (ahead) __builtin_prefetch(B + (j + column_count) * ldb + k, 0, 2);
      GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) sum[r][j] = hn::MulAdd(a[r], b, sum[r][j]);
    }
  }
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    T* c = p.C + (row + r) * static_cast<size_t>(p.ldc) + column;
    GRURUN_UNROLL for (size_t j = 0; j < column_count; ++j) {
      T dot = hn::GetLane(hn::SumOfLanes(d, sum[r][j]));
      for (size_t i = k; i < K; ++i) dot += A[r * lda + i] * B[j * ldb + i];
      const T scaled = p.alpha * dot;
      c[j] = p.beta == 0 ? scaled : scaled + p.beta * c[j];
    }
  }
}

template <size_t column_count, bool ahead, class T>
void dot_rows(size_t rows, const DotProducts<T>& p, size_t row, size_t column) {
  switch (rows) {
    case 1:
      return dot_tile<1, column_count, ahead>(p, row, column);
    case 2:
      return dot_tile<2, column_count, ahead>(p, row, column);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
    case 3:
      return dot_tile<3, column_count, ahead>(p, row, column);
#endif
    default:
      return dot_tile<dot_tile_rows, column_count, ahead>(p, row, column);
  }
}

template <size_t column_count, class T>
void dots_of_columns(const DotProducts<T>& p, size_t column) {
  const auto total = static_cast<size_t>(p.rows);
  const bool is_last = column + 2 * column_count > static_cast<size_t>(p.columns);
  const size_t tiles = (total + dot_tile_rows - 1) / dot_tile_rows;
  for (size_t t = 0, row = 0; t < tiles; ++t) {
    const size_t rows = total / tiles + (t < total % tiles ? 1 : 0);
    if (t == 0 && !is_last) {
      dot_rows<column_count, true>(rows, p, row, column);
    } else {
      dot_rows<column_count, false>(rows, p, row, column);
    }
    row += rows;
  }
}

template <class T>
void dot_block(const DotProducts<T>& p) {
  const auto columns = static_cast<size_t>(p.columns);
  size_t j = 0;
  for (; j + dot_tile_columns <= columns; j += dot_tile_columns) dots_of_columns<dot_tile_columns>(p, j);
  for (; j < columns; ++j) dots_of_columns<1>(p, j);
}

void dots_f32(const DotProducts<float>& p) {
  dots(p);
}
void dots_f64(const DotProducts<double>& p) {
  dots(p);
}
void dot_block_f32(const DotProducts<float>& p) {
  dot_block(p);
}
void dot_block_f64(const DotProducts<double>& p) {
  dot_block(p);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(dots_f32);
HWY_EXPORT(dots_f64);
HWY_EXPORT(dot_block_f32);
HWY_EXPORT(dot_block_f64);

void multiply_dots(const DotProducts<float>& p) {
  HWY_DYNAMIC_DISPATCH(dots_f32)(p);
}
void multiply_dots(const DotProducts<double>& p) {
  HWY_DYNAMIC_DISPATCH(dots_f64)(p);
}
void multiply_dot_block(const DotProducts<float>& p) {
  HWY_DYNAMIC_DISPATCH(dot_block_f32)(p);
}
void multiply_dot_block(const DotProducts<double>& p) {
  HWY_DYNAMIC_DISPATCH(dot_block_f64)(p);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
