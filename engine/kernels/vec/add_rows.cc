#include "engine/kernels/vec/add_rows.h"

#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/add_rows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// y[i] += x[i] for vectors of at most lanes lanes, then of half as many. A store of a part of a vector
/// would hold up the next row, which begins where the rest of it lies.
template <size_t lanes, class T>
HWY_INLINE void add_row(const T* HWY_RESTRICT x, size_t n, T* HWY_RESTRICT y) {
  const hn::CappedTag<T, lanes> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d))
    hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
  if constexpr (lanes > 1) {
    if (i < n) add_row<lanes / 2>(x + i, n - i, y + i);
  }
}

template <class T>
HWY_INLINE void add_all(const T* x, int64_t ldx, int64_t rows, int64_t n, T* y, int64_t ldy) {
  for (int64_t r = 0; r < rows; ++r)
    add_row<hn::MaxLanes(hn::ScalableTag<T>())>(x + r * ldx, static_cast<size_t>(n), y + r * ldy);
}

void add_floats(const float* x, int64_t ldx, int64_t rows, int64_t n, float* y, int64_t ldy) {
  add_all(x, ldx, rows, n, y, ldy);
}
void add_doubles(const double* x, int64_t ldx, int64_t rows, int64_t n, double* y, int64_t ldy) {
  add_all(x, ldx, rows, n, y, ldy);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(add_floats);
HWY_EXPORT(add_doubles);

void add_rows(const float* x, int64_t ldx, int64_t rows, int64_t n, float* y, int64_t ldy) {
  HWY_DYNAMIC_DISPATCH(add_floats)(x, ldx, rows, n, y, ldy);
}
void add_rows(const double* x, int64_t ldx, int64_t rows, int64_t n, double* y, int64_t ldy) {
  HWY_DYNAMIC_DISPATCH(add_doubles)(x, ldx, rows, n, y, ldy);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
