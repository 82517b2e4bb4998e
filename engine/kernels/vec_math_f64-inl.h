// Exponential functions on vectors of double, for every instruction set. Included by sources that compile per
// target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_MATH_F64_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_MATH_F64_INL
#undef GRURUN_VEC_MATH_F64_INL
#else
#define GRURUN_VEC_MATH_F64_INL
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// x = n ln 2 + r with |r| <= ln(2) / 2; returns exp(r) - 1. For |x| up to 1000.
template <class D, class V, class VI>
HWY_INLINE V double_reduced_expm1(D d, V x, VI& n) {
  const hn::RebindToSigned<D> di;
  // Adding 1.5 * 2^52 rounds to an integer, which is then the low bits of the sum.
  const V shift = hn::Set(d, 0x1.8p+52);
  const V shifted = hn::MulAdd(x, hn::Set(d, 0x1.71547652b82fep+0), shift);
  n = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, shift));
  const V k = hn::Sub(shifted, shift);
  // ln 2 in two parts: k times the first is exact.
  V r = hn::NegMulAdd(k, hn::Set(d, 0x1.62e42fee00000p-1), x);
  r = hn::NegMulAdd(k, hn::Set(d, 0x1.a39ef35793c76p-33), r);
  // 1/n! for n from 2 to 13: what is left out is below an eighth of a unit in the last place.
  static constexpr double kTail[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                     1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                     1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  V tail = hn::Set(d, kTail[11]);
  for (size_t i = 11; i-- > 0;) tail = hn::MulAdd(tail, r, hn::Set(d, kTail[i]));
  return hn::MulAdd(hn::Mul(r, r), tail, r);
}

/// 2^n for integers n from -1022 to 1023.
template <class D, class VI>
HWY_INLINE hn::Vec<D> double_power_of_two(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(n, hn::Set(di, 1023))));
}

template <class V>
HWY_INLINE V double_keep_nan(V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// exp(x) for x <= 0 or NaN.
template <class D, class V>
HWY_INLINE V double_exp_of_negative(D d, V x) {
  const hn::RebindToSigned<D> di;
  hn::Vec<decltype(di)> n;
  const V e = hn::Add(hn::Set(d, 1.0), double_reduced_expm1(d, hn::Max(x, hn::Set(d, -746.0)), n));
  // In two steps, as 2^n alone may be out of range.
  const auto most = hn::Max(n, hn::Set(di, -1000));
  const V y = hn::Mul(hn::Mul(e, double_power_of_two(d, most)), double_power_of_two(d, hn::Sub(n, most)));
  return double_keep_nan(x, y);
}

template <class D, class V>
HWY_INLINE V double_expm1(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V clamped = hn::Min(hn::Max(x, hn::Set(d, -40.0)), hn::Set(d, 710.0));
  hn::Vec<decltype(di)> n;
  const V p = double_reduced_expm1(d, clamped, n);
  // 2^n p + (2^n - 1), half of it first, as 2^1024 does not exist.
  const V scale = double_power_of_two(d, hn::Sub(n, hn::Set(di, 1)));
  const V half = hn::MulAdd(scale, p, hn::Sub(scale, hn::Set(d, 0.5)));
  // Near 0, p is the result; halving it could lose a subnormal's last bit.
  const auto near = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, hn::Eq(n, hn::Zero(di)))));
  const V y = hn::IfThenElse(near, p, hn::Add(half, half));
  return double_keep_nan(x, hn::CopySign(y, x));
}

template <class D, class V>
HWY_INLINE V double_tanh(D d, V x) {
  // tanh(19.1) rounds to 1. expm1(2x) / (expm1(2x) + 2) does not cancel for positive x.
  const V magnitude = hn::Min(hn::Abs(x), hn::Set(d, 19.1));
  const V e = double_expm1(d, hn::Add(magnitude, magnitude));
  return double_keep_nan(x, hn::CopySign(hn::Div(e, hn::Add(e, hn::Set(d, 2.0))), x));
}

template <class D, class V>
HWY_INLINE V double_sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V e = double_exp_of_negative(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
