#include "engine/kernels/gemm_tile.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm_tile.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 24 sums of 32 registers leave room for 3 vectors of B and the broadcast of A; 12 sums of 16 likewise.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr size_t kTileRows = 8;
constexpr size_t kDotRows = 4, kDotColumns = 6;
#else
constexpr size_t kTileRows = 4;
constexpr size_t kDotRows = 3, kDotColumns = 3;
#endif
constexpr size_t kTileVectors = 3;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vec = hn::Vec<Tag<T>>;

// The sums live in registers only if the loops over them are unrolled. Sanitizers keep them in memory anyway,
// where unrolled checks would take minutes to compile.
#undef GRURUN_UNROLL
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GRURUN_UNROLL
#else
#define GRURUN_UNROLL _Pragma("GCC unroll 16")
#endif

/// Where the rows of B lie: group g of row k is asked for with k ascending from 0.
template <size_t kGroups, class T>
struct StridedRows {
  const T* next[kGroups];
  size_t ldb;

  HWY_INLINE const T* row(size_t g, size_t) {
    const T* at = next[g];
    next[g] += ldb;
    return at;
  }
};
template <class T>
struct GatheredRows {
  const T* B;
  const int64_t* offset;

  HWY_INLINE const T* row(size_t, size_t k) const { return B + offset[k]; }
};

template <class T>
StridedRows<1, T> rows_of(const PanelProduct<T>& p, size_t column) {
  return {{p.B + column}, static_cast<size_t>(p.ldb)};
}
template <class T>
GatheredRows<T> rows_of(const GatheredProduct<T>& p, size_t column) {
  return {p.B + column, p.offset};
}

/// Sums of kRows x kGroups x kVectors vectors: group g is kVectors adjacent vectors, its B begins at b[g] and
/// its C at column[g].
template <size_t kRows, size_t kGroups, size_t kVectors, class T, class Rows>
HWY_INLINE void tile(const T* HWY_RESTRICT A, size_t lda, Rows b, size_t K, T* HWY_RESTRICT C, size_t ldc,
                     const size_t (&column)[kGroups], const Epilogue<T>& e) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  Vec<T> sum[kRows][kGroups][kVectors];

  GRURUN_UNROLL for (size_t g = 0; g < kGroups; ++g) {
    GRURUN_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      const size_t j = column[g] + v * lanes;
      const Vec<T> bias = e.bias ? hn::LoadU(d, e.bias + j) : hn::Zero(d);
      GRURUN_UNROLL for (size_t r = 0; r < kRows; ++r) {
        const Vec<T> start = e.row_bias ? hn::Add(bias, hn::Set(d, e.row_bias[r])) : bias;
        sum[r][g][v] = e.from_c ? hn::Add(hn::LoadU(d, C + r * ldc + j), start) : start;
      }
    }
  }

  for (size_t k = 0; k < K; ++k) {
    Vec<T> bv[kGroups][kVectors];
    GRURUN_UNROLL for (size_t g = 0; g < kGroups; ++g) {
      const T* row = b.row(g, k);
      GRURUN_UNROLL for (size_t v = 0; v < kVectors; ++v) bv[g][v] = hn::LoadU(d, row + v * lanes);
    }
    GRURUN_UNROLL for (size_t r = 0; r < kRows; ++r) {
      const Vec<T> a = hn::Set(d, A[r * lda + k]);
      GRURUN_UNROLL for (size_t g = 0; g < kGroups; ++g) {
        GRURUN_UNROLL for (size_t v = 0; v < kVectors; ++v) sum[r][g][v] =
            hn::MulAdd(a, bv[g][v], sum[r][g][v]);
      }
    }
  }

  const bool plain = e.alpha == 1 && e.beta == 0;
  const Vec<T> alpha = hn::Set(d, e.alpha), beta = hn::Set(d, e.beta);
  GRURUN_UNROLL for (size_t r = 0; r < kRows; ++r) {
    GRURUN_UNROLL for (size_t g = 0; g < kGroups; ++g) {
      GRURUN_UNROLL for (size_t v = 0; v < kVectors; ++v) {
        T* c = C + r * ldc + column[g] + v * lanes;
        Vec<T> out = sum[r][g][v];
        if (!plain) {
          out = hn::Mul(alpha, out);
          if (e.beta != 0) out = hn::MulAdd(beta, hn::LoadU(d, c), out);
        }
        hn::StoreU(out, d, c);
      }
    }
  }
}

