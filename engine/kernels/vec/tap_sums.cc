#include "engine/kernels/vec/tap_sums.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/tap_sums.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/machine/keep-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// row_count rows of vector_count vectors of columns, of which `columns` are written. down_count: p.down,
/// or 1.
template <size_t row_count, size_t vector_count, size_t down_count, class T>
HWY_INLINE void sum_tile(const TapSums<T>& p, int64_t row, int64_t column, size_t columns) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t lanes = hn::MaxLanes(d);
  V sums[row_count][vector_count];
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) sums[r][v] = hn::Set(d, p.start);
  }
  const T* HWY_RESTRICT x = p.x + row * p.ldx + column;
  const int64_t across = p.taps / static_cast<int64_t>(down_count);
  for (int64_t k = 0; k < across; ++k) {
    V w[down_count];
    GRURUN_UNROLL for (size_t i = 0; i < down_count; ++i) {
      w[i] = hn::Set(d, p.w[static_cast<int64_t>(i) * across + k]);
    }
    const T* from = x + p.offset[k];
    GRURUN_UNROLL for (size_t u = 0; u < row_count + down_count - 1; ++u, from += p.ldx) {
      GRURUN_UNROLL for (size_t v = 0; v < vector_count; ++v) {
        const V read = kept(hn::LoadU(d, from + v * lanes));
        GRURUN_UNROLL for (size_t i = 0; i < down_count; ++i) {
          if (u >= i && u - i < row_count) sums[u - i][v] = hn::MulAdd(w[i], read, sums[u - i][v]);
        }
      }
    }
  }
  T* HWY_RESTRICT y = p.y + row * p.ldy + column;
  constexpr size_t before = (vector_count - 1) * lanes;
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r, y += p.ldy) {
    GRURUN_UNROLL for (size_t v = 0; v + 1 < vector_count; ++v) hn::StoreU(sums[r][v], d, y + v * lanes);
    store_first(sums[r][vector_count - 1], d, y + before, columns - before);
  }
}

/// All columns, vector_count vectors at a time, of row_count rows at a time; the last rows twice where they
/// fill no tile.
template <size_t row_count, size_t vector_count, size_t down_count, class T>
void sum_tiles(const TapSums<T>& p) {
  if constexpr (row_count > 1) {
    if (p.rows < static_cast<int64_t>(row_count))
      return sum_tiles<row_count / 2, vector_count, down_count>(p);
  }
  constexpr auto rows = static_cast<int64_t>(row_count);
  constexpr size_t lanes = hn::MaxLanes(hn::ScalableTag<T>());
  const auto columns = static_cast<size_t>(p.columns);
  for (int64_t row = 0; row < p.rows; row += rows) {
    const int64_t first = std::min(row, p.rows - rows);
    size_t at = 0;
    for (; at + vector_count * lanes <= columns; at += vector_count * lanes)
      sum_tile<row_count, vector_count, down_count>(p, first, static_cast<int64_t>(at), vector_count * lanes);
    for (; at < columns; at += lanes) {
      // Some columns twice, rather than a part of a vector, which AVX2 of AMD stores slowly.
      const size_t from = std::min(at, std::max(columns, lanes) - lanes);
      sum_tile<row_count, 1, down_count>(p, first, static_cast<int64_t>(from),
                                         std::min(columns - from, lanes));
    }
  }
}

// Eight sums at a time hide the latency of an addition.
template <class T>
void sum_all(const TapSums<T>& p) {
  switch (p.down) {
    case 3:
      return sum_tiles<8, 1, 3>(p);
    case 5:
      return sum_tiles<8, 1, 5>(p);
    case 7:
      return sum_tiles<8, 1, 7>(p);
    default:
      break;
  }
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  if (p.rows == 1) return sum_tiles<1, 8, 1>(p);
  if (p.columns <= lanes) return sum_tiles<8, 1, 1>(p);
  sum_tiles<4, 2, 1>(p);
}

void sum_floats(const TapSums<float>& p) {
  sum_all(p);
}
void sum_doubles(const TapSums<double>& p) {
  sum_all(p);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(sum_floats);
HWY_EXPORT(sum_doubles);

void sum_taps(const TapSums<float>& p) {
  HWY_DYNAMIC_DISPATCH(sum_floats)(p);
}
void sum_taps(const TapSums<double>& p) {
  HWY_DYNAMIC_DISPATCH(sum_doubles)(p);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
