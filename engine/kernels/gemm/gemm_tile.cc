#include "engine/kernels/gemm/gemm_tile.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm/gemm_tile.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/machine/keep-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 24 sums of 32 registers, or 12 of 16, leave room for 3 vectors of B and the broadcast of A.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr size_t tile_rows = 8;
constexpr size_t tile_vectors(size_t) {
  return 3;
}
constexpr size_t together = 3;     // see PanelTile
constexpr size_t row_vectors = 3;  // of a tile of one row, adjacent ones
#else
constexpr size_t tile_rows = 6;
constexpr size_t tile_vectors(size_t rows) {
  return rows <= 4 ? 3 : 2;
}
constexpr size_t together = 1;
constexpr size_t row_vectors = 2;
#endif

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vec = hn::Vec<Tag<T>>;

/// Where the rows of B lie: group g of row k is asked for with k ascending from 0.
template <size_t group_count, class T>
struct StridedRows {
  static constexpr bool are_packed = false;
  const T* next[group_count];
  size_t ldb;

  HWY_INLINE const T* row(size_t g, size_t) {
    const T* at = next[g];
    next[g] += ldb;
    return at;
  }
};
template <class T>
struct GatheredRows {
  static constexpr bool are_packed = false;
  const T* B;
  const int64_t* offset;

  HWY_INLINE const T* row(size_t, size_t k) const { return B + offset[k]; }
};
/// Those that are packed while they are read.
template <class T>
struct RowsToPack : GatheredRows<T> {
  static constexpr bool are_packed = true;
  T* packed;
  size_t width;

  HWY_INLINE T* packed_row(size_t k) const { return packed + k * width; }
};

/// The first tile of rows of a product: it packs the panel [K, width].
template <class T>
struct PackingProduct : GatheredProduct<T> {
  T* packed;
  int64_t width;
};

template <class T>
StridedRows<1, T> rows_of(const PanelProduct<T>& p, size_t column) {
  return {{p.B + column}, static_cast<size_t>(p.ldb)};
}
template <class T>
GatheredRows<T> rows_of(const GatheredProduct<T>& p, size_t column) {
  return {p.B + column, p.offset};
}
template <class T>
RowsToPack<T> rows_of(const PackingProduct<T>& p, size_t column) {
  return {{p.B + column, p.offset}, p.packed + column, static_cast<size_t>(p.width)};
}