/// Rows from `row` on times the vectors from `column` on; C is where their first element goes.
template <size_t kRows, template <class> class Product, class T>
void rows_times_vectors(size_t vectors, const Product<T>& p, size_t row, size_t column, T* C, size_t ldc) {
  const T* A = p.A + row * p.lda;
  const auto b = rows_of(p, column);
  const size_t at[1] = {0};
  const auto lda = static_cast<size_t>(p.lda), K = static_cast<size_t>(p.K);
  Epilogue<T> e = p.epilogue;
  if (e.bias) e.bias += column;
  if (e.row_bias) e.row_bias += row;
  switch (vectors) {
    case 1:
      return tile<kRows, 1, 1>(A, lda, b, K, C, ldc, at, e);
    case 2:
      return tile<kRows, 1, 2>(A, lda, b, K, C, ldc, at, e);
    default:
      return tile<kRows, 1, 3>(A, lda, b, K, C, ldc, at, e);
  }
}

template <template <class> class Product, class T>
void rows_times_panel(size_t rows, size_t vectors, const Product<T>& p, size_t row, size_t column, T* C,
                      size_t ldc) {
  switch (rows) {
    case 1:
      return rows_times_vectors<1>(vectors, p, row, column, C, ldc);
    case 2:
      return rows_times_vectors<2>(vectors, p, row, column, C, ldc);
    case 3:
      return rows_times_vectors<3>(vectors, p, row, column, C, ldc);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
    case 4:
      return rows_times_vectors<4>(vectors, p, row, column, C, ldc);
    case 5:
      return rows_times_vectors<5>(vectors, p, row, column, C, ldc);
    case 6:
      return rows_times_vectors<6>(vectors, p, row, column, C, ldc);
    case 7:
      return rows_times_vectors<7>(vectors, p, row, column, C, ldc);
#endif
    default:
      return rows_times_vectors<kTileRows>(vectors, p, row, column, C, ldc);
  }
}

/// n elements. Only SIMD that writes none but the elements of a mask leaves alone what other threads write.
template <class T>
HWY_INLINE void copy_row(const T* HWY_RESTRICT from, size_t n, T* HWY_RESTRICT to) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
#if HWY_TARGET == HWY_AVX3
  const auto rest = hn::FirstN(d, n - i);
  hn::BlendedStore(hn::MaskedLoad(rest, d, from + i), rest, d, to + i);
#else
  for (; i < n; ++i) to[i] = from[i];
#endif
}

/// A tile whose last vector reaches past the last column works on a copy of its part of C.
template <template <class> class Product, class T>
void ragged_rows_times_panel(size_t rows, size_t vectors, const Product<T>& p, size_t row, size_t column) {
  const size_t width = vectors * hn::Lanes(Tag<T>()), valid = static_cast<size_t>(p.columns) - column;
  HWY_ALIGN T copy[kTileRows * kPanelColumns<T>];
  T* C = p.C + row * p.ldc + column;
  if (p.epilogue.from_c || p.epilogue.beta != 0) {
    for (size_t r = 0; r < rows; ++r) {
      hn::StoreU(hn::Zero(Tag<T>()), Tag<T>(), copy + (r + 1) * width - hn::Lanes(Tag<T>()));
      copy_row(C + r * p.ldc, valid, copy + r * width);
    }
  }
  rows_times_panel(rows, vectors, p, row, column, copy, width);
  for (size_t r = 0; r < rows; ++r) copy_row(copy + r * width, valid, C + r * p.ldc);
}

template <template <class> class Product, class T>
void panel(const Product<T>& p) {
  const size_t lanes = hn::Lanes(Tag<T>());
  const auto total = static_cast<size_t>(p.rows), columns = static_cast<size_t>(p.columns);
  // Rows split evenly: 9 are 5 + 4, not 8 + 1.
  const size_t tiles = (total + kTileRows - 1) / kTileRows;
  for (size_t t = 0, row = 0; t < tiles; ++t) {
    const size_t rows = total / tiles + (t < total % tiles ? 1 : 0);
    for (size_t column = 0; column < columns; column += kTileVectors * lanes) {
      const size_t left = columns - column;
      const size_t vectors = std::min(kTileVectors, (left + lanes - 1) / lanes);
      if (vectors * lanes <= left) {
        rows_times_panel(rows, vectors, p, row, column, p.C + row * p.ldc + column,
                         static_cast<size_t>(p.ldc));
      } else {
        ragged_rows_times_panel(rows, vectors, p, row, column);
      }
    }
    row += rows;
  }
}

