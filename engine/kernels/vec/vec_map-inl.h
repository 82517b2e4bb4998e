// Parts of vectors, and a function of vectors over an array of any length, for every instruction set.
// Included by sources that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_MAP_INL
#undef GRURUN_VEC_MAP_INL
#else
#define GRURUN_VEC_MAP_INL
#endif

#include <algorithm>
#include <cstddef>

#include "engine/kernels/vec/several-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// x[0] ... x[min(n, lanes) - 1], and zeros. What lies behind is not touched: it is masked where that cannot
/// fault, otherwise, and where a masked load reads first, the elements go through a buffer.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const hn::TFromD<D>* x, size_t n) {
  if (n >= hn::Lanes(d)) return hn::LoadU(d, x);
#if HWY_MEM_OPS_MIGHT_FAULT || HWY_TARGET == HWY_SCALAR
  HWY_ALIGN hn::TFromD<D> first[hn::MaxLanes(D())] = {};
  std::copy_n(x, n, first);
  return hn::Load(d, first);
#else
  return hn::MaskedLoad(hn::FirstN(d, n), d, x);
#endif
}

/// y[0] ... y[min(n, lanes) - 1] = the first lanes of v, likewise.
template <class D>
HWY_INLINE void store_first(hn::Vec<D> v, D d, hn::TFromD<D>* y, size_t n) {
  if (n >= hn::Lanes(d)) return hn::StoreU(v, d, y);
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> first[hn::MaxLanes(D())];
  hn::Store(v, d, first);
  std::copy_n(first, n, y);
#else
  hn::BlendedStore(v, hn::FirstN(d, n), d, y);
#endif
}

/// step(d, i) for whole vectors of d from i on, then for single elements.
template <class T, class Step>
HWY_INLINE void for_lanes(size_t n, const Step& step) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) step(d, i);
  for (; i < n; ++i) step(hn::CappedTag<T, 1>(), i);
}

/// min(x, most), NaN where x is.
template <class V, class M>
HWY_INLINE V at_most(V x, M most) {
  return each(
      [=](auto v) GRURUN_VECTOR_BODY {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
        return hn::Min(most, v);  // minps gives its second operand where one is NaN
#else
        return hn::IfThenElse(hn::Gt(v, most), most, v);
#endif
      },
      x);
}

/// max(x, least), NaN where x is.
template <class V, class M>
HWY_INLINE V at_least(V x, M least) {
  return each(
      [=](auto v) GRURUN_VECTOR_BODY {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
        return hn::Max(least, v);  // maxps gives its second operand where one is NaN
#else
        return hn::IfThenElse(hn::Lt(v, least), least, v);
#endif
      },
      x);
}

/// y[i] = step(x[i]) for n floats; y may be x. at_a_time: how many vectors step() is given, as Several; the
/// last ones come alone.
template <size_t at_a_time = 1, class Step>
HWY_INLINE void map_vectors(const float* x, float* y, size_t n, const Step& step) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  if constexpr (at_a_time > 1) {
    for (; i + at_a_time * lanes <= n; i += at_a_time * lanes)
      store_several(step(load_several<at_a_time>(d, x + i)), d, y + i);
  }
  for (; i + lanes <= n; i += lanes) hn::StoreU(step(hn::LoadU(d, x + i)), d, y + i);
  if (i < n) store_first(step(load_first(d, x + i, n - i)), d, y + i, n - i);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
