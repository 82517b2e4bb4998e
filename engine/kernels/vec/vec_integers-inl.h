// Integers in memory as vectors of floating numbers, for every instruction set. Included by sources that
// compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_INTEGERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_INTEGERS_INL
#undef GRURUN_VEC_INTEGERS_INL
#else
#define GRURUN_VEC_INTEGERS_INL
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class T>
HWY_INLINE hn::Vec<hn::Rebind<int32_t, D>> load_words(D, const T* x) {
  const hn::Rebind<int32_t, D> words;
  if constexpr (std::is_same_v<T, int32_t>) return hn::LoadU(words, x);
  if constexpr (!std::is_same_v<T, int32_t>) return hn::PromoteTo(words, hn::LoadU(hn::Rebind<T, D>(), x));
}

/// Integers of up to 32 bits as float, rounded, or double.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_integers(D d, const T* x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) return hn::ConvertTo(d, load_words(d, x));
  if constexpr (sizeof(hn::TFromD<D>) == 8) return hn::PromoteTo(d, load_words(d, x));
}

// Where 64-bit integers are narrowed in registers.
#undef GRURUN_NARROWS_LONGS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
#define GRURUN_NARROWS_LONGS 1

/// As many 64-bit integers as D has lanes of 32 bits; false where these do not hold all of them.
template <class D>
HWY_INLINE bool narrow_longs(D d, const int64_t* x, hn::Vec<D>& narrow) {
  const hn::RepartitionToWide<D> d64;
  const auto first = hn::BitCast(d, hn::LoadU(d64, x));
  const auto second = hn::BitCast(d, hn::LoadU(d64, x + hn::Lanes(d64)));
  narrow = hn::ConcatEven(d, second, first);
  return HWY_LIKELY(hn::AllTrue(d, hn::Eq(hn::ConcatOdd(d, second, first), hn::ShiftRight<31>(narrow))));
}
#else
#define GRURUN_NARROWS_LONGS 0
#endif

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
