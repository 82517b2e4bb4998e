// A function of vectors over an array of any length, for every instruction set. Included by sources that
// compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_MAP_INL
#undef GRURUN_VEC_MAP_INL
#else
#define GRURUN_VEC_MAP_INL
#endif

#include <algorithm>
#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// y[i] = step(x[i]) for n floats; y may be x. The last, partial vector is masked where that cannot fault,
/// otherwise it goes through a buffer.
template <class Step>
HWY_INLINE void map_vectors(const float* x, float* y, size_t n, const Step& step) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(step(hn::LoadU(d, x + i)), d, y + i);
  if (i == n) return;
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  std::copy_n(x + i, n - i, rest);
  hn::Store(step(hn::Load(d, rest)), d, rest);
  std::copy_n(rest, n - i, y + i);
#else
  const auto first = hn::FirstN(d, n - i);
  hn::BlendedStore(step(hn::MaskedLoad(first, d, x + i)), first, d, y + i);
#endif
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
