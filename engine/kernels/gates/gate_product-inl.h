// Rows times a panel of gates, for every instruction set. Included by sources that compile per target, after
// hwy/foreach_target.h.
#if defined(GRURUN_GATE_PRODUCT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_GATE_PRODUCT_INL
#undef GRURUN_GATE_PRODUCT_INL
#else
#define GRURUN_GATE_PRODUCT_INL
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <type_traits>

#include "engine/kernels/gates/compact_panels.h"
#include "engine/kernels/gates/gate_panels.h"
#include "engine/kernels/machine/keep-inl.h"
#include "engine/kernels/machine/unroll.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A tile's sums leave registers for a row of B and the broadcast of A.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr size_t most_sums = 24, registers = 32;
#else
constexpr size_t most_sums = 12, registers = 16;
#endif
constexpr size_t most_tile_rows = 8;

/// The rows of the highest tile.
constexpr size_t tile_rows(size_t vectors) {
  return std::min(most_tile_rows, most_sums / vectors);
}

template <size_t n>
using Count = std::integral_constant<size_t, n>;

/// The widest vectors take a gate's columns, up to four of them, in one tile.
template <class T>
constexpr bool is_widest = hn::MaxLanes(hn::ScalableTag<T>()) * sizeof(T) == 64;

/// Vectors in a line of B; see GatePanels.
template <class T>
constexpr size_t line_vectors = gate_lanes<T> / hn::MaxLanes(hn::ScalableTag<T>());

/// C [rows, columns] = start [columns] + A [rows, K] * B [K, columns], B as it lies in a gate of GatePanels;
/// start may be nullptr. The same A with each of `panels` matrices B, one after the other or, `descending`,
/// the last one first; their C and their starts are `panel_stride` apart. `ahead`: memory that will be needed
/// next, of which up to `ahead_lines` lines of 64 bytes are fetched into L2 along the way. W is the type that
/// B lies in memory in: T, or float for double.
template <class T, class W>
struct GateProduct {
  using Number = T;
  size_t K;
  const T* A;
  size_t lda;
  const W* B;
  size_t columns;
  const T* start;
  T* C;
  size_t ldc;
  size_t panels;
  size_t panel_stride;
  bool descending;
  const char* ahead;
  size_t ahead_lines;

  void skip_rows(size_t rows) {
    A += rows * lda;
    C += rows * ldc;
  }
};

/// Whether there are products with CompactPanels, which are laid out for these vectors; rotations and choices
/// of bits are one instruction each here.
template <class T>
constexpr bool has_compact = (HWY_TARGET == HWY_AVX3) && std::is_same_v<T, float>;

/// The same with matrices of CompactPanels, from `matrix` on; B is not used. `scaled`: A * 2^shift of
/// `compact`, or nullptr where that is too large: then groups are unpacked, which takes longer.
struct CompactProduct : GateProduct<float, float> {
  const CompactPanels* compact;
  size_t matrix;
  const float* scaled;
  size_t ld_scaled;

  void skip_rows(size_t rows) {
    GateProduct::skip_rows(rows);
    if (scaled != nullptr) scaled += rows * ld_scaled;
  }
};

/// Where a tile is in A: rows are reached from two pointers, since one for each would take more registers
/// than there are.
template <class T>
struct TileRows {
  const T* first;
  const T* fifth;
  size_t ld, twice, thrice;

  TileRows(const T* A, size_t lda) : first(A), fifth(A + 4 * lda), ld(lda), twice(2 * lda), thrice(3 * lda) {}

  HWY_INLINE const T* row(size_t r) const {
    const T* base = r < 4 ? first : fifth;
    return r % 4 == 0 ? base : r % 4 == 1 ? base + ld : r % 4 == 2 ? base + twice : base + thrice;
  }

  HWY_INLINE void advance(size_t steps) {
    first += steps;
    fifth += steps;
  }
};

