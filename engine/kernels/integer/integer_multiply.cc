#include <cstddef>
#include <cstring>
#include <span>

#include "engine/kernels/integer/integer_panels.h"
#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/integer/integer_multiply.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/machine/keep-inl.h"
#include "engine/kernels/machine/unroll.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"
#include "tensor/error.h"

#ifndef GRURUN_KERNELS_INTEGER_MULTIPLY
#define GRURUN_KERNELS_INTEGER_MULTIPLY
namespace grurun::kernels {
namespace {

/// What multiply_integers() is given.
struct IntegerProduct {
  const uint8_t* a;  // the first row
  size_t row_bytes;
  std::span<const int64_t> offsets;
  const int32_t *zero_points, *sums;  // of rows, so many elements apart:
  size_t zero_step, sum_step;
  const IntegerPanels& b;
  int32_t* to;
  size_t ld;
  int64_t first;                       // panel
  const ScaledSums* scaled = nullptr;  // instead of `to`
};

}  // namespace
}  // namespace grurun::kernels
#endif  // GRURUN_KERNELS_INTEGER_MULTIPLY

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DI = hn::ScalableTag<int32_t>;
using VI = hn::Vec<DI>;

constexpr size_t panel_width = IntegerPanels::column_count;
constexpr size_t vector_count = panel_width / hn::MaxLanes(DI());  // of a panel
// Sums, and what multiplies them, fit into the registers.
constexpr size_t most_panels = HWY_TARGET == HWY_AVX3 ? 3 : 1;
constexpr size_t most_rows = vector_count == 1 ? 8 : HWY_TARGET == HWY_AVX2 ? 6 : vector_count == 2 ? 4 : 2;

/// Rows of A, in parts of `groups` groups, times panels of B.
struct IntegerTile {
  const uint8_t* a;
  size_t row_bytes;
  std::span<const int64_t> offsets;  // of the parts of a row
  const int8_t* b;
  size_t panel_bytes;
  size_t groups;
};

/// Sums of row_count rows and `width` vectors of columns, each in way_count parts that are added up at the
/// end; of int16, the second half of an element may be apart.
template <size_t way_count, size_t row_count, size_t width>
struct TileSums {
  VI first[way_count][row_count][width], second[way_count][row_count][width];

  HWY_INLINE TileSums() {
    GRURUN_UNROLL for (size_t w = 0; w < way_count; ++w) {
      GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
        GRURUN_UNROLL for (size_t v = 0; v < width; ++v) first[w][r][v] = second[w][r][v] = hn::Zero(DI());
      }
    }
  }
};

template <bool bytes>
HWY_INLINE void add_products(VI a, VI b, VI& first, VI& second) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (bytes) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(first.raw) : "v"(a.raw), "v"(b.raw));
    return;
  }
#endif
#if HWY_TARGET == HWY_SCALAR
  const auto add = [](VI& sum, int32_t product) {
    sum.raw = static_cast<int32_t>(static_cast<uint32_t>(sum.raw) + static_cast<uint32_t>(product));
  };
  add(first, int32_t{static_cast<int16_t>(a.raw)} * static_cast<int16_t>(b.raw));
  add(second, (a.raw >> 16) * (b.raw >> 16));
#else
  const hn::Repartition<int16_t, DI> half;
  // Kept, or GCC computes all products of a group first, for which there are not registers enough.
  first =
      kept(hn::ReorderWidenMulAccumulate(DI(), hn::BitCast(half, a), hn::BitCast(half, b), first, second));
#endif
}

HWY_INLINE VI sum_of_both(VI first, VI second) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Add(first, second);
#else
  return hn::RearrangeToOddPlusEven(first, second);
#endif
}

// Numbers of B in a group: as many as four bytes of A hold.
template <bool bytes>
constexpr size_t group_numbers = bytes ? 4 : 2;

/// Groups of so many columns as there are lanes, as add_products() takes them.
template <bool bytes>
HWY_INLINE VI load_groups(const int8_t* from) {
  const DI d;
  if constexpr (bytes) {
    return hn::LoadU(d, reinterpret_cast<const int32_t*>(from));
  } else {
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(d, from[1] * (1 << 16) + static_cast<uint16_t>(from[0]));
#else
    const hn::Repartition<int16_t, DI> half;
    return hn::BitCast(d, hn::PromoteTo(half, hn::LoadU(hn::Rebind<int8_t, decltype(half)>(), from)));
#endif
  }
}

