#include "engine/kernels/vec/vec_look_up.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_look_up.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void look_up(const uint8_t* table, const uint8_t* x, uint8_t* y, size_t n) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  // 16 entries at a time: an index beyond them gets its highest bit, for which the shuffle gives 0.
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto beyond = hn::Set(d, 0x70), kept = hn::Set(d, 0x8f), sixteen = hn::Set(d, 16);
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    auto index = hn::LoadU(d, x + i), other_index = hn::LoadU(d, x + i + lanes);
    auto found = hn::Zero(d), other = hn::Zero(d);
    for (size_t entry = 0; entry < 256; entry += 16) {
      const auto entries = hn::LoadDup128(d, table + entry);
      const auto place = hn::And(hn::SaturatedAdd(index, beyond), kept);
      const auto other_place = hn::And(hn::SaturatedAdd(other_index, beyond), kept);
      found = hn::Or(found, hn::TableLookupBytesOr0(entries, place));
      other = hn::Or(other, hn::TableLookupBytesOr0(entries, other_place));
      index = hn::Sub(index, sixteen);
      other_index = hn::Sub(other_index, sixteen);
    }
    hn::StoreU(found, d, y + i);
    hn::StoreU(other, d, y + i + lanes);
  }
#endif
  for (; i < n; ++i) y[i] = table[x[i]];
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(look_up);

void vec_look_up(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(look_up)(table, x, y, static_cast<size_t>(std::max<int64_t>(n, 0)));
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
