#include "engine/kernels/integer/byte_planes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"
#include "tensor/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/integer/byte_planes.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_quantize-inl.h"
#include "hwy/highway.h"

#ifndef GRURUN_KERNELS_BYTE_PLANES
#define GRURUN_KERNELS_BYTE_PLANES
namespace grurun::kernels {
namespace {

/// What multiply_planes() writes: sums, or bytes where `by` is there.
struct PlaneResult {
  int32_t* sums;
  const Requantization* by = nullptr;
  uint8_t* y = nullptr;
  int32_t* unsure = nullptr;
};

}  // namespace
}  // namespace grurun::kernels
#endif  // GRURUN_KERNELS_BYTE_PLANES

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3

using DI = hn::ScalableTag<int32_t>;
using VI = hn::Vec<DI>;

constexpr size_t lanes = hn::MaxLanes(DI());
constexpr size_t most_rows = PlaneFilters::block, most_vectors = plane_block / lanes;

HWY_INLINE void add_products(VI x, VI w, VI& sum) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(w.raw));
}

/// sums of the filters of a block that begins with `first`, row_count of them, and width vectors of places.
template <size_t row_count, size_t width>
HWY_INLINE void sum_tile(const PlaneProduct& p, int64_t first, VI (&sums)[row_count][width]) {
  const DI d;
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    GRURUN_UNROLL for (size_t v = 0; v < width; ++v) sums[r][v] =
        hn::Set(d, p.starts[first + static_cast<int64_t>(r)]);
  }
  const int8_t* w = p.filters.of_block(first);
  for (const int64_t offset : p.offsets) {
    VI x[width];
    GRURUN_UNROLL for (size_t v = 0; v < width; ++v) x[v] =
        hn::LoadU(d, reinterpret_cast<const int32_t*>(p.x + offset + v * lanes * plane_term));
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
      int32_t numbers;
      std::memcpy(&numbers, w + r * plane_term, sizeof numbers);
      const VI of_row = hn::Set(d, numbers);
      GRURUN_UNROLL for (size_t v = 0; v < width; ++v) add_products(x[v], of_row, sums[r][v]);
    }
    w += row_count * plane_term;
  }
}

template <size_t width>
HWY_INLINE void store_sums(const VI (&sums)[width], int32_t* to) {
  const DI d;
  GRURUN_UNROLL for (size_t v = 0; v < width; ++v) hn::StoreU(sums[v], d, to + v * lanes);
}

/// How many more filters are unsure.
template <size_t row_count, size_t width>
size_t multiply_tile(const PlaneProduct& p, int64_t first, const PlaneResult& to) {
  const hn::RebindToFloat<DI> d;
  const hn::RebindToUnsigned<DI> du;
  const hn::Repartition<uint8_t, DI> bytes;
  VI sums[row_count][width];
  sum_tile(p, first, sums);
  const int64_t row = first - p.first;
  int32_t* const sums_to = to.sums + row * plane_block;
  if (to.by == nullptr) {
    GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) store_sums(sums[r], sums_to + r * plane_block);
    return 0;
  }
  const FloatRounding rounding(*to.by);
  const auto least = hn::Set(bytes, static_cast<uint8_t>(to.by->least));
  uint8_t* const y = to.y + row * plane_block;
  size_t unsure = 0;
  GRURUN_UNROLL for (size_t r = 0; r < row_count; ++r) {
    const auto factor = hn::Set(d, to.by->nearest[first + static_cast<int64_t>(r)]);
    hn::Vec<decltype(du)> whole[most_vectors];
    auto middle = rounding.is_middle(hn::Set(du, 1));  // none
    GRURUN_UNROLL for (size_t v = 0; v < most_vectors; ++v) {
      if (v >= width) {
        whole[v] = hn::Zero(du);
        continue;
      }
      const auto bits = rounding.bits(d, hn::Mul(hn::ConvertTo(d, sums[r][v]), factor));
      middle = hn::Or(middle, rounding.is_middle(bits));
      whole[v] = rounding.whole_part(bits);
    }
    hn::StoreU(hn::Add(packed(du, whole[0], whole[1], whole[2], whole[3]), least), bytes,
               y + r * plane_block);
    if (HWY_UNLIKELY(!hn::AllFalse(du, middle))) {
      store_sums(sums[r], sums_to + r * plane_block);
      to.unsure[unsure++] = static_cast<int32_t>(row + static_cast<int64_t>(r));
    }
  }
  return unsure;
}