/// Groups `group` ... group + now - 1, one for each of the first parts of sums.
template <bool bytes, size_t now, size_t way_count, size_t row_count, size_t width>
HWY_INLINE void add_groups(const IntegerTile& t, const uint8_t* a_part, const int8_t* b_part, size_t group,
                           TileSums<way_count, row_count, width>& sums) {
  const DI d;
  GRURUN_UNROLL for (size_t w = 0; w < now; ++w) {
    VI b[width];
    GRURUN_UNROLL for (size_t v = 0; v < width; ++v) {
      const int8_t* from = b_part + v / vector_count * t.panel_bytes;
      const size_t column = v % vector_count * hn::MaxLanes(d);
      b[v] = load_groups<bytes>(from + ((group + w) * panel_width + column) * group_numbers<bytes>);
    }
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
      int32_t numbers;
      std::memcpy(&numbers, a_part + r * t.row_bytes + (group + w) * 4, 4);
      const VI a = hn::Set(d, numbers);
      GRURUN_UNROLL for (size_t v = 0; v < width; ++v)
          add_products<bytes>(a, b[v], sums.first[w][r][v], sums.second[w][r][v]);
    }
  }
}

/// sums of a tile, not yet less what the zero points make of them.
template <bool bytes, size_t row_count, size_t width>
HWY_INLINE void sum_tile(const IntegerTile& t, VI (&out)[row_count][width]) {
  constexpr size_t way_count = tile_ways(row_count, width);
  TileSums<way_count, row_count, width> sums;
  const int8_t* b = t.b;
  for (const int64_t offset : t.offsets) {
    const uint8_t* a = t.a + offset;
    size_t group = 0;
    for (; group + way_count <= t.groups; group += way_count)
      add_groups<bytes, way_count>(t, a, b, group, sums);
    for (; group < t.groups; ++group) add_groups<bytes, 1>(t, a, b, group, sums);
    b += t.groups * group_numbers<bytes> * panel_width;
  }
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    GRURUN_UNROLL for (size_t v = 0; v < width; ++v) {
      VI sum = sum_of_both(sums.first[0][r][v], sums.second[0][r][v]);
      GRURUN_UNROLL for (size_t w = 1; w < way_count; ++w) sum =
          hn::Add(sum, sum_of_both(sums.first[w][r][v], sums.second[w][r][v]));
      out[r][v] = sum;
    }
  }
}

/// sums[r][v] -= of_rows[r * step] * of_columns[v]; step 0 takes one product for all rows.
template <size_t row_count, size_t width>
HWY_INLINE void subtract_products(const int32_t* of_rows, size_t step, const int32_t* of_columns,
                                  VI (&sums)[row_count][width]) {
  const DI d;
  VI columns[width];
  GRURUN_UNROLL for (size_t v = 0; v < width; ++v) columns[v] =
      hn::LoadU(d, of_columns + v * hn::MaxLanes(d));
  if (step == 0) {
    GRURUN_UNROLL for (size_t v = 0; v < width; ++v) columns[v] = hn::Mul(hn::Set(d, *of_rows), columns[v]);
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
      GRURUN_UNROLL for (size_t v = 0; v < width; ++v) sums[r][v] = hn::Sub(sums[r][v], columns[v]);
    }
    return;
  }
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    const VI factor = hn::Set(d, of_rows[r * step]);
    GRURUN_UNROLL for (size_t v = 0; v < width; ++v) sums[r][v] =
        hn::Sub(sums[r][v], hn::Mul(factor, columns[v]));
  }
}

/// Sums of row i for columns of B from `column` on; `left` of them are of B, the first of its panels begin at
/// `first`.
HWY_INLINE void store_scaled(VI sums, const ScaledSums& to, size_t i, size_t column, size_t first,
                             size_t left) {
  const hn::RebindToFloat<DI> d;
  const auto factor = hn::Mul(hn::Set(d, to.factor), load_first(d, to.scale + column, left));
  auto start = hn::Zero(d);
  if (to.start != nullptr)
    start = load_first(d, to.start + i * static_cast<size_t>(to.start_ld) + column - first, left);
  store_first(hn::Add(start, hn::Mul(factor, hn::ConvertTo(d, sums))), d,
              to.y + i * static_cast<size_t>(to.ld) + column - first, left);
}

template <bool bytes, size_t row_count, size_t panel_count>
void multiply_tile(const IntegerProduct& p, int64_t row, int64_t panel) {
  const DI d;
  const IntegerPanels& b = p.b;
  const auto groups = static_cast<size_t>(b.groups());
  VI sums[row_count][panel_count * vector_count];
  sum_tile<bytes>({p.a + static_cast<size_t>(row) * p.row_bytes, p.row_bytes, p.offsets, b.panel(panel),
                   static_cast<size_t>(b.panel_bytes()), groups / p.offsets.size()},
                  sums);
  // sum of (a - za) (b - zb) = sum of a b - za * sum of (b - zb) - zb * sum of a
  constexpr size_t lanes = hn::MaxLanes(DI());
  const size_t begin = static_cast<size_t>(panel) * panel_width, N = static_cast<size_t>(b.N());
  const size_t top = static_cast<size_t>(row), first = static_cast<size_t>(p.first) * panel_width;
  subtract_products(p.zero_points + top * p.zero_step, p.zero_step, b.sums() + begin, sums);
  if (b.has_zero_points())
    subtract_products(p.sums + top * p.sum_step, p.sum_step, b.zero_points() + begin, sums);
  if (p.scaled == nullptr && begin + panel_count * panel_width <= N) {
    int32_t* to = p.to + top * p.ld + (begin - first);
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r, to += p.ld) {
      GRURUN_UNROLL for (size_t v = 0; v < panel_count * vector_count; ++v)
          hn::StoreU(sums[r][v], d, to + v * lanes);
    }
    return;
  }
  // Of these alone one is picked by number, which keeps them in memory.
  VI rest[row_count][panel_count * vector_count];
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    GRURUN_UNROLL for (size_t v = 0; v < panel_count * vector_count; ++v) rest[r][v] = sums[r][v];
  }
  for (size_t r = 0; r < row_count; ++r) {
    for (size_t v = 0; v < panel_count * vector_count; ++v) {
      const size_t i = top + r, column = begin + v * lanes;
      if (column >= N) break;
      if (p.scaled != nullptr) {
        store_scaled(rest[r][v], *p.scaled, i, column, first, N - column);
      } else {
        store_first(rest[r][v], d, p.to + i * p.ld + (column - first), N - column);
      }
    }
  }
}

