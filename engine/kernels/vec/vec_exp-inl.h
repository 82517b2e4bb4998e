// Exponential functions on vectors of float and double, for every instruction set. Included by sources that
// compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_EXP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_EXP_INL
#undef GRURUN_VEC_EXP_INL
#else
#define GRURUN_VEC_EXP_INL
#endif

#include <cstddef>

#include "engine/kernels/machine/simd.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// V is a vector, or Several, wherever a function is in terms of each().

/// c[0] + x * (c[1] + x * (...)). All polynomials here are minimax approximations of their own.
template <class D, class V, size_t N>
HWY_INLINE V polynomial(D d, V x, const hn::TFromD<D> (&c)[N]) {
  V sum = mul_add(hn::Set(d, c[N - 1]), x, hn::Set(d, c[N - 2]));
  for (size_t i = N - 2; i-- > 0;) sum = mul_add(sum, x, hn::Set(d, c[i]));
  return sum;
}

/// What the functions need to know of a type: its bits, ln 2, and where their results no longer change.
template <class T>
struct ExpOf;

template <>
struct ExpOf<float> {
  static constexpr int fraction_bits = 23, exponent_bias = 127;
  static constexpr float shift = 0x1.8p+23f;  // adding it rounds to an integer
  // ln 2 in two parts: an integer times the first is exact, as the first ends in nine zero bits.
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f, log2_of_e = 0x1.715476p+0f;
  static constexpr float vanishes = 104.0f;        // exp(-104) rounds to 0
  static constexpr float overflows = 89.0f;        // exp(89) to infinity
  static constexpr float absorbed = 20.0f;         // expm1(-20) to -1
  static constexpr float tanh_is_one = 9.1f;       // tanh(9.1) to 1
  static constexpr float takes_up_one = 0x1p+24f;  // adding 1 to it changes nothing

  // (exp(r) - 1 - r) / r^2
  template <class D, class V>
  static HWY_INLINE V tail(D d, V r, V) {
    static constexpr float tail_terms[] = {0x1.000000p-1f, 0x1.555554p-3f,  0x1.5554b0p-5f,
                                           0x1.11118ap-7f, 0x1.6d7348p-10f, 0x1.a032d4p-13f};
    return polynomial(d, r, tail_terms);
  }
};

template <>
struct ExpOf<double> {
  static constexpr int fraction_bits = 52, exponent_bias = 1023;
  static constexpr double shift = 0x1.8p+52;
  static constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33,
                          log2_of_e = 0x1.71547652b82fep+0;
  static constexpr double vanishes = 746.0;
  static constexpr double overflows = 710.0;
  static constexpr double absorbed = 40.0;
  static constexpr double tanh_is_one = 19.1;
  static constexpr double takes_up_one = 0x1p+53;

  // Pairs of terms side by side: one term after the other, the chain of them would be what takes the time.
  template <class D, class V>
  static HWY_INLINE V tail(D d, V r, V square) {
    static constexpr double tail_terms[] = {
        0x1.0000000000001p-1,  0x1.5555555555558p-3,  0x1.5555555553d67p-5,  0x1.111111110f809p-7,
        0x1.6c16c1788a1f9p-10, 0x1.a01a01b0094d0p-13, 0x1.a019b913f94b5p-16, 0x1.71ddf6bc1d52bp-19,
        0x1.28917d30eab79p-22, 0x1.af631b5f3ae84p-26};
    const auto pair = [=](size_t i) HWY_ATTR {
      return mul_add(hn::Set(d, tail_terms[i + 1]), r, hn::Set(d, tail_terms[i]));
    };
    const V low = mul_add(pair(2), square, pair(0)), high = mul_add(pair(6), square, pair(4));
    const V fourth = mul(square, square);
    return mul_add(mul_add(pair(8), fourth, high), fourth, low);
  }
};

/// 2^n for integers n that are exponents of normal numbers.
template <class D, class VI>
HWY_INLINE hn::Vec<D> integer_power_of_two(D d, VI n) {
  using Of = ExpOf<hn::TFromD<D>>;
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<Of::fraction_bits>(hn::Add(n, hn::Set(di, Of::exponent_bias))));
}