// Known vector counts and no tail: the loop over them disappears.
template <size_t kVectors, class T>
HWY_INLINE void gather_whole(const T* B, const int64_t* offset, size_t rows, T* HWY_RESTRICT packed) {
  constexpr size_t kRowsAhead = 16;
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t k = 0; k < rows; ++k) {
    const T *from = B + offset[k], *ahead = B + offset[std::min(rows - 1, k + kRowsAhead)];
    GRURUN_UNROLL for (size_t v = 0; v < kVectors; ++v) {
      __builtin_prefetch(ahead + v * lanes);
      hn::Store(hn::LoadU(d, from + v * lanes), d, packed + (k * kVectors + v) * lanes);
    }
  }
}

template <class T>
void gather(const T* B, const int64_t* offset, int64_t rows_signed, int64_t columns_signed, T* packed) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), widest = static_cast<size_t>(kVectorColumns<T>);
  const auto rows = static_cast<size_t>(rows_signed), columns = static_cast<size_t>(columns_signed);
  if (widest == lanes && columns == 3 * lanes) return gather_whole<3>(B, offset, rows, packed);
  if (widest == lanes && columns == 2 * lanes) return gather_whole<2>(B, offset, rows, packed);
  const size_t width = (columns + widest - 1) / widest * widest;
  for (size_t k = 0; k < rows; ++k, packed += width) {
    const T* from = B + offset[k];
    size_t i = 0;
    for (; i + lanes <= columns; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, packed + i);
    std::fill(std::copy(from + i, from + columns, packed + i), packed + width, T(0));
  }
}

/// Few runs: where they are stays in registers.
template <size_t kRuns, class T>
HWY_INLINE void gather_few_runs(const T* B, const int64_t* offset, size_t rows, const PanelRuns& runs,
                                size_t width, T* packed) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), unit = static_cast<size_t>(kVectorColumns<T>);
  int64_t from[kRuns], to[kRuns];
  std::copy_n(runs.from, kRuns, from);
  std::copy_n(runs.to, kRuns, to);
  for (size_t k = 0; k < rows; ++k, packed += width) {
    const T* row = B + offset[k];
    GRURUN_UNROLL for (size_t i = 0; i < kRuns; ++i) {
      for (size_t v = 0; v < unit; v += lanes)
        hn::StoreU(hn::LoadU(d, row + from[i] + v), d, packed + to[i] + v);
    }
  }
}

template <class T>
void gather_by_runs(const T* B, const int64_t* offset, int64_t rows_signed, const PanelRuns& runs,
                    int64_t width_signed, T* packed) {
  const auto rows = static_cast<size_t>(rows_signed), width = static_cast<size_t>(width_signed);
  switch (runs.count) {
    case 1:
      return gather_few_runs<1>(B, offset, rows, runs, width, packed);
    case 2:
      return gather_few_runs<2>(B, offset, rows, runs, width, packed);
    case 3:
      return gather_few_runs<3>(B, offset, rows, runs, width, packed);
    case 4:
      return gather_few_runs<4>(B, offset, rows, runs, width, packed);
    case 5:
      return gather_few_runs<5>(B, offset, rows, runs, width, packed);
    case 6:
      return gather_few_runs<6>(B, offset, rows, runs, width, packed);
    default:
      break;
  }
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), unit = static_cast<size_t>(kVectorColumns<T>);
  for (size_t k = 0; k < rows; ++k, packed += width) {
    const T* row = B + offset[k];
    for (int64_t i = 0; i < runs.count; ++i) {
      for (size_t v = 0; v < unit; v += lanes)
        hn::StoreU(hn::LoadU(d, row + runs.from[i] + v), d, packed + runs.to[i] + v);
    }
  }
}

template <size_t kGroups, class T>
HWY_INLINE void row_times_groups(const RowProduct<T>& p, size_t group) {
  const size_t width = kTileVectors * hn::Lanes(Tag<T>()), groups_a_panel = kPanelColumns<T> / width;
  StridedRows<kGroups, T> b{{}, static_cast<size_t>(p.ldb)};
  size_t column[kGroups];
  for (size_t g = 0; g < kGroups; ++g) {
    const size_t panel = (group + g) / groups_a_panel, part = (group + g) % groups_a_panel;
    b.next[g] = p.B + panel * p.panel_stride + part * width;
    column[g] = (group + g) * width;
  }
  tile<1, kGroups, kTileVectors>(p.a, 0, b, static_cast<size_t>(p.K), p.C, 0, column, p.epilogue);
}

