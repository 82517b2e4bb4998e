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

/// n is at most kBlock.
HWY_INLINE int32_t short_dot(const int16_t* a, const int16_t* b, size_t n) {
  size_t i = 0;
  int32_t sum = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<int16_t> d;
  const hn::Repartition<int32_t, decltype(d)> wide;
  const size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(wide), odd = hn::Zero(wide), even2 = hn::Zero(wide), odd2 = hn::Zero(wide);
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = hn::ReorderWidenMulAccumulate(wide, hn::LoadU(d, a + i), hn::LoadU(d, b + i), even, odd);
    even2 = hn::ReorderWidenMulAccumulate(wide, hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes),
                                          even2, odd2);
  }
  for (; i + lanes <= n; i += lanes)
    even = hn::ReorderWidenMulAccumulate(wide, hn::LoadU(d, a + i), hn::LoadU(d, b + i), even, odd);
  const auto all = hn::Add(hn::Add(even, odd), hn::Add(even2, odd2));
  sum = hn::GetLane(hn::SumOfLanes(wide, all));
#endif
  for (; i < n; ++i) sum += int32_t{a[i]} * b[i];
  return sum;
}

void dots(const int16_t* a, const int16_t* b, size_t n, size_t count, int64_t* out) {
  // So many products of 255 * 255 stay within 31 bits.
  constexpr size_t kBlock = size_t{1} << 15;
  for (size_t j = 0; j < count; ++j, b += n) {
    int64_t sum = 0;
    for (size_t begin = 0; begin < n; begin += kBlock)
      sum += short_dot(a + begin, b + begin, std::min(kBlock, n - begin));
    out[j] = sum;
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(dots);

void integer_dots(const int16_t* a, const int16_t* b, int64_t n, int64_t count, int64_t* out) {
  HWY_DYNAMIC_DISPATCH(dots)(a, b, static_cast<size_t>(n), static_cast<size_t>(count), out);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
