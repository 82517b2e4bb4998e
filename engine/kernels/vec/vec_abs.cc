#include "engine/kernels/vec/vec_abs.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_abs.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void abs_i64(const int64_t* x, int64_t* y, size_t n) {
  for_lanes<int64_t>(n, [=](auto d, size_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, x + i);
    const auto ones = hn::BroadcastSignBit(v);
    hn::StoreU(hn::Sub(hn::Xor(v, ones), ones), d, y + i);
  });
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(abs_i64);

void vec_abs(const int64_t* x, int64_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(abs_i64)(x, y, static_cast<size_t>(std::max<int64_t>(n, 0)));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
