#include "engine/kernels/vec/fft_lanes.h"

#include "engine/kernels/machine/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/fft_lanes.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/machine/unroll.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Constructors of its own: GCC would make those it is to add without the target's instructions.
template <class V>
struct Complexes {
  HWY_INLINE Complexes() {}
  HWY_INLINE Complexes(V re_part, V im_part) : re(re_part), im(im_part) {}
  V re, im;
};
template <class V>
HWY_INLINE Complexes<V> operator+(const Complexes<V>& a, const Complexes<V>& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Complexes<V> operator-(const Complexes<V>& a, const Complexes<V>& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class V>
HWY_INLINE Complexes<V> times_real(const Complexes<V>& a, V factor) {
  return {hn::Mul(factor, a.re), hn::Mul(factor, a.im)};
}
template <class V>
HWY_INLINE Complexes<V> times(const Complexes<V>& a, V re, V im) {
  return {hn::Sub(hn::Mul(a.re, re), hn::Mul(a.im, im)), hn::Add(hn::Mul(a.re, im), hn::Mul(a.im, re))};
}

/// t[u] = sum over j of t[j] w^(u j) of an odd radix, w the root of `radix` that roots has every `turn`.
template <size_t base, class T, class V>
HWY_INLINE void odd_butterfly(Complexes<V> (&t)[base], const T* roots, size_t turn) {
  constexpr size_t half = base / 2;
  const hn::ScalableTag<T> d;
  Complexes<V> sums[half], differences[half], all = t[0];
  GRURUN_UNROLL for (size_t j = 1; j <= half; ++j) {
    sums[j - 1] = t[j] + t[base - j];
    differences[j - 1] = t[j] - t[base - j];
    all = all + sums[j - 1];
  }
  const Complexes<V> first = t[0];
  for (size_t u = 1; u <= half; ++u) {
    Complexes<V> even = first, odd{hn::Zero(d), hn::Zero(d)};
    GRURUN_UNROLL for (size_t j = 1; j <= half; ++j) {
      const T* angle = roots + 2 * (u * j % base * turn);
      even = even + times_real(sums[j - 1], hn::Set(d, angle[0]));
      odd = odd + times_real(differences[j - 1], hn::Set(d, angle[1]));
    }
    const Complexes<V> turned{hn::Neg(odd.im), odd.re};
    t[u] = even + turned;
    t[base - u] = even - turned;
  }
  t[0] = all;
}

template <size_t base, class T, class V>
HWY_INLINE void butterfly(Complexes<V> (&t)[base], const T* roots, size_t turn) {
  if constexpr (base == 2) {
    const Complexes<V> sum = t[0] + t[1];
    t[1] = t[0] - t[1];
    t[0] = sum;
  } else if constexpr (base == 4) {
    const Complexes<V> even = t[0] + t[2], odd = t[1] + t[3], cross = t[0] - t[2];
    const Complexes<V> turned{hn::Sub(t[1].im, t[3].im), hn::Sub(t[3].re, t[1].re)};
    t[0] = even + odd;
    t[1] = cross + turned;
    t[2] = even - odd;
    t[3] = cross - turned;
  } else {
    odd_butterfly(t, roots, turn);
  }
}

template <size_t base, class T>
void stage(const FftStage<T>& p) {
  const hn::CappedTag<T, fft_lane_count> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t lanes = hn::MaxLanes(d), element = 2 * fft_lane_count;
  const auto done = static_cast<size_t>(p.done), rest = static_cast<size_t>(p.rest);
  for (size_t k = 0; k < done; ++k) {
    for (size_t i = 0; i < rest; ++i) {
      for (size_t lane = 0; lane < fft_lane_count; lane += lanes) {
        Complexes<V> t[base];
        GRURUN_UNROLL for (size_t j = 0; j < base; ++j) {
          const T* x = p.from + (i + rest * (j + base * k)) * element + lane;
          t[j] = {hn::LoadU(d, x), hn::LoadU(d, x + fft_lane_count)};
        }
        butterfly(t, p.roots, done * rest);
        GRURUN_UNROLL for (size_t u = 0; u < base; ++u) {
          const T* root = p.roots + 2 * (u * i * done);
          if (u > 0 && i > 0) t[u] = times(t[u], hn::Set(d, root[0]), hn::Set(d, root[1]));
          T* y = p.to + (i + rest * (k + done * u)) * element + lane;
          hn::StoreU(t[u].re, d, y);
          hn::StoreU(t[u].im, d, y + fft_lane_count);
        }
      }
    }
  }
}

template <class T>
HWY_INLINE void any_stage(const FftStage<T>& p) {
  switch (p.radix) {
    case 2:
      return stage<2>(p);
    case 3:
      return stage<3>(p);
    case 4:
      return stage<4>(p);
    case 5:
      return stage<5>(p);
    case 7:
      return stage<7>(p);
    case 11:
      return stage<11>(p);
    default:
      return stage<13>(p);
  }
}

void stage_f32(const FftStage<float>& p) {
  any_stage(p);
}
void stage_f64(const FftStage<double>& p) {
  any_stage(p);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(stage_f32);
HWY_EXPORT(stage_f64);

void fft_stage(const FftStage<float>& p) {
  HWY_DYNAMIC_DISPATCH(stage_f32)(p);
}
void fft_stage(const FftStage<double>& p) {
  HWY_DYNAMIC_DISPATCH(stage_f64)(p);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
