#include "engine/kernels/integer_dot.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/integer_dot.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class B>
struct Operands {
  const int16_t* a;
  const B* b;
  size_t row;  // elements from one row of either to the next
};

#if HWY_TARGET != HWY_SCALAR
// Columns of a tile: as many sums as a block of 128 bits holds once their lanes are added up.
constexpr size_t kColumns = 4;
constexpr size_t kRows = HWY_TARGET == HWY_AVX3 ? 4 : 2;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const int16_t* x) {
  return hn::LoadU(d, x);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const int8_t* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<int8_t, D>(), x));
}

/// sums[r][j] += the first n, a multiple of the vector's lanes, terms of rows r < R and columns j.
template <size_t R, class B>
HWY_INLINE void tile(const Operands<B>& p, size_t n, int64_t (*sums)[kColumns]) {
  const hn::ScalableTag<int16_t> d;
  const hn::Repartition<int32_t, decltype(d)> wide;
  const hn::Repartition<int64_t, decltype(d)> pairs;
  hn::Vec<decltype(wide)> even[R][kColumns], odd[R][kColumns];
#pragma GCC unroll 4
  for (size_t r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (size_t j = 0; j < kColumns; ++j) even[r][j] = odd[r][j] = hn::Zero(wide);
  }
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::Vec<decltype(d)> b[kColumns];
#pragma GCC unroll 4
    for (size_t j = 0; j < kColumns; ++j) b[j] = load(d, p.b + j * p.row + i);
#pragma GCC unroll 4
    for (size_t r = 0; r < R; ++r) {
      const auto a = hn::LoadU(d, p.a + r * p.row + i);
#pragma GCC unroll 4
      for (size_t j = 0; j < kColumns; ++j)
        even[r][j] = hn::ReorderWidenMulAccumulate(wide, a, b[j], even[r][j], odd[r][j]);
    }
  }
  HWY_ALIGN int32_t blocks[HWY_MAX_BYTES / sizeof(int32_t)];
#pragma GCC unroll 4
  for (size_t r = 0; r < R; ++r) {
    // Every block becomes the four columns' sums over it.
    hn::Vec<decltype(wide)> v[kColumns];
#pragma GCC unroll 4
    for (size_t j = 0; j < kColumns; ++j) v[j] = hn::Add(even[r][j], odd[r][j]);
    const auto first = hn::Add(hn::InterleaveLower(wide, v[0], v[1]), hn::InterleaveUpper(wide, v[0], v[1]));
    const auto last = hn::Add(hn::InterleaveLower(wide, v[2], v[3]), hn::InterleaveUpper(wide, v[2], v[3]));
    const auto x = hn::BitCast(pairs, first), y = hn::BitCast(pairs, last);
    const auto all = hn::Add(hn::BitCast(wide, hn::InterleaveLower(pairs, x, y)),
                             hn::BitCast(wide, hn::InterleaveUpper(pairs, x, y)));
    hn::Store(all, wide, blocks);
    for (size_t i = 0; i < hn::Lanes(wide); ++i) sums[r][i % kColumns] += blocks[i];
  }
}

/// The same of any n, for R rows and kColumns columns.
template <size_t R, class B>
void tile_of_any_length(const Operands<B>& p, size_t n, int64_t (*sums)[kColumns]) {
  // So many products of 255 * 255 stay within 31 bits, even added up in one lane.
  constexpr size_t most = size_t{1} << 14;
  const size_t lanes = hn::Lanes(hn::ScalableTag<int16_t>()), whole = n / lanes * lanes;
  for (size_t r = 0; r < R; ++r) std::fill_n(sums[r], kColumns, 0);
  for (size_t i = 0; i < whole; i += most)
    tile<R, B>({p.a + i, p.b + i, p.row}, std::min(most, whole - i), sums);
  for (size_t r = 0; r < R; ++r) {
    for (size_t j = 0; j < kColumns; ++j) {
      for (size_t i = whole; i < n; ++i) sums[r][j] += int32_t{p.a[r * p.row + i]} * p.b[j * p.row + i];
    }
  }
}
#endif

template <class B>
int64_t one_dot(const int16_t* a, const B* b, size_t n) {
  int64_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += int32_t{a[i]} * b[i];
  return sum;
}

template <class B>
void dots(const int16_t* a, size_t rows, const B* b, size_t columns, size_t n, int64_t* out) {
  size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; j + kColumns <= columns; j += kColumns) {
    int64_t sums[kRows][kColumns];
    for (size_t r = 0; r < rows;) {
      const Operands<B> p{a + r * n, b + j * n, n};
      const size_t count = r + kRows <= rows ? kRows : 1;
      if (count == 1) {
        tile_of_any_length<1>(p, n, sums);
      } else {
        tile_of_any_length<kRows>(p, n, sums);
      }
      for (size_t i = 0; i < count; ++i) std::copy_n(sums[i], kColumns, out + (r + i) * columns + j);
      r += count;
    }
  }
#endif
  for (; j < columns; ++j) {
    for (size_t r = 0; r < rows; ++r) out[r * columns + j] = one_dot(a + r * n, b + j * n, n);
  }
}

void dots_16(const int16_t* a, size_t rows, const int16_t* b, size_t columns, size_t n, int64_t* out) {
  dots(a, rows, b, columns, n, out);
}
void dots_8(const int16_t* a, size_t rows, const int8_t* b, size_t columns, size_t n, int64_t* out) {
  dots(a, rows, b, columns, n, out);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(dots_16);
HWY_EXPORT(dots_8);

void integer_dots(const int16_t* a, int64_t rows, const int16_t* b, int64_t columns, int64_t n,
                  int64_t* out) {
  HWY_DYNAMIC_DISPATCH(dots_16)
  (a, static_cast<size_t>(rows), b, static_cast<size_t>(columns), static_cast<size_t>(n), out);
}
void integer_dots(const int16_t* a, int64_t rows, const int8_t* b, int64_t columns, int64_t n, int64_t* out) {
  HWY_DYNAMIC_DISPATCH(dots_8)
  (a, static_cast<size_t>(rows), b, static_cast<size_t>(columns), static_cast<size_t>(n), out);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
