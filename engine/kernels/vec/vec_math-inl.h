// The functions of vec_math.h on vectors of float, for every instruction set. Included by sources that
// compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_MATH_INL
#undef GRURUN_VEC_MATH_INL
#else
#define GRURUN_VEC_MATH_INL
#endif

#include <cstddef>

#include "engine/kernels/vec/vec_exp-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "engine/kernels/vec/vec_math_scalar.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// y, except where x is NaN: there x, so that no comparison or conversion to integers above has a say.
template <class V>
HWY_INLINE V keep_nan(V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// log(1 + f) + n ln 2 + correction, for f from sqrt(1/2) - 1 to sqrt(2) - 1.
template <class D, class V>
HWY_INLINE V reduced_log(D d, V f, V n, V correction) {
  static constexpr float tail_terms[] = {0x1.555548p-2f,  -0x1.000006p-2f, 0x1.99a4cap-3f,
                                         -0x1.555c5cp-3f, 0x1.2335b2p-3f,  -0x1.fc1d58p-4f,
                                         0x1.e70710p-4f,  -0x1.de65a6p-4f, 0x1.1456c4p-4f};
  const V square = hn::Mul(f, f);
  V low = hn::MulAdd(n, hn::Set(d, 0x1.7f7d1cp-20f), correction);
  low = hn::MulAdd(hn::Mul(square, f), polynomial(d, f, tail_terms), low);
  low = hn::NegMulAdd(hn::Set(d, 0.5f), square, low);
  return hn::MulAdd(n, hn::Set(d, 0x1.62e4p-1f), hn::Add(f, low));
}

/// x = 2^n (1 + f) for positive normal x.
template <class D, class V>
HWY_INLINE V split_power(D d, V x, V& n) {
  const hn::RebindToSigned<D> di;
  // Subtracting the bits of sqrt(1/2) makes the exponent field count from there.
  const auto offset = hn::Sub(hn::BitCast(di, x), hn::Set(di, 0x3f3504f3));
  const auto exponent = hn::ShiftRight<23>(offset);
  n = hn::ConvertTo(d, exponent);
  const auto mantissa = hn::Sub(hn::BitCast(di, x), hn::ShiftLeft<23>(exponent));
  return hn::Sub(hn::BitCast(d, mantissa), hn::Set(d, 1.0f));
}

template <class D, class V>
HWY_INLINE V vector_log(D d, V x) {
  const V zero = hn::Zero(d), infinity = hn::Inf(d);
  const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-126f));
  V n;
  const V f = split_power(d, hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p+24f)), x), n);
  n = hn::IfThenElse(tiny, hn::Sub(n, hn::Set(d, 24.0f)), n);
  V y = reduced_log(d, f, n, zero);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::NaN(d), y);
  return keep_nan(x, y);
}

template <class D, class V>
HWY_INLINE V vector_log1p(D d, V x) {
  const V one = hn::Set(d, 1.0f), infinity = hn::Inf(d);
  const V sum = hn::Add(one, x);
  // What the sum lost, exactly: the smaller addend minus the part of it that arrived.
  const V lost = hn::IfThenElse(hn::Lt(x, one), hn::Sub(x, hn::Sub(sum, one)), hn::Sub(one, hn::Sub(sum, x)));
  V n;
  const V f = split_power(d, sum, n);
  V y = reduced_log(d, f, n, hn::Div(lost, sum));
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(sum, hn::Zero(d)), hn::NaN(d), y);
  // Where 1 + x is 1 the result is x, the sign of zero included.
  y = hn::IfThenElse(hn::Eq(sum, one), x, y);
  return keep_nan(x, y);
}

template <class D, class V>
HWY_INLINE V vector_softplus(D d, V x) {
  const V positive = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Zero(d));
  return hn::Add(positive, vector_log1p(d, vector_exp(d, hn::Neg(hn::Abs(x)))));
}