template <size_t row_count, size_t width = most_vectors>
size_t multiply_rows(const PlaneProduct& p, int64_t first, size_t vectors, const PlaneResult& to) {
  if constexpr (width > 1) {
    if (vectors < width) return multiply_rows<row_count, width - 1>(p, first, vectors, to);
  }
  return multiply_tile<row_count, width>(p, first, to);
}

template <size_t row_count = most_rows>
size_t multiply_block(const PlaneProduct& p, int64_t first, size_t rows, size_t vectors,
                      const PlaneResult& to) {
  if constexpr (row_count > 1) {
    if (rows < row_count) return multiply_block<row_count - 1>(p, first, rows, vectors, to);
  }
  return multiply_rows<row_count>(p, first, vectors, to);
}

int64_t multiply_all(const PlaneProduct& p, int64_t n, const PlaneResult& result) {
  PlaneResult to = result;
  const size_t vectors = (static_cast<size_t>(n) + lanes - 1) / lanes;
  int64_t unsure = 0;
  for (int64_t m = p.first; m < p.end; m += PlaneFilters::block) {
    const int64_t rows = std::min(PlaneFilters::block, p.end - m);
    const size_t more = multiply_block(p, m, static_cast<size_t>(rows), vectors, to);
    unsure += static_cast<int64_t>(more);
    to.unsure += more;
  }
  return unsure;
}

#else

int64_t multiply_all(const PlaneProduct&, int64_t, const PlaneResult&) {
  fail_internal("this instruction set does not multiply four bytes at once");
}

#endif

void interleave(const uint8_t* const (&from)[plane_term], int64_t n, uint8_t flip, uint8_t* to) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint8_t, 16> d;
  const hn::Repartition<uint16_t, decltype(d)> pairs;
  const auto mask = hn::Set(d, flip);
  const auto step = [&](int64_t at) HWY_ATTR {
    const auto load = [&](size_t j) HWY_ATTR { return hn::Xor(hn::LoadU(d, from[j] + at), mask); };
    const auto a = load(0), b = load(1), c = load(2), e = load(3);
    const auto store = [&](auto first, auto second, int64_t place) HWY_ATTR {
      const auto low = hn::BitCast(pairs, first), high = hn::BitCast(pairs, second);
      uint8_t* const out = to + plane_term * (at + place);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low, high)), d, out);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low, high)), d, out + 16);
    };
    store(hn::InterleaveLower(d, a, b), hn::InterleaveLower(d, c, e), 0);
    store(hn::InterleaveUpper(d, a, b), hn::InterleaveUpper(d, c, e), 8);
  };
  for (; i + 16 <= n; i += 16) step(i);
  if (i == n) return;
  // The last sixteen, some of them for the second time.
  if (n >= 16) return step(n - 16);
#endif
  for (; i < n; ++i) {
    for (int64_t j = 0; j < plane_term; ++j) to[plane_term * i + j] = from[j][i] ^ flip;
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(multiply_all);
HWY_EXPORT(interleave);

void multiply_planes(const PlaneProduct& p, int64_t n, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(multiply_all)(p, n, PlaneResult{.sums = sums});
}

int64_t multiply_planes(const PlaneProduct& p, int64_t n, const Requantization& by, uint8_t* y, int32_t* sums,
                        int32_t* unsure) {
  return HWY_DYNAMIC_DISPATCH(multiply_all)(p, n,
                                            PlaneResult{.sums = sums, .by = &by, .y = y, .unsure = unsure});
}

void interleave_bytes(const uint8_t* const (&from)[plane_term], int64_t n, uint8_t flip, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(interleave)(from, n, flip, to);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
