// The rows of a recurrent product in blocks, and in pieces for the tile registers, for every instruction set.
// Included by sources that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_ROW_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_ROW_BLOCKS_INL
#undef GRURUN_ROW_BLOCKS_INL
#else
#define GRURUN_ROW_BLOCKS_INL
#endif

#include <algorithm>
#include <cstddef>
#include <memory>

#include "engine/kernels/recurrent.h"
#include "engine/kernels/tile_product-inl.h"
#include "hwy/highway.h"
#include "tensor/memory.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {

constexpr size_t kRowBlock = 32;  // rows whose sums are held at a time

/// A run of things that are counted, and its share `i` of `n`.
struct Span {
  size_t begin, end;

  Span part(size_t i, size_t n) const {
    const size_t count = end - begin;
    return {begin + count * i / n, begin + count * (i + 1) / n};
  }
};

/// Rows in blocks of about the same number, at most kRowBlock.
struct RowBlocks {
  size_t rows;

  size_t count() const { return (rows + kRowBlock - 1) / kRowBlock; }
  Span block(size_t i) const {
    const Span all{0, rows};
    return rows <= kRowBlock ? all : all.part(i, count());
  }
};

#if GRURUN_TILES
static_assert(kTiledRows == kRowBlock);
// Smaller products take longer to split than to multiply.
constexpr size_t kLeastTiledRows = 15, kLeastTiledK = 128, kLeastTiledColumns = 256;

/// Blocks of rows in pieces, for the tile registers.
class SplitBlocks {
 public:
  SplitBlocks(const RowBlocks& rows, Span blocks, size_t K, Rows<const float> A)
      : first_(blocks.begin),
        block_bytes_(sizeof(SplitRows) + SplitRows::bytes(std::min(rows.rows, kRowBlock), K)),
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
  return rows >= kLeastTiledRows && static_cast<size_t>(weights.K()) >= kLeastTiledK &&
         static_cast<size_t>(weights.width()) >= kLeastTiledColumns && weights.suits_tiles() &&
         tile_registers();
}
#else
class SplitRows;
#endif

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