/// Sums of row_count x group_count x vector_count vectors: group g is vector_count adjacent vectors, its B
/// begins at b[g] and its C at column[g].
template <size_t row_count, size_t group_count, size_t vector_count, class T, class Rows>
HWY_INLINE void tile(const T* HWY_RESTRICT A, size_t lda, Rows b, size_t K, T* HWY_RESTRICT C, size_t ldc,
                     const size_t (&column)[group_count], const Epilogue<T>& e) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  Vec<T> sum[row_count][group_count][vector_count];

  GRURUN_UNROLL for (size_t g = 0; g < group_count; ++g) {
    GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
      const size_t j = column[g] + v * lanes;
      const Vec<T> bias = e.bias ? hn::LoadU(d, e.bias + j) : hn::Zero(d);
      GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
        const Vec<T> start = e.row_bias ? hn::Add(bias, hn::Set(d, e.row_bias[r])) : bias;
        sum[r][g][v] = e.from_c ? hn::Add(hn::LoadU(d, C + r * ldc + j), start) : start;
      }
    }
  }

  // What keeps the loop going would take a good part of the instructions.
  _Pragma("GCC unroll 2") for (size_t k = 0; k < K; ++k) {
    Vec<T> bv[group_count][vector_count];
    GRURUN_UNROLL for (size_t g = 0; g < group_count; ++g) {
      const T* row = b.row(g, k);
      GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
        bv[g][v] = hn::LoadU(d, row + v * lanes);
        if constexpr (row_count > 1) bv[g][v] = kept(bv[g][v]);
        if constexpr (Rows::are_packed) hn::Store(bv[g][v], d, b.packed_row(k) + v * lanes);
      }
    }
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
      const Vec<T> a = hn::Set(d, A[r * lda + k]);
      GRURUN_UNROLL for (size_t g = 0; g < group_count; ++g) {
        GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) sum[r][g][v] =
            hn::MulAdd(a, bv[g][v], sum[r][g][v]);
      }
    }
  }

  const bool plain = e.alpha == 1 && e.beta == 0;
  const Vec<T> alpha = hn::Set(d, e.alpha), beta = hn::Set(d, e.beta);
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    GRURUN_UNROLL for (size_t g = 0; g < group_count; ++g) {
      GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
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
template <size_t row_count, template <class> class Product, class T>
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
      return tile<row_count, 1, 1>(A, lda, b, K, C, ldc, at, e);
    case 2:
      return tile<row_count, 1, 2>(A, lda, b, K, C, ldc, at, e);
    default:
      return tile<row_count, 1, tile_vectors(row_count)>(A, lda, b, K, C, ldc, at, e);
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
    case 4:
      return rows_times_vectors<4>(vectors, p, row, column, C, ldc);
    case 5:
      return rows_times_vectors<5>(vectors, p, row, column, C, ldc);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
    case 6:
      return rows_times_vectors<6>(vectors, p, row, column, C, ldc);
    case 7:
      return rows_times_vectors<7>(vectors, p, row, column, C, ldc);
#endif
    default:
      return rows_times_vectors<tile_rows>(vectors, p, row, column, C, ldc);
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
  HWY_ALIGN T copy[tile_rows * columns_of_panel<T>];
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
  const size_t tiles = (total + tile_rows - 1) / tile_rows;
  for (size_t t = 0, row = 0; t < tiles; ++t) {
    const size_t rows = total / tiles + (t < total % tiles ? 1 : 0);
    const size_t most = tile_vectors(rows);
    for (size_t column = 0; column < columns; column += most * lanes) {
      const size_t left = columns - column;
      const size_t vectors = std::min(most, (left + lanes - 1) / lanes);
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

template <class T>
void pack_and_multiply(const GatheredProduct<T>& p, T* packed) {
  constexpr auto most = static_cast<int64_t>(tile_rows), unit = columns_of_vector<T>;
  const int64_t tiles = (p.rows + most - 1) / most;
  if (tiles <= 1) return panel(p);
  GatheredProduct<T> first = p;
  first.rows = (p.rows + tiles - 1) / tiles;
  const int64_t width = (p.columns + unit - 1) / unit * unit;
  panel(PackingProduct<T>{first, packed, width});
  Epilogue<T> epilogue = p.epilogue;
  if (epilogue.row_bias) epilogue.row_bias += first.rows;
  panel(PanelProduct<T>{p.rows - first.rows, p.columns, p.K, p.A + first.rows * p.lda, p.lda, packed, width,
                        p.C + first.rows * p.ldc, p.ldc, epilogue});
}

template <size_t group_count, class T>
HWY_INLINE void row_times_groups(const RowProduct<T>& p, size_t group) {
  const size_t width = row_vectors * hn::Lanes(Tag<T>());
  const size_t groups_a_panel = together * columns_of_vector<T> / width;
  StridedRows<group_count, T> b{{}, static_cast<size_t>(p.ldb)};
  size_t column[group_count];
  for (size_t g = 0; g < group_count; ++g) {
    const size_t panel = (group + g) / groups_a_panel, part = (group + g) % groups_a_panel;
    b.next[g] = p.B + panel * p.panel_stride + part * width;
    column[g] = (group + g) * width;
  }
  tile<1, group_count, row_vectors>(p.a, 0, b, static_cast<size_t>(p.K), p.C, 0, column, p.epilogue);
}

template <class T>
void row(const RowProduct<T>& p) {
  const size_t width = row_vectors * hn::Lanes(Tag<T>());
  const size_t groups = static_cast<size_t>(p.panels) * together * columns_of_vector<T> / width;
  size_t g = 0;
  for (; g + 4 <= groups; g += 4) row_times_groups<4>(p, g);
  for (; g + 2 <= groups; g += 2) row_times_groups<2>(p, g);
  for (; g < groups; ++g) row_times_groups<1>(p, g);
}

// Two multiply-adds a cycle, or as many multiplications and additions.
PanelTile tile_in_use() {
  constexpr size_t vector_count = columns_of_vector<float> / hn::MaxLanes(Tag<float>());
  return {tile_rows, static_cast<int64_t>(tile_rows * vector_count / 2), together};
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
void packing_f32(const GatheredProduct<float>& p, float* packed) {
  pack_and_multiply(p, packed);
}
void packing_f64(const GatheredProduct<double>& p, double* packed) {
  pack_and_multiply(p, packed);
}
void row_f32(const RowProduct<float>& p) {
  row(p);
}
void row_f64(const RowProduct<double>& p) {
  row(p);
}
}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(tile_in_use);
HWY_EXPORT(panel_f32);
HWY_EXPORT(panel_f64);
HWY_EXPORT(gathered_f32);
HWY_EXPORT(gathered_f64);
HWY_EXPORT(packing_f32);
HWY_EXPORT(packing_f64);
HWY_EXPORT(row_f32);
HWY_EXPORT(row_f64);

PanelTile panel_tile() {
  return HWY_DYNAMIC_DISPATCH(tile_in_use)();
}
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
void multiply_gathered(const GatheredProduct<float>& p, float* packed) {
  HWY_DYNAMIC_DISPATCH(packing_f32)(p, packed);
}
void multiply_gathered(const GatheredProduct<double>& p, double* packed) {
  HWY_DYNAMIC_DISPATCH(packing_f64)(p, packed);
}
void multiply_row(const RowProduct<float>& p) {
  HWY_DYNAMIC_DISPATCH(row_f32)(p);
}
void multiply_row(const RowProduct<double>& p) {
  HWY_DYNAMIC_DISPATCH(row_f64)(p);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
