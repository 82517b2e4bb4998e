// Sine, cosine and tangent of floats, computed in double, and their inverses, for every instruction set.
// Included by sources that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_TRIG_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_TRIG_INL
#undef GRURUN_VEC_TRIG_INL
#else
#define GRURUN_VEC_TRIG_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/kernels/vec/vec_exp-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

enum class Angle { sine, cosine, tangent };

/// The function of x, to 2^-28, for floats |x| <= 2^20.
template <Angle of, class D>
HWY_INLINE hn::Vec<D> double_of_angle(D d, hn::Vec<D> x) {
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
  static constexpr double sine_terms[] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880};
  static constexpr double cosine_terms[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800};
  const auto square = hn::Mul(r, r);
  const auto sine_of_r = hn::Mul(r, polynomial(d, square, sine_terms));
  const auto cosine_of_r = polynomial(d, square, cosine_terms);
  // A quarter turn makes one of the other, a half turn changes the sign.
  auto turns = hn::BitCast(di, shifted);
  if (of == Angle::cosine) turns = hn::Add(turns, hn::Set(di, 1));
  const auto is_odd = hn::Ne(hn::And(turns, hn::Set(di, 1)), hn::Zero(di));
  const auto odd = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, is_odd)));
  const auto value = hn::IfThenElse(odd, cosine_of_r, sine_of_r);
  if (of == Angle::tangent) return hn::Div(value, hn::IfThenElse(odd, hn::Neg(sine_of_r), cosine_of_r));
  const auto sign = hn::ShiftLeft<62>(hn::And(turns, hn::Set(di, 2)));
  return hn::Xor(value, hn::BitCast(d, sign));
}

template <Angle of>
float library_of_angle(float x) {
  return of == Angle::sine ? std::sin(x) : of == Angle::cosine ? std::cos(x) : std::tan(x);
}

/// y = the function of x for n floats; y may be x. Those beyond 2^20, which more digits of pi belong to, take
/// the C library.
template <Angle of>
void map_angles(const float* x, float* y, size_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> h;
  const size_t lanes = hn::Lanes(d);
  const auto most = hn::Set(d, 0x1p+20);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min(lanes, n - i);
    const auto v = load_first(h, x + i, count);
    const auto wide = hn::PromoteTo(d, v);
    const auto made = hn::DemoteTo(h, double_of_angle<of>(d, wide));
    store_first(made, h, y + i, count);
    if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(wide), most)))) continue;
    HWY_ALIGN float far[hn::MaxLanes(h)];
    hn::Store(v, h, far);
    for (size_t k = 0; k < count; ++k) {
      if (!(std::fabs(far[k]) <= 0x1p+20f)) y[i + k] = library_of_angle<of>(far[k]);
    }
  }
}

/// high + low = pi / 2
template <class D>
struct QuarterTurn {
  hn::Vec<D> high, low;
  explicit QuarterTurn(D d) : high(hn::Set(d, 0x1.921fb6p+0f)), low(hn::Set(d, -0x1.777a5cp-25f)) {}
};

/// What asin and acos are made of: asin(|x|) = near where |x| <= 1/2, and pi / 2 - 2 near beyond, where near
/// is asin(sqrt((1 - |x|) / 2)); NaN beyond 1.
template <class D, class V>
HWY_INLINE V near_asin(D d, V x, hn::Mask<D>& beyond) {
  // (asin(s) / s - 1) / s^2 in s^2, up to s = 1/2
  static constexpr float tail_terms[] = {0x1.55554cp-3f, 0x1.33388ep-4f, 0x1.6cac3cp-5f,
                                         0x1.04a660p-5f, 0x1.d7f1bep-7f, 0x1.33bbf8p-5f};
  const V magnitude = hn::Abs(x), half = hn::Set(d, 0.5f);
  beyond = hn::Gt(magnitude, half);
  const V square =
      hn::IfThenElse(beyond, hn::NegMulAdd(half, magnitude, half), hn::Mul(magnitude, magnitude));
  const V s = hn::IfThenElse(beyond, hn::Sqrt(square), magnitude);
  return hn::MulAdd(hn::Mul(s, square), polynomial(d, square, tail_terms), s);
}

template <class D, class V>
HWY_INLINE V vector_asin(D d, V x) {
  hn::Mask<D> beyond;
  const V near = near_asin(d, x, beyond);
  const QuarterTurn<D> quarter(d);
  const V far = hn::Add(hn::NegMulAdd(hn::Set(d, 2.0f), near, quarter.high), quarter.low);
  return hn::CopySign(hn::IfThenElse(beyond, far, near), x);
}

template <class D, class V>
HWY_INLINE V vector_acos(D d, V x) {
  hn::Mask<D> beyond;
  const V near = near_asin(d, x, beyond);
  const QuarterTurn<D> quarter(d);
  const V two = hn::Set(d, 2.0f), twice = hn::Mul(two, near);
  const V behind = hn::Add(hn::MulSub(two, quarter.high, twice), hn::Mul(two, quarter.low));
  const V far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), behind, twice);
  return hn::IfThenElse(beyond, far, hn::Add(hn::Sub(quarter.high, hn::CopySign(near, x)), quarter.low));
}

/// Beyond 1 it is pi / 2 less the arc tangent of the reciprocal.
template <class D, class V>
HWY_INLINE V vector_atan(D d, V x) {
  // (atan(t) / t - 1) / t^2 in t^2, up to t = 1
  static constexpr float tail_terms[] = {-0x1.555540p-2f, 0x1.999276p-3f,  -0x1.2426f8p-3f,
                                         0x1.c0d284p-4f,  -0x1.58dc70p-4f, 0x1.dd0eb8p-5f,
                                         -0x1.01af66p-5f, 0x1.6a8f48p-7f,  -0x1.defe3ap-10f};
  const V magnitude = hn::Abs(x), one = hn::Set(d, 1.0f);
  const auto beyond = hn::Gt(magnitude, one);
  const V t = hn::IfThenElse(beyond, hn::Div(one, magnitude), magnitude);
  const V square = hn::Mul(t, t);
  const V near = hn::MulAdd(hn::Mul(t, square), polynomial(d, square, tail_terms), t);
  const QuarterTurn<D> quarter(d);
  const V far = hn::Add(hn::Sub(quarter.high, near), quarter.low);
  return hn::CopySign(hn::IfThenElse(beyond, far, near), x);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
