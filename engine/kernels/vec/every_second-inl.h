// Every second element of a row, for every instruction set. Included by sources that compile per target,
// after hwy/foreach_target.h.
#if defined(GRURUN_EVERY_SECOND_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_EVERY_SECOND_INL
#undef GRURUN_EVERY_SECOND_INL
#else
#define GRURUN_EVERY_SECOND_INL
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// to[i] = from[2 * i] for i < n. Nothing is read behind the last of them, nor written behind to[n - 1].
template <class T>
HWY_INLINE void every_second(const T* HWY_RESTRICT from, size_t n, T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> even, odd;
  size_t i = 0;
  // Both of a pair are read, and behind the last one there may be nothing.
  for (; i + lanes < n; i += lanes) {
    hn::LoadInterleaved2(d, from + 2 * i, even, odd);
    hn::StoreU(even, d, to + i);
  }
  if (n > lanes) {
    // The odd elements from one before the last vector's on; some are taken for the second time.
    hn::LoadInterleaved2(d, from + 2 * (n - lanes) - 1, even, odd);
    hn::StoreU(odd, d, to + n - lanes);
    return;
  }
  for (; i < n; ++i) to[i] = from[2 * i];
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
