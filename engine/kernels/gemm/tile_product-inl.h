// Products of float32 matrices on the tile registers of AMX, which multiply bfloat16 alone. Part of what is
// compiled for AVX-512, and used where tile_registers() (simd.h) says so. Included by sources that compile
// per target, after hwy/foreach_target.h. gate_product-inl.h and gemm_tile.h have what it computes in one
// line each.
//
// A float32 number is the sum of three bfloat16 numbers, of 8 bits each: a = a1 + a2 + a3. Their products are
// exact in float32, and six of the nine make up the product of two numbers,
//   a b = a1 b1 + a2 b1 + a2 b2 + a1 b2 + a1 b3 + a3 b1,
// but for 2^-22 |a b| at most. The tiles flush what is below 2^-126 to 0, and a part of an infinity is none:
// so numbers must be 0 or in range_of_tiles.
#if defined(GRURUN_TILE_PRODUCT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_TILE_PRODUCT_INL
#undef GRURUN_TILE_PRODUCT_INL
#else
#define GRURUN_TILE_PRODUCT_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/kernels/gemm/tile_range.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/machine/unroll.h"
#include "hwy/highway.h"

#undef GRURUN_TILES
#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
#define GRURUN_TILES 1
#else
#define GRURUN_TILES 0
#endif

#if GRURUN_TILES
HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t tile_height = 16;   // rows of a tile of A and C
constexpr size_t tile_width = 16;    // columns of a tile of B and C
constexpr size_t tile_depth = 32;    // columns of a tile of A, rows of one of B
constexpr size_t tile_bytes = 1024;  // of each
// A tile has elements k and k + pair_count side by side: two vectors give them without a permutation.
constexpr size_t pair_count = tile_depth / 2;
constexpr size_t pieces = 3;
constexpr size_t tiled_rows = 2 * tile_height;  // that are multiplied at a time

// Tile registers: sums from 0 on, row by row; then two of A and two of B.
constexpr int first_tile_a = 4, first_tile_b = 6;

template <int n>
using TileNumber = std::integral_constant<int, n>;

// For what loops call with tile numbers, which must be constants.
#undef GRURUN_TILE_BODY
#define GRURUN_TILE_BODY HWY_ATTR __attribute__((always_inline))

/// A tile whose rows lie one after the other.
template <int tile_number>
HWY_INLINE void load_tile(const char* from) {
  using Bytes = const char[tile_bytes];
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
               :
               : "r"(from), "r"(size_t{64}), "i"(tile_number), "m"(*reinterpret_cast<Bytes*>(from)));
}
template <int tile_number>
HWY_INLINE void load_sums(const float* from, size_t ld) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(ld * 4), "i"(tile_number) : "memory");
}
template <int tile_number>
HWY_INLINE void store_sums(float* to, size_t ld) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(ld * 4), "i"(tile_number) : "memory");
}
template <int tile_number>
HWY_INLINE void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(tile_number));
}
template <int tile_c, int tile_a, int tile_b>
HWY_INLINE void multiply_tiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(tile_c), "i"(tile_a), "i"(tile_b));
}

/// Pairs of bfloat16 numbers, as tiles want them: the upper halves of x, whose lower ones count for nothing,
/// and those of y, whose lower ones are 0.
template <class V>
HWY_INLINE hn::Vec<hn::ScalableTag<uint32_t>> join_pieces(V x, V y) {
  const hn::ScalableTag<uint32_t> du;
  return hn::Or(hn::ShiftRight<16>(hn::BitCast(du, x)), hn::BitCast(du, y));
}

/// Rows of A, [1 to tiled_rows, K], in pieces: for each tile_depth of K, for each piece, one or two tiles of
/// height() rows; of an odd number of rows both have the one in the middle. Rows that are not all 0 or in
/// range_of_tiles are taken as zeros.
class alignas(64) SplitRows {
 public:
  SplitRows() = default;

  static size_t depths(size_t K) { return (K + tile_depth - 1) / tile_depth; }
  static size_t tiles(size_t rows) { return rows > tile_height ? 2 : 1; }
  static size_t bytes(size_t rows, size_t K) { return depths(K) * pieces * tiles(rows) * tile_bytes; }