template <class T>
void row(const RowProduct<T>& p) {
  const size_t width = kTileVectors * hn::Lanes(Tag<T>());
  const size_t groups = static_cast<size_t>(p.panels * kPanelColumns<T>) / width;
  size_t g = 0;
  for (; g + 4 <= groups; g += 4) row_times_groups<4>(p, g);
  for (; g + 2 <= groups; g += 2) row_times_groups<2>(p, g);
  for (; g < groups; ++g) row_times_groups<1>(p, g);
}

template <size_t kColumns, class T>
HWY_INLINE void dots_of_row(const DotProducts<T>& p, const T* HWY_RESTRICT a, const T* HWY_RESTRICT B,
                            T* HWY_RESTRICT c) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), K = static_cast<size_t>(p.K), ldb = static_cast<size_t>(p.ldb);
  constexpr size_t kWays = 2;  // the same for any kColumns: how columns are grouped must not change a sum
  Vec<T> sum[kColumns][kWays];
  GRURUN_UNROLL for (size_t j = 0; j < kColumns; ++j) {
    GRURUN_UNROLL for (size_t w = 0; w < kWays; ++w) sum[j][w] = hn::Zero(d);
  }
  size_t k = 0;
  for (; k + kWays * lanes <= K; k += kWays * lanes) {
    GRURUN_UNROLL for (size_t w = 0; w < kWays; ++w) {
      const Vec<T> av = hn::LoadU(d, a + k + w * lanes);
      GRURUN_UNROLL for (size_t j = 0; j < kColumns; ++j) {
        sum[j][w] = hn::MulAdd(av, hn::LoadU(d, B + j * ldb + k + w * lanes), sum[j][w]);
      }
    }
  }
  for (; k + lanes <= K; k += lanes) {
    const Vec<T> av = hn::LoadU(d, a + k);
    GRURUN_UNROLL for (size_t j = 0; j < kColumns; ++j) {
      sum[j][0] = hn::MulAdd(av, hn::LoadU(d, B + j * ldb + k), sum[j][0]);
    }
  }
  GRURUN_UNROLL for (size_t j = 0; j < kColumns; ++j) {
    GRURUN_UNROLL for (size_t w = 1; w < kWays; ++w) sum[j][0] = hn::Add(sum[j][0], sum[j][w]);
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

/// kRows x kColumns dot products. Rows of B beyond them are asked for on the way where they come next.
template <size_t kRows, size_t kColumns, bool kAhead, class T>
void dot_tile(const DotProducts<T>& p, size_t row, size_t column) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), K = static_cast<size_t>(p.K);
  const auto lda = static_cast<size_t>(p.lda), ldb = static_cast<size_t>(p.ldb);
  const T *HWY_RESTRICT A = p.A + row * lda, *HWY_RESTRICT B = p.B + column * ldb;
  Vec<T> sum[kRows][kColumns];
  GRURUN_UNROLL for (size_t r = 0; r < kRows; ++r) {
    GRURUN_UNROLL for (size_t j = 0; j < kColumns; ++j) sum[r][j] = hn::Zero(d);
  }
  size_t k = 0;
  for (; k + lanes <= K; k += lanes) {
    Vec<T> a[kRows];
    GRURUN_UNROLL for (size_t r = 0; r < kRows; ++r) a[r] = hn::LoadU(d, A + r * lda + k);
    GRURUN_UNROLL for (size_t j = 0; j < kColumns; ++j) {
      const Vec<T> b = hn::LoadU(d, B + j * ldb + k);
      if (kAhead) __builtin_prefetch(B + (j + kColumns) * ldb + k, 0, 2);
      GRURUN_UNROLL for (size_t r = 0; r < kRows; ++r) sum[r][j] = hn::MulAdd(a[r], b, sum[r][j]);
    }
  }
  GRURUN_UNROLL for (size_t r = 0; r < kRows; ++r) {
    T* c = p.C + (row + r) * static_cast<size_t>(p.ldc) + column;
    GRURUN_UNROLL for (size_t j = 0; j < kColumns; ++j) {
      T dot = hn::GetLane(hn::SumOfLanes(d, sum[r][j]));
      for (size_t i = k; i < K; ++i) dot += A[r * lda + i] * B[j * ldb + i];
      const T scaled = p.alpha * dot;
      c[j] = p.beta == 0 ? scaled : scaled + p.beta * c[j];
    }
  }
}

template <size_t kColumns, bool kAhead, class T>
void dot_rows(size_t rows, const DotProducts<T>& p, size_t row, size_t column) {
  switch (rows) {
    case 1:
      return dot_tile<1, kColumns, kAhead>(p, row, column);
    case 2:
      return dot_tile<2, kColumns, kAhead>(p, row, column);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
    case 3:
      return dot_tile<3, kColumns, kAhead>(p, row, column);
#endif
    default:
      return dot_tile<kDotRows, kColumns, kAhead>(p, row, column);
  }
}