template <class D, class W>
HWY_INLINE hn::Vec<D> load_weights(D d, const W* b) {
  if constexpr (std::is_same_v<W, hn::TFromD<D>>) {
    return hn::LoadU(d, b);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<W, D>(), b));
  }
}

/// One group of eight rows of a compact matrix: sums[way][row][vector] of a tile, in the order of tile().
template <size_t row_count, size_t vector_count, size_t way_count>
HWY_INLINE void add_compact_group(
    const float* HWY_RESTRICT words, const TileRows<float>& scaled,
    hn::Vec<hn::ScalableTag<float>> (&sums)[way_count][row_count][vector_count]) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<uint32_t> du;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t lanes = hn::MaxLanes(d);
  const auto spare = hn::Set(du, CompactPanels::spare_bits);
  const auto add = [&](auto row, const V(&bv)[vector_count]) HWY_ATTR {
    constexpr size_t u = decltype(row)::value;
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
      const V a = hn::Set(d, scaled.row(r)[u]);
      GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) sums[u % way_count][r][v] =
          hn::MulAdd(a, bv[v], sums[u % way_count][r][v]);
    }
  };
  hn::Vec<decltype(du)> eighth[vector_count];
  const auto add_row = [&](auto row) HWY_ATTR {
    constexpr size_t u = decltype(row)::value;
    constexpr int left = 4 * (static_cast<int>(u) + 1);
    const auto its_bits = hn::Set(du, std::rotl(CompactPanels::spare_bits, left));
    V bv[vector_count];
    GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
      const auto word = hn::BitCast(du, kept(hn::LoadU(d, words + (u * vector_count + v) * lanes)));
      bv[v] = hn::BitCast(d, hn::AndNot(spare, word));
      const auto rotated = hn::RotateRight<32 - left>(word);
      eighth[v] = u == 0 ? hn::And(rotated, its_bits) : hn::OrAnd(eighth[v], rotated, its_bits);
    }
    add(row, bv);
  };
  add_row(Count<0>());
  add_row(Count<1>());
  add_row(Count<2>());
  add_row(Count<3>());
  add_row(Count<4>());
  add_row(Count<5>());
  add_row(Count<6>());
  V bv[vector_count];
  GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) bv[v] = hn::BitCast(d, eighth[v]);
  add(Count<7>(), bv);
}

/// All groups of a matrix, and where the words end; A is at the rows after them then. add_dense(group) adds
/// eight rows of the matrix as they are, from where A is.
template <size_t row_count, size_t vector_count, size_t way_count, class AddDense>
HWY_INLINE const float* add_compact(
    const CompactProduct& p, size_t matrix, TileRows<float>& A,
    hn::Vec<hn::ScalableTag<float>> (&sums)[way_count][row_count][vector_count], const AddDense& add_dense) {
  constexpr size_t group_rows = CompactPanels::group_rows;
  constexpr size_t columns = vector_count * hn::MaxLanes(hn::ScalableTag<float>());
  const CompactPanels::Matrix panel = p.compact->matrix(static_cast<int64_t>(matrix));
  const uint32_t* runs = panel.runs;
  const float* words = panel.words;
  TileRows<float> scaled(p.scaled, p.ld_scaled);
  HWY_ALIGN float unpacked[group_rows * columns];
  for (size_t left = p.K / group_rows; left > 0; left -= runs[0] + runs[1], runs += 2) {
    if (p.scaled != nullptr) {
      for (size_t g = 0; g < runs[0]; ++g, words += (group_rows - 1) * columns, scaled.advance(group_rows)) {
        add_compact_group<row_count, vector_count, way_count>(words, scaled, sums);
      }
      A.advance(runs[0] * group_rows);
      scaled.advance(runs[1] * group_rows);
    } else {
      for (size_t g = 0; g < runs[0]; ++g, words += (group_rows - 1) * columns) {
        p.compact->unpack_group(words, columns, unpacked);
        add_dense(unpacked);
      }
    }
    for (size_t g = 0; g < runs[1]; ++g, words += group_rows * columns) add_dense(words);
  }
  return words;
}

