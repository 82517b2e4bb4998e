// The rows of a recurrent product in blocks, and copied as products want them: further apart, scaled, or in
// pieces for the tile registers. For every instruction set.
// Included by sources that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_ROW_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_ROW_BLOCKS_INL
#undef GRURUN_ROW_BLOCKS_INL
#else
#define GRURUN_ROW_BLOCKS_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>

#include "engine/kernels/gates/gate_product-inl.h"
#include "engine/kernels/gates/recurrent.h"
#include "engine/kernels/gemm/tile_product-inl.h"
#include "hwy/highway.h"
#include "tensor/memory/memory.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t row_block = 32;        // rows whose sums are held at a time
constexpr size_t least_group_rows = 4;  // few rows are held for several panels, to have this many

/// A run of things that are counted, and its share `i` of `n`.
struct Span {
  size_t begin, end;

  Span part(size_t i, size_t n) const {
    const size_t count = end - begin;
    return {begin + count * i / n, begin + count * (i + 1) / n};
  }
};

/// Rows in blocks of about the same number, at most row_block.
struct RowBlocks {
  size_t rows;

  size_t count() const { return (rows + row_block - 1) / row_block; }
  Span block(size_t i) const {
    const Span all{0, rows};
    return rows <= row_block ? all : all.part(i, count());
  }
};

/// Rows of K elements, copied to places further apart if they all begin in the same few sets of the first
/// cache, which then holds too few of them at a time.
template <class T>
class ApartRows {
 public:
  ApartRows(size_t rows, size_t K, Rows<const T> from) : rows_(from) {
    constexpr size_t line = tuning::cache_line;
    if (rows < least_group_rows || static_cast<size_t>(from.ld) * sizeof(T) % tuning::cache_way != 0) return;
    const size_t ld = (K * sizeof(T) / line + 1) * line / sizeof(T);
    copy_.emplace(rows * ld * sizeof(T));
    T* to = static_cast<T*>(copy_->data());
    for (size_t i = 0; i < rows; ++i) std::copy_n(from.row(static_cast<int64_t>(i)), K, to + i * ld);
    rows_ = {to, static_cast<int64_t>(ld)};
  }

  Rows<const T> rows() const { return rows_; }

 private:
  Rows<const T> rows_;
  std::optional<memory::Block> copy_;
};

/// Few rows of K elements times 2^shift, as compact weights want them; none where weights are not compact or
/// rows too large for that.
template <class T>
class ScaledRows {
 public:
  ScaledRows(int64_t rows, const GatePanels<T>& weights, Rows<const T> from) {
    if constexpr (has_compact<T>) {
      const CompactPanels* compact = weights.compact();
      if (compact != nullptr && rows > 0 && from.data != nullptr)
        scale(rows, weights.K(), compact->shift(), from);
    }
  }

  const Rows<const T>& rows() const { return rows_; }

 private:
  HWY_NOINLINE void scale(int64_t rows, int64_t K, int shift, Rows<const T> from) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t ld = (K + lanes - 1) / lanes * lanes;
    copy_.emplace(static_cast<size_t>(rows * ld) * sizeof(T));
    T* const to = static_cast<T*>(copy_->data());
    const auto factor = hn::Set(d, std::ldexp(T{1}, shift));
    const auto most = hn::Set(d, std::ldexp(std::numeric_limits<T>::max(), -shift));
    auto outside = hn::FirstN(d, 0);
    const auto take = [&](auto x, T* place) HWY_ATTR {
      outside = hn::Or(outside, hn::Not(hn::Le(hn::Abs(x), most)));
      hn::Store(hn::Mul(x, factor), d, place);
    };
    for (int64_t i = 0; i < rows; ++i) {
      const T* x = from.row(i);
      int64_t k = 0;
      for (; k + lanes <= K; k += lanes) take(hn::LoadU(d, x + k), to + i * ld + k);
      if (k < K) take(hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(K - k)), d, x + k), to + i * ld + k);
    }
    // A product that is too large now might not have been.
    if (hn::AllFalse(d, outside)) rows_ = {to, ld};
  }

  std::optional<memory::Block> copy_;
  Rows<const T> rows_;
};

#if GRURUN_TILES
static_assert(tiled_rows == row_block);
/// Blocks of rows in pieces, for the tile registers.
class SplitBlocks {
 public:
  SplitBlocks(const RowBlocks& rows, Span blocks, size_t K, Rows<const float> A)
      : first_(blocks.begin),
        block_bytes_(sizeof(SplitRows) + SplitRows::bytes(std::min(rows.rows, row_block), K)),
        memory_((blocks.end - blocks.begin) * block_bytes_) {
    for (size_t i = blocks.begin; i < blocks.end; ++i) {
      const Span block = rows.block(i);
      std::construct_at(at(i), block.end - block.begin, K, A.row(static_cast<int64_t>(block.begin)),
                        static_cast<size_t>(A.ld), reinterpret_cast<char*>(at(i) + 1));
    }
  }
  ~SplitBlocks() { release_tiles(); }

  SplitRows* at(size_t i) const {
    return reinterpret_cast<SplitRows*>(static_cast<char*>(memory_.data()) + (i - first_) * block_bytes_);
  }

 private:
  size_t first_, block_bytes_;
  memory::Block memory_;
};

/// Whether rows times weights go through the tile registers.
inline bool suit_tiles(size_t rows, const GatePanels<float>& weights) {
  return static_cast<int64_t>(rows) >= tuning::least_tiled_rows && may_be_tiled(weights);
}
#else
class SplitRows;
#endif

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