/// a / b for b from 1 to 2^64, within one unit in the last place.
template <class D, class V, class W>
HWY_INLINE W quotient(D d, V a, W b) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    if (!divides_fast()) {
      // By an estimate of 14 bits, and what is then left of a.
      const W estimate = each([](auto v) GRURUN_VECTOR_BODY { return hn::ApproximateReciprocal(v); }, b);
      const W q = mul(a, estimate);
      return mul_add(estimate, neg_mul_add(b, q, a), q);
    }
  }
#endif
  (void)d;
  return divide(a, b);
}

/// x = n ln 2 + r with |r| <= ln(2) / 2.
template <class V>
struct Reduced {
  V expm1_r;
  V n;        // an integer
  V shifted;  // n + shift, whose low bits are those of n
};

template <class D, class V>
HWY_INLINE V expm1_of_reduced(D d, V r) {
  const V square = mul(r, r);
  return mul_add(square, ExpOf<hn::TFromD<D>>::tail(d, r, square), r);
}

/// Of x, or of -x if negative; for |x| up to twice vanishes.
template <bool negative = false, class D, class V>
HWY_INLINE Reduced<V> reduce(D d, V x) {
  using Of = ExpOf<hn::TFromD<D>>;
  const auto log2_e = hn::Set(d, negative ? -Of::log2_of_e : Of::log2_of_e), high = hn::Set(d, Of::ln2_high);
  const V shifted = mul_add(x, log2_e, hn::Set(d, Of::shift));
  const V n = sub(shifted, hn::Set(d, Of::shift));
  V r = negative ? neg_mul_sub(n, high, x) : neg_mul_add(n, high, x);
  r = neg_mul_add(n, hn::Set(d, Of::ln2_low), r);
  return {expm1_of_reduced(d, r), n, shifted};
}

/// Of x + low, where low is what x lost by rounding. What r would lose likewise, its own term does not.
template <class D, class V>
HWY_INLINE Reduced<V> reduce_both(D d, V x, V low) {
  using Of = ExpOf<hn::TFromD<D>>;
  const V shifted = mul_add(x, hn::Set(d, Of::log2_of_e), hn::Set(d, Of::shift));
  const V n = sub(shifted, hn::Set(d, Of::shift));
  const V exact = neg_mul_add(n, hn::Set(d, Of::ln2_high), x);
  const V rest = neg_mul_add(n, hn::Set(d, Of::ln2_low), low);
  const V r = add(exact, rest), square = mul(r, r);
  return {add(exact, mul_add(square, Of::tail(d, r, square), rest)), n, shifted};
}

/// 2^(n + plus), for sums that are exponents of normal numbers.
template <class D, class V>
HWY_INLINE V power_of_two(D d, const Reduced<V>& x, int plus = 0) {
  using Of = ExpOf<hn::TFromD<D>>;
  const hn::RebindToSigned<D> di;
  using TI = hn::TFromD<decltype(di)>;
  const auto bias = hn::Set(di, TI{Of::exponent_bias + plus} << Of::fraction_bits);
  return each(
      [=](auto shifted) GRURUN_VECTOR_BODY {
        const auto exponent =
            hn::ShiftLeft<Of::fraction_bits>(hn::BitCast(di, shifted));  // the rest is shifted out
        return hn::BitCast(d, hn::Add(exponent, bias));
      },
      x.shifted);
}

/// exp(x) from x reduced, for x from -vanishes to overflows.
template <class D, class V>
HWY_INLINE V exp_of(D d, const Reduced<V>& x) {
  using T = hn::TFromD<D>;
  const V e = add(hn::Set(d, T{1}), x.expm1_r);
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {
    const auto scaled = [](auto v, auto n)
                            GRURUN_VECTOR_BODY { return decltype(v){_mm512_scalef_ps(v.raw, n.raw)}; };
    return each(scaled, e, x.n);
  }
#endif
  // In two steps, as 2^n alone may be out of range.
  const auto scaled = [=](auto v, auto shifted) GRURUN_VECTOR_BODY {
    const hn::RebindToSigned<D> di;
    const auto n = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, hn::Set(d, ExpOf<T>::shift)));
    const auto half = hn::ShiftRight<1>(n);
    return hn::Mul(hn::Mul(v, integer_power_of_two(d, half)), integer_power_of_two(d, hn::Sub(n, half)));
  };
  return each(scaled, e, x.shifted);
}