template <class D, class V>
HWY_INLINE V vector_erf(D d, V x) {
  // erf(x) / x - 1 in x^2, up to |x| = 1; log(1 - erf(x)) in x beyond, up to 4, where erf rounds to 1.
  static constexpr float small_terms[] = {0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2d20p-4f, -0x1.b7fbb4p-6f,
                                          0x1.5419f6p-8f, -0x1.a485eep-11f, 0x1.4ae4d4p-14f};
  static constexpr float large_terms[] = {0x1.8b3f28p-13f, -0x1.212c2cp+0f, -0x1.4434f0p-1f,
                                          -0x1.bc18d0p-4f, 0x1.9d0bd6p-6f,  -0x1.1398fap-8f,
                                          0x1.ceeaeep-12f, -0x1.6c0690p-16f};
  const auto one = hn::Set(d, 1.0f);
  const V magnitude = at_most(magnitude_of(x), hn::Set(d, 4.0f));
  const V small = mul_add(magnitude, polynomial(d, mul(magnitude, magnitude), small_terms), magnitude);
  const auto reduced = reduce(d, polynomial(d, magnitude, large_terms));
  const V scale = power_of_two(d, reduced);
  const V large = sub(one, mul_add(scale, reduced.expm1_r, scale));
  const auto chosen = [=](auto from, auto size, auto near, auto far) GRURUN_VECTOR_BODY {
    return hn::CopySignToAbs(hn::IfThenElse(hn::Lt(size, one), near, far), from);
  };
  return each(chosen, x, magnitude, small, large);
}

/// a b + c, rounded once or nearly so where multiply-adds are not fused.
template <class D, class V>
HWY_INLINE V fused(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  using T = hn::TFromD<D>;
  // What the product loses by rounding: a and b are split into halves, and products of halves are exact
  // (Dekker). Then what the sum loses.
  const V splitter = hn::Set(d, sizeof(T) == 4 ? T(0x1.002p+12) : T(0x1.0000002p+27));
  const auto upper = [=](V v) HWY_ATTR {
    const V much = hn::Mul(v, splitter);
    return hn::Sub(much, hn::Sub(much, v));
  };
  const V a_high = upper(a), b_high = upper(b), a_low = hn::Sub(a, a_high), b_low = hn::Sub(b, b_high);
  const V product = hn::Mul(a, b), sum = hn::Add(product, c), added = hn::Sub(sum, product);
  V lost = hn::Sub(hn::Mul(a_high, b_high), product);
  lost = hn::Add(lost, hn::Add(hn::Mul(a_high, b_low), hn::Mul(a_low, b_high)));
  lost = hn::Add(lost, hn::Mul(a_low, b_low));
  lost = hn::Add(lost, hn::Add(hn::Sub(product, hn::Sub(sum, added)), hn::Sub(c, added)));
  const V y = hn::Add(sum, lost);
  return hn::IfThenElse(hn::IsNaN(y), sum, y);  // of numbers too large to be split
#endif
}

/// max(0, min(1, alpha x + beta))
template <class D, class V>
HWY_INLINE V vector_hard_sigmoid(D d, V x, hn::TFromD<D> alpha, hn::TFromD<D> beta) {
  const V line = fused(d, x, hn::Set(d, alpha), hn::Set(d, beta));
  return at_least(at_most(line, hn::Set(d, hn::TFromD<D>{1})), hn::Zero(d));
}

/// x max(0, min(6, x + 3)) / 6
template <class D, class V>
HWY_INLINE V vector_hard_swish(D d, V x) {
  using T = hn::TFromD<D>;
  const V six = hn::Set(d, T{6});
  const V sixths = at_least(at_most(hn::Add(x, hn::Set(d, T{3})), six), hn::Zero(d));
#if HWY_NATIVE_FMA
  constexpr T sixth = T(1) / T(6), rest = static_cast<T>((1 - 6 * static_cast<long double>(sixth)) / 6);
  return hn::Mul(x, hn::MulAdd(sixths, hn::Set(d, sixth), hn::Mul(sixths, hn::Set(d, rest))));
#else
  return hn::Mul(x, hn::Div(sixths, six));
#endif
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