template <size_t kColumns, class T>
void dots_of_columns(const DotProducts<T>& p, size_t column) {
  const auto total = static_cast<size_t>(p.rows);
  const bool is_last = column + 2 * kColumns > static_cast<size_t>(p.columns);
  const size_t tiles = (total + kDotRows - 1) / kDotRows;
  for (size_t t = 0, row = 0; t < tiles; ++t) {
    const size_t rows = total / tiles + (t < total % tiles ? 1 : 0);
    if (t == 0 && !is_last) {
      dot_rows<kColumns, true>(rows, p, row, column);
    } else {
      dot_rows<kColumns, false>(rows, p, row, column);
    }
    row += rows;
  }
}

template <class T>
void dot_block(const DotProducts<T>& p) {
  const auto columns = static_cast<size_t>(p.columns);
  size_t j = 0;
  for (; j + kDotColumns <= columns; j += kDotColumns) dots_of_columns<kDotColumns>(p, j);
  for (; j < columns; ++j) dots_of_columns<1>(p, j);
}

void panel_f32(const PanelProduct<float>& p) {
  panel(p);
}
void panel_f64(const PanelProduct<double>& p) {
  panel(p);
}
void gathered_f32(const GatheredProduct<float>& p) {
  panel(p);
}
void gathered_f64(const GatheredProduct<double>& p) {
  panel(p);
}
void gather_f32(const float* B, const int64_t* offset, int64_t rows, int64_t columns, float* packed) {
  gather(B, offset, rows, columns, packed);
}
void gather_f64(const double* B, const int64_t* offset, int64_t rows, int64_t columns, double* packed) {
  gather(B, offset, rows, columns, packed);
}
void runs_f32(const float* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
              float* packed) {
  gather_by_runs(B, offset, rows, runs, width, packed);
}
void runs_f64(const double* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
              double* packed) {
  gather_by_runs(B, offset, rows, runs, width, packed);
}
void row_f32(const RowProduct<float>& p) {
  row(p);
}
void row_f64(const RowProduct<double>& p) {
  row(p);
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

HWY_EXPORT(panel_f32);
HWY_EXPORT(panel_f64);
HWY_EXPORT(gathered_f32);
HWY_EXPORT(gathered_f64);
HWY_EXPORT(gather_f32);
HWY_EXPORT(gather_f64);
HWY_EXPORT(runs_f32);
HWY_EXPORT(runs_f64);
HWY_EXPORT(row_f32);
HWY_EXPORT(row_f64);
HWY_EXPORT(dots_f32);
HWY_EXPORT(dots_f64);
HWY_EXPORT(dot_block_f32);
HWY_EXPORT(dot_block_f64);

void multiply_panel(const PanelProduct<float>& p) {
  HWY_DYNAMIC_DISPATCH(panel_f32)(p);
}
void multiply_panel(const PanelProduct<double>& p) {
  HWY_DYNAMIC_DISPATCH(panel_f64)(p);
}
void multiply_gathered(const GatheredProduct<float>& p) {
  HWY_DYNAMIC_DISPATCH(gathered_f32)(p);
}
void multiply_gathered(const GatheredProduct<double>& p) {
  HWY_DYNAMIC_DISPATCH(gathered_f64)(p);
}
void gather_panel(const float* B, const int64_t* offset, int64_t rows, int64_t columns, float* packed) {
  HWY_DYNAMIC_DISPATCH(gather_f32)(B, offset, rows, columns, packed);
}
void gather_panel(const double* B, const int64_t* offset, int64_t rows, int64_t columns, double* packed) {
  HWY_DYNAMIC_DISPATCH(gather_f64)(B, offset, rows, columns, packed);
}
void gather_runs(const float* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
                 float* packed) {
  HWY_DYNAMIC_DISPATCH(runs_f32)(B, offset, rows, runs, width, packed);
}
void gather_runs(const double* B, const int64_t* offset, int64_t rows, const PanelRuns& runs, int64_t width,
                 double* packed) {
  HWY_DYNAMIC_DISPATCH(runs_f64)(B, offset, rows, runs, width, packed);
}
void multiply_row(const RowProduct<float>& p) {
  HWY_DYNAMIC_DISPATCH(row_f32)(p);
}
void multiply_row(const RowProduct<double>& p) {
  HWY_DYNAMIC_DISPATCH(row_f64)(p);
}
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