/// exp(x) from x reduced, for x from -vanishes to 0.
template <class D, class V>
HWY_INLINE V exp_of_negative(D d, const Reduced<V>& x) {
  using T = hn::TFromD<D>;
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(T) == 4) return exp_of(d, x);
#endif
  // 2^64 times the result is no subnormal number.
  const V scale = power_of_two(d, x, 64);
  return mul(mul_add(scale, x.expm1_r, scale), hn::Set(d, T{0x1p-64f}));
}

template <class D, class V>
HWY_INLINE V vector_exp(D d, V x) {
  // Beyond these the result is infinity or 0 anyway. NaN passes them, and nothing turns it into a number.
  return exp_of(d, reduce(d, at_most(at_least(x, hn::Set(d, -ExpOf<hn::TFromD<D>>::vanishes)),
                                     hn::Set(d, ExpOf<hn::TFromD<D>>::overflows))));
}

/// exp(x) for x up to 0 or NaN, with the bits of vector_exp. What gives 0 does not go through the arithmetic:
/// processors take long for results below the normal numbers, and masks make whole vectors of them.
template <class D, class V>
HWY_INLINE V vector_exp_of_negative(D d, V x) {
  const auto zero_where_vanishing = [=](auto of, auto y) GRURUN_VECTOR_BODY {
    return hn::IfThenZeroElse(hn::Lt(of, hn::Set(d, -ExpOf<hn::TFromD<D>>::vanishes)), y);
  };
  return each(zero_where_vanishing, x, exp_of_negative(d, reduce(d, each(zero_where_vanishing, x, x))));
}

template <class D, class V>
HWY_INLINE V vector_expm1(D d, V x) {
  using Of = ExpOf<hn::TFromD<D>>;
  using T = hn::TFromD<D>;
  const auto reduced = reduce(d, at_most(at_least(x, hn::Set(d, -Of::absorbed)), hn::Set(d, Of::overflows)));
  // 2^n p + (2^n - 1), half of it first, as the power beyond the largest number does not exist.
  const V scale = power_of_two(d, reduced, -1);
  const V half = hn::MulAdd(scale, reduced.expm1_r, hn::Sub(scale, hn::Set(d, T{0.5})));
  const V y = hn::Add(half, half);
  // Near 0, p is the result; halving it could lose a subnormal's last bit.
  const V near = hn::IfThenElse(hn::Eq(reduced.n, hn::Zero(d)), reduced.expm1_r, y);
  return hn::CopySign(near, x);
}

/// a / (1 + a) for a from 0 to takes_up_one, within one unit in the last place.
template <class D, class V>
HWY_INLINE V share_of_one_more(D d, V a) {
  const auto one = hn::Set(d, hn::TFromD<D>{1});
  // What the sum loses by rounding is taken from the quotient q; 1 / (1 + a) is 1 - q.
  const V sum = add(a, one), lost = sub(a, sub(sum, one)), q = quotient(d, a, sum);
  return neg_mul_add(neg_mul_add(q, q, q), lost, q);
}

template <class D, class V>
HWY_INLINE V vector_tanh(D d, V x) {
  using Of = ExpOf<hn::TFromD<D>>;
  // With h = expm1(2|x|) / 2, h / (1 + h) does not cancel.
  const V magnitude = at_most(magnitude_of(x), hn::Set(d, Of::tanh_is_one));
  const auto reduced = reduce(d, add(magnitude, magnitude));
  const V scale = power_of_two(d, reduced, -1);
  const V h = mul_add(scale, reduced.expm1_r, sub(scale, hn::Set(d, hn::TFromD<D>{0.5})));
  const auto with_sign = [](auto y, auto sign) GRURUN_VECTOR_BODY { return hn::CopySignToAbs(y, sign); };
  return each(with_sign, share_of_one_more(d, at_most(h, hn::Set(d, Of::takes_up_one))), x);
}

template <class D, class V>
HWY_INLINE V vector_sigmoid(D d, V x) {
  using T = hn::TFromD<D>;
  const V e = exp_of_negative(d, reduce<true>(d, at_most(magnitude_of(x), hn::Set(d, ExpOf<T>::vanishes))));
  const auto on_its_side = [=](auto of, auto below) GRURUN_VECTOR_BODY {
    return hn::IfThenElse(hn::Lt(of, hn::Zero(d)), below, hn::Sub(hn::Set(d, T{1}), below));
  };
  return each(on_its_side, x, share_of_one_more(d, e));
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