/// Rows [row, end), in tiles of row_count while there are as many; then one more that takes some rows for the
/// second time, or lower ones for few.
template <bool bytes, size_t panel_count, size_t row_count = most_rows>
void multiply_rows(const IntegerProduct& p, int64_t row, int64_t end, int64_t panel) {
  constexpr auto rows = static_cast<int64_t>(row_count);
  for (; end - row >= rows; row += rows) multiply_tile<bytes, row_count, panel_count>(p, row, panel);
  if constexpr (row_count > 1) {
    if (row == end) return;
    if (2 * (end - row) > rows && end >= rows)
      return multiply_tile<bytes, row_count, panel_count>(p, end - rows, panel);
    // Four rows alone, after tiles of six, still take one pass over the panel.
    multiply_rows<bytes, panel_count, row_count == 6 ? 4 : row_count / 2>(p, row, end, panel);
  }
}

template <bool bytes, size_t panel_count = most_panels>
void multiply_panels(const IntegerProduct& p, int64_t rows, int64_t panel, int64_t end) {
  for (; end - panel >= static_cast<int64_t>(panel_count); panel += static_cast<int64_t>(panel_count))
    multiply_rows<bytes, panel_count>(p, 0, rows, panel);
  if constexpr (panel_count > 1) {
    if (panel < end) multiply_panels<bytes, panel_count - 1>(p, rows, panel, end);
  }
}

void multiply(const IntegerProduct& p, int64_t rows, int64_t first, int64_t end) {
  if (!p.b.holds_bytes()) return multiply_panels<false>(p, rows, first, end);
#if HWY_TARGET == HWY_AVX3
  multiply_panels<true>(p, rows, first, end);
#else
  fail_internal("integers are arranged for another instruction set than the one in use");
#endif
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(multiply);

namespace {

constexpr int64_t whole_row = 0;  // the offset of its single part

IntegerProduct product_of(const IntegerRows& a, int64_t row, const IntegerPanels& b, int64_t first) {
  const int32_t* facts = a.facts() + 2 * row;
  return {.a = a.row(row),
          .row_bytes = static_cast<size_t>(a.row_bytes()),
          .offsets = {&whole_row, 1},
          .zero_points = facts,
          .sums = facts + 1,
          .zero_step = a.has_one_zero_point() ? size_t{0} : size_t{2},
          .sum_step = 2,
          .b = b,
          .to = nullptr,
          .ld = 0,
          .first = first};
}

}  // namespace

void multiply_integers(const IntegerRows& a, int64_t row, int64_t rows, const IntegerPanels& b, int64_t first,
                       int64_t end, int32_t* to, int64_t ld) {
  IntegerProduct p = product_of(a, row, b, first);
  p.to = to;
  p.ld = static_cast<size_t>(ld);
  HWY_DYNAMIC_DISPATCH(multiply)(p, rows, first, end);
}

void multiply_scaled(const IntegerRows& a, int64_t rows, const IntegerPanels& b, int64_t first, int64_t end,
                     const ScaledSums& to) {
  IntegerProduct p = product_of(a, 0, b, first);
  p.scaled = &to;
  HWY_DYNAMIC_DISPATCH(multiply)(p, rows, first, end);
}

void multiply_integers(const IntegerWindows& a, int64_t rows, const IntegerPanels& b, int64_t first,
                       int64_t end, int32_t* to, int64_t ld) {
  const bool has_sums = b.has_zero_points();
  const IntegerProduct p{.a = a.data,
                         .row_bytes = static_cast<size_t>(a.row_bytes),
                         .offsets = a.offsets,
                         .zero_points = &a.zero_point,
                         .sums = has_sums ? a.sums : &a.zero_point,
                         .zero_step = 0,
                         .sum_step = has_sums ? size_t{1} : size_t{0},
                         .b = b,
                         .to = to,
                         .ld = static_cast<size_t>(ld),
                         .first = first};
  HWY_DYNAMIC_DISPATCH(multiply)(p, rows, first, end);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