template <size_t row_count, size_t vector_count, size_t way_count, class P>
HWY_NOINLINE void tile(const P& p) {
  using T = typename P::Number;
  constexpr bool is_compact = std::is_same_v<P, CompactProduct>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t unrolled = std::max<size_t>(2, way_count);
  constexpr size_t lanes = hn::MaxLanes(d);
  constexpr bool keeps_weights =
      row_count > 1 && way_count * row_count * vector_count + vector_count < registers;
  // From row to row of B, and from vector to vector: those of a line are side by side.
  constexpr size_t ldb = is_widest<T> ? vector_count * lanes : gate_lanes<T>;
  constexpr size_t together = is_widest<T> ? vector_count : line_vectors<T>;
  const size_t ldc = p.ldc, K = p.K, line_stride = K * ldb;
  for (size_t i = 0; i < p.panels; ++i) {
    const size_t panel = p.descending ? p.panels - 1 - i : i;
    auto* HWY_RESTRICT b = p.B;
    if constexpr (!is_compact) b += panel * K * p.columns;
    T* C = p.C + panel * p.panel_stride;
    V sum[way_count][row_count][vector_count];
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
      GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
        sum[0][r][v] = hn::Zero(d);
        if (p.start) sum[0][r][v] = hn::LoadU(d, p.start + panel * p.panel_stride + v * lanes);
        GRURUN_UNROLL for (size_t w = 1; w < way_count; ++w) sum[w][r][v] = hn::Zero(d);
      }
    }
    TileRows<T> A(p.A, p.lda);
    const auto steps = [&](auto count) HWY_ATTR {
      constexpr size_t step_count = decltype(count)::value;
      GRURUN_UNROLL for (size_t u = 0; u < step_count; ++u) {
        V bv[vector_count];
        GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
          bv[v] = load_weights(d, b + v / together * line_stride + u * ldb + v % together * lanes);
          if constexpr (keeps_weights) bv[v] = kept(bv[v]);
        }
        GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
          const V a = hn::Set(d, A.row(r)[u]);
          V* HWY_RESTRICT sums = sum[u % way_count][r];
          GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) sums[v] = hn::MulAdd(a, bv[v], sums[v]);
        }
      }
      A.advance(step_count);
      b += step_count * ldb;
    };
    size_t k = 0;
    if constexpr (is_compact) {
      constexpr size_t group_rows = CompactPanels::group_rows;
      k = K / group_rows * group_rows;
      b = add_compact(p, p.matrix + panel, A, sum, [&](const float* group) HWY_ATTR {
        b = group;
        for (size_t step = 0; step < group_rows; step += unrolled) steps(Count<unrolled>());
      });
    } else if constexpr (row_count >= 3 && way_count <= 2) {
      // No more of them at a time than it takes: they keep B waiting. Where sums are split four ways, steps
      // of two would make sums depend on how much is fetched.
      const size_t pairs = K / 2, lines = std::min(p.ahead_lines, 2 * pairs);
      const char* ahead = p.ahead;
      for (size_t i = pairs; i < lines; ++i, k += 2, ahead += 128) {
        __builtin_prefetch(ahead, 0, 2);
        __builtin_prefetch(ahead + 64, 0, 2);
        steps(Count<2>());
      }
      for (const char* end = p.ahead + 64 * lines; ahead < end; ahead += 64, k += 2) {
        __builtin_prefetch(ahead, 0, 2);
        steps(Count<2>());
      }
    }
    for (; k + unrolled <= K; k += unrolled) steps(Count<unrolled>());
    for (; k < K; ++k) steps(Count<1>());

    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
      GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
        GRURUN_UNROLL for (size_t w = 1; w < way_count; ++w) {
          sum[0][r][v] = hn::Add(sum[0][r][v], sum[w][r][v]);
        }
        hn::StoreU(sum[0][r][v], d, C + r * ldc + v * lanes);
      }
    }
  }
}

