// Elements of any type in memory as vectors of the type that they are computed in, 16-bit floats as float,
// for every instruction set. Included by sources that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_ELEMENT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_ELEMENT_INL
#undef GRURUN_VEC_ELEMENT_INL
#else
#define GRURUN_VEC_ELEMENT_INL
#endif

#include <cstddef>
#include <type_traits>

#include "hwy/highway.h"
#include "tensor/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Highway converts to binary16 by instructions that round to nearest even only here; elsewhere its emulation
// truncates.
#undef GRURUN_CONVERTS_HALVES
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define GRURUN_CONVERTS_HALVES 1
#else
#define GRURUN_CONVERTS_HALVES 0
#endif

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

/// A vector of elements of T as those of D, ComputeType<T>.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_elements([[maybe_unused]] D d, const T* x) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const hn::RebindToUnsigned<D> du;
    const auto words = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(x));
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, words)));
  } else if constexpr (std::is_same_v<T, Float16>) {
#if GRURUN_CONVERTS_HALVES
    const hn::Rebind<hwy::float16_t, D> dh;
    return hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(x)));
#else
    HWY_ALIGN float wide[hn::MaxLanes(D())];
    for (size_t k = 0; k < hn::Lanes(d); ++k) wide[k] = x[k];
    return hn::Load(d, wide);
#endif
  } else {
    return hn::LoadU(d, x);
  }
}

/// The upper halves, rounded, of floats, in the upper halves of their lanes; what is below them is not
/// cleared.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rounded_upper_halves(D, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
}

/// The vector as elements of T, each rounded once.
template <class D, class T>
HWY_INLINE void store_elements(hn::Vec<D> v, [[maybe_unused]] D d, T* y) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const hn::RebindToSigned<D> di;
    const auto words = hn::ShiftRight<16>(rounded_upper_halves(d, v));
    hn::StoreU(hn::DemoteTo(hn::Rebind<uint16_t, D>(), hn::BitCast(di, words)), hn::Rebind<uint16_t, D>(),
               reinterpret_cast<uint16_t*>(y));
  } else if constexpr (std::is_same_v<T, Float16>) {
#if GRURUN_CONVERTS_HALVES
    const hn::Rebind<hwy::float16_t, D> dh;
    hn::StoreU(hn::DemoteTo(dh, v), dh, reinterpret_cast<hwy::float16_t*>(y));
#else
    HWY_ALIGN float wide[hn::MaxLanes(D())];
    hn::Store(v, d, wide);
    for (size_t k = 0; k < hn::Lanes(d); ++k) y[k] = Float16(wide[k]);
#endif
  } else {
    hn::StoreU(v, d, y);
  }
}

/// The vector rounded to elements of T and back.
template <class T, class D>
HWY_INLINE hn::Vec<D> round_elements([[maybe_unused]] D d, hn::Vec<D> v) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::And(rounded_upper_halves(d, v), hn::Set(du, 0xffff0000u)));
  } else if constexpr (std::is_same_v<T, Float16>) {
#if GRURUN_CONVERTS_HALVES
    return hn::PromoteTo(d, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v));
#else
    HWY_ALIGN float wide[hn::MaxLanes(D())];
    hn::Store(v, d, wide);
    for (size_t k = 0; k < hn::Lanes(d); ++k) wide[k] = Float16(wide[k]);
    return hn::Load(d, wide);
#endif
  } else {
    return v;
  }
}

/// step(d, i) for whole vectors of what T is computed in from i on, then for single elements.
template <class T, class Step>
HWY_INLINE void for_element_lanes(size_t n, const Step& step) {
  using C = ComputeType<T>;
  const hn::ScalableTag<C> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) step(d, i);
  for (; i < n; ++i) step(hn::CappedTag<C, 1>(), i);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