  /// `to` has bytes(rows, K), aligned to 64.
  SplitRows(size_t rows, size_t K, const float* A, size_t lda, char* to) : rows_(rows), data_(to) {
    for (size_t k = 0; k < K; k += tile_depth) {
      for (size_t tile = 0; tile < tiles(); ++tile, to += tile_bytes) {
        for (size_t r = 0; r < height(); ++r) {
          const size_t row = first_row(tile) + r;
          const bool suits = split_row(A + row * lda + k, K - k, to + 64 * r);
          outside_ |= static_cast<uint32_t>(!suits) << row;
        }
      }
      to += (pieces - 1) * tiles() * tile_bytes;
    }
    if (outside_ != 0) clear_outside(K);
  }

  size_t rows() const { return rows_; }
  size_t tiles() const { return tiles(rows_); }
  size_t height() const { return (rows_ + tiles() - 1) / tiles(); }
  size_t first_row(size_t tile) const { return tile == 0 ? 0 : rows_ - height(); }
  const char* data() const { return data_; }
  bool is_outside(size_t row) const { return (outside_ >> row & 1) != 0; }
  bool any_outside() const { return outside_ != 0; }

 private:
  // The first tile_depth columns of `left`, to where those of the first piece belong. True if they suit.
  HWY_INLINE bool split_row(const float* row, size_t left, char* to) const {
    const hn::ScalableTag<float> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto half = hn::Set(du, 0x8000u), high = hn::Set(du, 0xffff0000u);
    const auto round = [&](auto x) HWY_ATTR {
      return hn::BitCast(d, hn::And(hn::Add(hn::BitCast(du, x), half), high));
    };
    const size_t lanes = hn::Lanes(d);
    auto x = hn::Zero(d), y = hn::Zero(d);
    if (left >= tile_depth) {
      x = hn::LoadU(d, row), y = hn::LoadU(d, row + lanes);
    } else {
      x = hn::MaskedLoad(hn::FirstN(d, std::min(left, lanes)), d, row);
      if (left > lanes) y = hn::MaskedLoad(hn::FirstN(d, left - lanes), d, row + lanes);
    }
    const bool suits = in_range(x, y);
    GRURUN_UNROLL_PIECES for (size_t i = 0; i < pieces; ++i, to += tiles() * tile_bytes) {
      const bool is_last = i + 1 == pieces;  // 8 bits are left
      const auto x1 = is_last ? x : round(x), y1 = is_last ? y : round(y);
      hn::Store(join_pieces(x1, y1), du, reinterpret_cast<uint32_t*>(to));
      x = hn::Sub(x, x1), y = hn::Sub(y, y1);
    }
    return suits;
  }

  void clear_outside(size_t K) {
    for (size_t tile = 0; tile < tiles(); ++tile) {
      for (size_t r = 0; r < height(); ++r) {
        if (!is_outside(first_row(tile) + r)) continue;
        for (size_t i = tile; i < depths(K) * pieces * tiles(); i += tiles())
          std::memset(data_ + i * tile_bytes + 64 * r, 0, 64);
      }
    }
  }

  // Whether all numbers are 0 or in range_of_tiles.
  template <class V>
  static HWY_INLINE bool in_range(V x, V y) {
    const hn::ScalableTag<uint32_t> du;
    const auto outside = [&](V v) HWY_ATTR {
      const auto magnitude = hn::BitCast(du, hn::Abs(v));
      const auto beyond = hn::Gt(hn::Sub(magnitude, hn::Set(du, range_of_tiles.least)),
                                 hn::Set(du, range_of_tiles.most - range_of_tiles.least));
      return hn::IfThenElseZero(beyond, magnitude);
    };
    return hn::AllTrue(du, hn::Eq(hn::Or(outside(x), outside(y)), hn::Zero(du)));
  }

  size_t rows_ = 0;
  char* data_ = nullptr;
  uint32_t outside_ = 0;
};

/// Sets the tile registers up for these rows; release_tiles() when all is done.
inline void configure_tiles(const SplitRows& A) {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t rows[16] = {};
  } config;
  for (size_t i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = static_cast<uint8_t>(i < first_tile_b ? A.height() : tile_height);
  }
  asm volatile("ldtilecfg %0" : : "m"(config));
}
inline void release_tiles() {
  asm volatile("tilerelease" :);
}