/// The tile of so many rows. Where it is one of several, its sums are not split: what a row gives must not
/// depend on how high the tile is that it falls into, and each is then half the highest at least.
template <size_t vector_count, bool one_of_several, class P>
HWY_INLINE void tile_of_rows(size_t rows, const P& p) {
  constexpr size_t most_rows = tile_rows(vector_count), least_rows = one_of_several ? (most_rows + 1) / 2 : 1;
  const auto of = [&](auto height) HWY_ATTR {
    constexpr size_t row_count = std::clamp(decltype(height)::value, least_rows, most_rows);
    tile<row_count, vector_count, one_of_several ? 1 : tile_ways(row_count, vector_count)>(p);
  };
  switch (rows) {
    case 1:
      return of(Count<1>());
    case 2:
      return of(Count<2>());
    case 3:
      return of(Count<3>());
    case 4:
      return of(Count<4>());
    case 5:
      return of(Count<5>());
    case 6:
      return of(Count<6>());
    case 7:
      return of(Count<7>());
    default:
      return of(Count<8>());
  }
}

/// Any number of rows times vector_count vectors. Rows are split evenly: 9 are 5 + 4, not 8 + 1.
template <size_t vector_count, class P>
HWY_INLINE void column_of_tiles(size_t rows, const P& all) {
  constexpr size_t most_rows = tile_rows(vector_count);
  const size_t tiles = (rows + most_rows - 1) / most_rows;
  if (tiles == 1) return tile_of_rows<vector_count, false>(rows, all);
  P p = all;
  for (size_t t = 0, lines = p.ahead_lines; t < tiles; ++t) {
    const size_t height = rows / tiles + (t < rows % tiles ? 1 : 0);
    p.ahead_lines = lines * (t + 1) / tiles - lines * t / tiles;
    tile_of_rows<vector_count, true>(height, p);
    p.skip_rows(height);
    p.ahead += 64 * p.ahead_lines;
  }
}

/// Vectors of the next tile when `left` are left: of one line, or of as many lines as the sums allow where
/// that makes B be read once.
template <class T>
HWY_INLINE size_t next_tile(size_t rows, size_t left) {
  if (line_vectors < T >> 2) return rows == 1 ? 4 : 2;
  if (rows == 1 && (left == 6 || left == 2)) return left;
  return rows <= tile_rows(4) && left >= 4 ? 4 : 2;
}

/// Any number of rows times columns of up to four of the widest vectors. A product is handed on as it is
/// where it can be: a copy would wait for what was written to it just before.
template <class P>
void gate_product(size_t rows, const P& all) {
  using T = typename P::Number;
  constexpr size_t lanes = hn::MaxLanes(hn::ScalableTag<T>());
  if constexpr (is_widest<T>) {
    switch (all.columns / lanes) {
      case 1:
        return column_of_tiles<1>(rows, all);
      case 2:
        return column_of_tiles<2>(rows, all);
      case 3:
        return column_of_tiles<3>(rows, all);
      default:
        return column_of_tiles<4>(rows, all);
    }
  } else {
    P p = all;
    for (size_t column = 0; column < all.columns;) {
      const size_t vectors = next_tile<T>(rows, (all.columns - column) / lanes);
      const size_t end = column + vectors * lanes;
      p.B = all.B + column / gate_lanes<T> * gate_lanes<T> * all.K + column % gate_lanes<T>;
      p.ahead = all.ahead + 64 * (all.ahead_lines * column / all.columns);
      p.ahead_lines = all.ahead_lines * end / all.columns - all.ahead_lines * column / all.columns;
      switch (vectors) {
        case 2:
          column_of_tiles<2>(rows, p);
          break;
        case 4:
          column_of_tiles<4>(rows, p);
          break;
        default:
          column_of_tiles<6>(rows, p);
      }
      column = end;
      if (p.start) p.start += vectors * lanes;
      p.C += vectors * lanes;
    }
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
