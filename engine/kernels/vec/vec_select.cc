#include "engine/kernels/vec/vec_select.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_select.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void select(const bool* condition, const T* a, size_t a_step, const T* b, size_t b_step, T* y,
                       size_t n) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const auto* bytes = reinterpret_cast<const uint8_t*>(condition);
  size_t i = 0;
  if (n >= lanes) {
    const auto still_a = hn::Set(d, *a), still_b = hn::Set(d, *b);
    for (; i + lanes <= n; i += lanes) {
      auto chosen = hn::Zero(d);
      if constexpr (sizeof(T) == 1) {
        chosen = hn::LoadU(d, bytes + i);
      } else if constexpr (sizeof(T) == 8) {  // in two steps: there is no other way from 8 to 64 bits
        chosen =
            hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<uint32_t, decltype(d)>(), hn::LoadU(d8, bytes + i)));
      } else {
        chosen = hn::PromoteTo(d, hn::LoadU(d8, bytes + i));
      }
      const auto from_a = a_step != 0 ? hn::LoadU(d, a + i) : still_a;
      const auto from_b = b_step != 0 ? hn::LoadU(d, b + i) : still_b;
      hn::StoreU(hn::IfThenElse(hn::Eq(chosen, hn::Zero(d)), from_b, from_a), d, y + i);
    }
  }
  for (; i < n; ++i) y[i] = condition[i] ? a[i * a_step] : b[i * b_step];
}

void select_8(const bool* condition, const uint8_t* a, size_t a_step, const uint8_t* b, size_t b_step,
              uint8_t* y, size_t n) {
  select(condition, a, a_step, b, b_step, y, n);
}
void select_16(const bool* condition, const uint16_t* a, size_t a_step, const uint16_t* b, size_t b_step,
               uint16_t* y, size_t n) {
  select(condition, a, a_step, b, b_step, y, n);
}
void select_32(const bool* condition, const uint32_t* a, size_t a_step, const uint32_t* b, size_t b_step,
               uint32_t* y, size_t n) {
  select(condition, a, a_step, b, b_step, y, n);
}
void select_64(const bool* condition, const uint64_t* a, size_t a_step, const uint64_t* b, size_t b_step,
               uint64_t* y, size_t n) {
  select(condition, a, a_step, b, b_step, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

#define GRURUN_SELECT(BITS)                                                                               \
  HWY_EXPORT(select_##BITS);                                                                              \
  template <>                                                                                             \
  void vec_select(const bool* condition, const uint##BITS##_t* a, bool a_steps, const uint##BITS##_t* b,  \
                  bool b_steps, uint##BITS##_t* y, int64_t n) {                                           \
    HWY_DYNAMIC_DISPATCH(select_##BITS)                                                                   \
    (condition, a, a_steps ? 1 : 0, b, b_steps ? 1 : 0, y, static_cast<size_t>(std::max<int64_t>(n, 0))); \
  }
GRURUN_SELECT(8)
GRURUN_SELECT(16)
GRURUN_SELECT(32)
GRURUN_SELECT(64)
#undef GRURUN_SELECT

}  // namespace grurun::kernels
#endif  // HWY_ONCE