/// Matrices B [K, columns] one after the other, each with rows `ldb` apart; columns are whole tiles.
struct TileFactor {
  size_t K, matrices, columns;
  const float* B;
  size_t ldb, stride;  // elements from row to row, from matrix to matrix
};

/// One or two tiles of columns of a matrix of a TileFactor, all of K; `tiles` is 0 behind the last one.
class TileColumns {
 public:
  explicit TileColumns(const TileFactor& of) : of_(&of) { narrow(); }

  TileColumns next() const {
    TileColumns next = *this;
    next.first_ += tiles_ * tile_width;
    if (next.first_ == of_->columns) ++next.matrix_, next.first_ = 0;
    next.narrow();
    return next;
  }

  size_t K() const { return of_->K; }
  size_t ldb() const { return of_->ldb; }
  size_t tiles() const { return tiles_; }
  size_t column() const { return matrix_ * of_->columns + first_; }
  const float* row(size_t k) const { return of_->B + matrix_ * of_->stride + first_ + k * of_->ldb; }

 private:
  void narrow() {
    tiles_ = matrix_ == of_->matrices ? 0 : std::min<size_t>(2, (of_->columns - first_) / tile_width);
  }

  const TileFactor* of_;
  size_t matrix_ = 0, first_ = 0, tiles_ = 0;
};

/// tile_depth rows of one or two tiles of columns, of which `left` are left.
struct RowsToSplit {
  const float* first;
  size_t ldb, left;

  RowsToSplit(const TileColumns& B, size_t k) : first(B.row(k)), ldb(B.ldb()), left(B.K() - k) {}
};

/// What rows i and i + pair_count of `tiles` tiles of B become in their pieces; zeros below the last row.
template <size_t tiles>
HWY_INLINE void split_pair(const RowsToSplit& B, size_t i, char* to) {
  HWY_ALIGN static constexpr float zeros[2 * tile_width] = {};
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto high = hn::Set(du, 0xffff0000u);
  const auto cut = [&](auto v) HWY_ATTR { return hn::BitCast(d, hn::And(hn::BitCast(du, v), high)); };
  const float* upper = i < B.left ? B.first + i * B.ldb : zeros;
  const float* lower = i + pair_count < B.left ? B.first + (i + pair_count) * B.ldb : zeros;
  GRURUN_UNROLL_PIECES for (size_t c = 0; c < tiles; ++c) {
    auto x = hn::LoadU(d, upper + c * tile_width), y = hn::LoadU(d, lower + c * tile_width);
    GRURUN_UNROLL_PIECES for (size_t piece = 0; piece < pieces; ++piece) {
      const auto x1 = cut(x), y1 = cut(y);
      hn::Store(join_pieces(x, y1), du,
                reinterpret_cast<uint32_t*>(to + (piece * tiles + c) * tile_bytes + 64 * i));
      x = hn::Sub(x, x1), y = hn::Sub(y, y1);
    }
  }
}
HWY_INLINE void split_pair(size_t tiles, const RowsToSplit& B, size_t i, char* to) {
  if (tiles == 2) split_pair<2>(B, i, to);
  if (tiles == 1) split_pair<1>(B, i, to);
}

/// Products of one or two rows of tiles with columns of B. While tile_depth of K are multiplied, those that
/// come next are split.
class TileProduct {
 public:
  explicit TileProduct(const SplitRows& A) : A_(A) {}

  void start(const TileColumns& B) {
    for (size_t i = 0; i < pair_count; ++i) split_pair(B.tiles(), {B, 0}, i, now_);
  }

