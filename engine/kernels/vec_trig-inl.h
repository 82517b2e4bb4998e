// Sine and cosine of floats, computed in double, for every instruction set. Included by sources that compile
// per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_TRIG_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_TRIG_INL
#undef GRURUN_VEC_TRIG_INL
#else
#define GRURUN_VEC_TRIG_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/kernels/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, size_t N>
HWY_INLINE hn::Vec<D> even_series(D d, hn::Vec<D> square, const double (&c)[N]) {
  auto sum = hn::Set(d, c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, square, hn::Set(d, c[i]));
  return sum;
}

/// sin(x), or cos(x), to 2^-32, for floats |x| <= 2^20.
template <bool cosine, class D>
HWY_INLINE hn::Vec<D> double_sine(D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> di;
  // x = n pi / 2 + r with |r| <= pi / 4. Adding 1.5 * 2^52 rounds to an integer, which is then the low bits
  // of the sum.
  const auto shift = hn::Set(d, 0x1.8p+52);
  const auto shifted = hn::MulAdd(x, hn::Set(d, 0x1.45f306dc9c883p-1), shift);
  const auto n = hn::Sub(shifted, shift);
  // pi / 2 in two parts: n times the first is exact.
  auto r = hn::NegMulAdd(n, hn::Set(d, 0x1.921fb54400000p+0), x);
  r = hn::NegMulAdd(n, hn::Set(d, 0x1.0b4611a626331p-34), r);
  // Taylor's series: what is left out is below 2^-29 of the sine and 2^-33 of the cosine.
  static constexpr double kSine[] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880};
  static constexpr double kCosine[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800};
  const auto square = hn::Mul(r, r);
  const auto sine_of_r = hn::Mul(r, even_series(d, square, kSine));
  const auto cosine_of_r = even_series(d, square, kCosine);
  // A quarter turn makes one of the other, a half turn changes the sign.
  auto turns = hn::BitCast(di, shifted);
  if (cosine) turns = hn::Add(turns, hn::Set(di, 1));
  const auto odd = hn::Ne(hn::And(turns, hn::Set(di, 1)), hn::Zero(di));
  const auto value =
      hn::IfThenElse(hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, odd))), cosine_of_r, sine_of_r);
  const auto sign = hn::ShiftLeft<62>(hn::And(turns, hn::Set(di, 2)));
  return hn::Xor(value, hn::BitCast(d, sign));
}

/// y = sin(x), or cos(x), for n floats; y may be x. Those beyond 2^20, which more digits of pi belong to,
/// take the C library.
template <bool cosine>
void map_sine(const float* x, float* y, size_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> h;
  const size_t lanes = hn::Lanes(d);
  const auto most = hn::Set(d, 0x1p+20);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min(lanes, n - i);
    const auto v = load_first(h, x + i, count);
    const auto wide = hn::PromoteTo(d, v);
    const auto made = hn::DemoteTo(h, double_sine<cosine>(d, wide));
    store_first(made, h, y + i, count);
    if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(wide), most)))) continue;
    HWY_ALIGN float far[hn::MaxLanes(h)];
    hn::Store(v, h, far);
    for (size_t k = 0; k < count; ++k) {
      if (!(std::fabs(far[k]) <= 0x1p+20f)) y[i + k] = cosine ? std::cos(far[k]) : std::sin(far[k]);
    }
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