  /// C [A.rows(), the columns] = A * B, or C + A * B; B is what start() or the last call named as next.
  template <size_t row_count, size_t column_count>
  void run(const TileColumns& B, const TileColumns& next, bool from_C, float* C, size_t ldc) {
    const size_t second = A_.first_row(1) * ldc;
    each_sum<row_count, column_count>([&](auto sum, auto r, auto c) GRURUN_TILE_BODY {
      if (from_C) {
        load_sums<sum()>(C + r * second + c * tile_width, ldc);
      } else {
        clear_tile<sum()>();
      }
    });
    const char* A = A_.data();
    for (size_t k = tile_depth; k < B.K(); k += tile_depth, A += pieces * row_count * tile_bytes) {
      depth<row_count, column_count>(A, [rows = RowsToSplit(B, k), to = then_](size_t i)
                                            GRURUN_TILE_BODY { split_pair<column_count>(rows, i, to); });
    }
    depth<row_count, column_count>(A, [rows = RowsToSplit(next, 0), tiles = next.tiles(), to = then_](
                                          size_t i) GRURUN_TILE_BODY { split_pair(tiles, rows, i, to); });
    each_sum<row_count, column_count>([&](auto sum, auto r, auto c) GRURUN_TILE_BODY {
      store_sums<sum()>(C + r * second + c * tile_width, ldc);
    });
  }

 private:
  // body(number of the tile, its row and column, as constants)
  template <size_t row_count, size_t column_count, size_t n = 0, class Body>
  static HWY_INLINE void each_sum(Body body) {
    if constexpr (n < row_count * column_count) {
      body(TileNumber<n>(), TileNumber<n / column_count>(), TileNumber<n % column_count>());
      each_sum<row_count, column_count, n + 1>(body);
    }
  }

  /// All products of tile_depth of K; between them split(i) for each pair i of rows.
  template <size_t row_count, size_t column_count, class Split>
  HWY_INLINE void depth(const char* A, Split split) {
    constexpr size_t products = 6 * row_count * column_count;
    const char* B = now_;
    const auto load_A = [&](size_t piece) GRURUN_TILE_BODY {
      load_tile<first_tile_a>(A + piece * row_count * tile_bytes);
      if constexpr (row_count == 2) load_tile<first_tile_a + 1>(A + (piece * row_count + 1) * tile_bytes);
    };
    const auto load_B = [&](size_t piece) GRURUN_TILE_BODY {
      load_tile<first_tile_b>(B + piece * column_count * tile_bytes);
      if constexpr (column_count == 2)
        load_tile<first_tile_b + 1>(B + (piece * column_count + 1) * tile_bytes);
    };
    size_t done = 0;
    const auto multiply = [&]() GRURUN_TILE_BODY {
      each_sum<row_count, column_count>([&](auto sum, auto r, auto c) GRURUN_TILE_BODY {
        multiply_tiles<sum(), first_tile_a + r(), first_tile_b + c()>();
        const size_t pairs = pair_count * (done + 1) / products;
        for (size_t i = pair_count * done++ / products; i < pairs; ++i) split(i);
      });
    };
    load_A(0), load_B(0), multiply();
    load_A(1), multiply();
    load_B(1), multiply();
    load_A(0), multiply();
    load_B(2), multiply();
    load_A(2), load_B(0), multiply();
    std::swap(now_, then_);
  }

  const SplitRows& A_;
  char *now_ = pieces_[0], *then_ = pieces_[1];
  HWY_ALIGN char pieces_[2][pieces * 2 * tile_bytes];
};

/// C [A.rows(), columns] = start + A * B for each matrix B, or C + A * B if from_C; start [columns] may be
/// nullptr, and the C and start of a matrix follow those of the one before. Tiles are configured for A.
HWY_NOINLINE inline void tile_product(const SplitRows& A, const TileFactor& B, const float* start,
                                      bool from_C, float* C, size_t ldc) {
  for (size_t r = 0; start != nullptr && r < A.rows(); ++r)
    std::copy_n(start, B.matrices * B.columns, C + r * ldc);
  from_C |= start != nullptr;
  TileProduct product(A);
  TileColumns columns(B);
  product.start(columns);
  while (columns.tiles() > 0) {
    const TileColumns next = columns.next();
    float* const to = C + columns.column();
    if (columns.tiles() == 2) {
      A.tiles() == 2 ? product.run<2, 2>(columns, next, from_C, to, ldc)
                     : product.run<1, 2>(columns, next, from_C, to, ldc);
    } else {
      A.tiles() == 2 ? product.run<2, 1>(columns, next, from_C, to, ldc)
                     : product.run<1, 1>(columns, next, from_C, to, ldc);
    }
    columns = next;
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // GRURUN_TILES

#endif  // per-target include guard
