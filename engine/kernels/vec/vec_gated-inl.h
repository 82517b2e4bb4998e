// Gelu, Swish and Mish of floats: x times a gate that vanishes below 0. Double holds the gate's small values
// and its argument without loss; Gelu and Swish have a faster form in float where multiply-adds are fused.
// Included by sources that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_GATED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_GATED_INL
#undef GRURUN_VEC_GATED_INL
#else
#define GRURUN_VEC_GATED_INL
#endif

#include "engine/kernels/vec/vec_exp-inl.h"
#include "engine/kernels/vec/vec_math_scalar.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// exp_to_float() of it, and of what is less, is 0.
constexpr double vanishing_exponent = -709.1;

/// exp(x) to 2^-28, for x from vanishing_exponent to 700.
template <class D, class V>
HWY_INLINE V exp_to_float(D d, V x) {
  using Of = ExpOf<double>;
  static constexpr double tail_terms[] = {0x1.00000051c360bp-1, 0x1.55548eec4aa62p-3, 0x1.55545de8cf127p-5,
                                          0x1.123b55149f8aep-7, 0x1.6db4291ad4261p-10};
  const V shifted = mul_add(x, hn::Set(d, Of::log2_of_e), hn::Set(d, Of::shift));
  const V n = sub(shifted, hn::Set(d, Of::shift));
  const V r = neg_mul_add(n, hn::Set(d, Of::ln2_high + Of::ln2_low), x);
  const Reduced<V> reduced{mul_add(mul(r, r), polynomial(d, r, tail_terms), r), n, shifted};
  const V scale = power_of_two(d, reduced);  // bits of 0 for the least x
  return mul_add(scale, reduced.expm1_r, scale);
}

/// 1 / x to 2^-28, for x from 1 to 2^1000.
template <class D, class V>
HWY_INLINE V reciprocal_to_float(D d, V x) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 8) {
    const V estimate = each([](auto v) GRURUN_VECTOR_BODY { return decltype(v){_mm512_rcp14_pd(v.raw)}; }, x);
    return mul_add(estimate, neg_mul_add(x, estimate, hn::Set(d, 1.0)), estimate);
  }
#endif
  return divide(hn::Set(d, 1.0), x);
}

/// x Phi(x), Phi the normal distribution. Phi(-|x|) is e^(-x^2 / 2) times a function that a polynomial in
/// t = 1 / (1 + |x| / 4) describes.
template <class D, class V>
HWY_INLINE V double_gelu(D d, V x) {
  static constexpr double beyond_terms[] = {
      0x1.987b9c6f73906p-4,  0x1.9959dfdb1d074p-4, 0x1.75fe25652fb7ep-4,  0x1.841864ce6aee3p-4,
      0x1.1602f69871a3ap-7,  0x1.87ce22754792ep-3, -0x1.f931d37ff2d9ap-3, 0x1.56369fc2f7347p-2,
      -0x1.fc5c24377481ep-3, 0x1.6401dc1523bb8p-4, -0x1.8048ae1fded36p-7};
  const auto one = hn::Set(d, 1.0);
  const V size = at_most(magnitude_of(x), hn::Set(d, 37.66));  // whose power is vanishing_exponent's
  const V power = exp_to_float(d, mul(mul(size, size), hn::Set(d, -0.5)));
  const V t = reciprocal_to_float(d, mul_add(size, hn::Set(d, 0.25), one));
  const V beyond = mul(mul(polynomial(d, t, beyond_terms), t), power);
  const auto on_its_side = [=](auto of, auto b) GRURUN_VECTOR_BODY {
    return hn::Mul(of, hn::IfThenElse(hn::Lt(of, hn::Zero(d)), b, hn::Sub(one, b)));
  };
  return each(on_its_side, x, beyond);
}

/// x / (1 + e^-z)
template <class D, class V>
HWY_INLINE V gated(D d, V x, V z) {
  const V e = exp_to_float(d, at_most(at_least(z, hn::Set(d, vanishing_exponent)), hn::Set(d, 60.0)));
  return mul(x, mul(e, reciprocal_to_float(d, add(e, hn::Set(d, 1.0)))));
}

template <class D, class V>
HWY_INLINE V double_gelu_tanh(D d, V x) {
  const V cubic = mul_add(mul(x, x), hn::Set(d, gelu_cubic), hn::Set(d, 1.0));
  return gated(d, x, mul(mul(x, hn::Set(d, gelu_scale)), cubic));
}

/// x tanh(ln(1 + e^x)) = x w / (w + 2) with w = e^x (e^x + 2)
template <class D, class V>
HWY_INLINE V double_mish(D d, V x) {
  const auto two = hn::Set(d, 2.0);
  const V e = exp_to_float(d, at_most(at_least(x, hn::Set(d, vanishing_exponent)), hn::Set(d, 60.0)));
  const V w = mul(e, add(e, two));
  return mul(x, mul(w, reciprocal_to_float(d, add(w, two))));
}

#if HWY_NATIVE_FMA
/// 2^64 e^-x of this x, by power_of_two(), is 0.
constexpr float vanishing_size = 132.4f;

/// x / (1 + e^(-alpha x)) of floats, in less time than in double: where what a rounding loses would grow, it
/// is carried on. With e^(-|alpha x|) = e = 2^n (1 + p), that is 2^n x (1 + p) / (1 + e) below 0.
template <bool scaled, class D, class V>
HWY_INLINE V vector_swish(D d, V x, float alpha) {
  const auto one = hn::Set(d, 1.0f);
  const V z = scaled ? mul(x, hn::Set(d, alpha)) : x;
  const V size = at_most(magnitude_of(z), hn::Set(d, vanishing_size));
  Reduced<V> reduced;
  if constexpr (scaled) {
    const auto of_negative_size = [=](auto of, auto bounded, auto low) GRURUN_VECTOR_BODY {
      const auto its = hn::IfThenElse(hn::Lt(of, hn::Zero(d)), low, hn::Neg(low));
      return hn::IfThenElseZero(hn::Lt(bounded, hn::Set(d, vanishing_size)), its);
    };
    const auto negative = [](auto v) GRURUN_VECTOR_BODY { return hn::Neg(v); };
    const V low = each(of_negative_size, z, size, mul_sub(x, hn::Set(d, alpha), z));
    reduced = reduce_both(d, each(negative, size), low);
  } else {
    reduced = reduce<true>(d, size);
  }
  const V scale = power_of_two(d, reduced, 64);
  const V e = mul(mul_add(scale, reduced.expm1_r, scale), hn::Set(d, 0x1p-64f));
  const V sum = add(e, one), lost = sub(e, sub(sum, one));
  const V share = neg_mul_add(e, hn::Set(d, 0.5f), one);  // about 1 / (1 + e), within an eighth
  const auto with_p_below_0 = [=](auto of, auto p, auto l) GRURUN_VECTOR_BODY {
    return hn::Sub(hn::IfThenElseZero(hn::Lt(of, hn::Zero(d)), p), l);
  };
  const V factor = each(with_p_below_0, z, reduced.expm1_r, mul(lost, share));
  const auto scaled_below_0 = [=](auto of, auto from, auto power) GRURUN_VECTOR_BODY {
    return hn::IfThenElse(hn::Lt(of, hn::Zero(d)), hn::Mul(from, power), from);
  };
  const V start = each(scaled_below_0, z, x, scale), numerator = mul_add(start, factor, start);
  V y = quotient(d, numerator, sum);
  if constexpr (scaled) y = mul_add(mul_add(start, factor, sub(start, numerator)), share, y);
  const auto last = [=](auto of, auto from, auto v) GRURUN_VECTOR_BODY {
    const auto scaled_back = hn::IfThenElse(hn::Lt(of, hn::Zero(d)), hn::Mul(v, hn::Set(d, 0x1p-64f)), v);
    return hn::IfThenElse(hn::Gt(of, hn::Set(d, 20.0f)), from, scaled_back);  // infinity, too
  };
  return each(last, z, x, y);
}

/// double_gelu() of floats, in less time: x < 0 gives x t P 2^n (1 + p), where e^(-x^2 / 2) = 2^n (1 + p), P
/// is a polynomial in t - center and t = 1 / (1 + |x| / 4). All but the power, which is exact, have two
/// parts.
template <class D, class V>
HWY_INLINE V vector_gelu(D d, V x) {
  static constexpr float center = 0.4873046875f, at_center = 0x1.7aedf8p-3f;  // P there has no more digits
  static constexpr float slope_terms[] = {0x1.2d5c34p-2f,  0x1.7e1e16p-2f, 0x1.7189b0p-2f,
                                          0x1.e6b846p-3f,  0x1.076890p-4f, -0x1.a6d574p-5f,
                                          -0x1.a46b2ap-5f, 0x1.2c898ep-7f, 0x1.1bd7ccp-6f};
  const auto one = hn::Set(d, 1.0f), quarter = hn::Set(d, 0.25f), minus_half = hn::Set(d, -0.5f);
  const auto first = hn::Set(d, at_center);
  const V magnitude = magnitude_of(x), size = at_most(magnitude, hn::Set(d, 16.28f));
  const V square = mul(size, size), lost = mul_sub(size, size, square);
  const auto power = reduce_both(d, mul(square, minus_half), mul(lost, minus_half));
  const V sum = mul_add(size, quarter, one), sum_low = mul_add(size, quarter, sub(one, sum));
  const V estimate = quotient(d, one, sum);
  const V left = neg_mul_add(sum_low, estimate, neg_mul_add(sum, estimate, one));
  const V t = mul_add(estimate, left, estimate), t_low = mul_add(estimate, left, sub(estimate, t));
  const V from_center = sub(t, hn::Set(d, center)), slope = polynomial(d, from_center, slope_terms);
  const V p = mul_add(from_center, slope, first);
  const V p_low = mul_add(slope, t_low, mul_add(from_center, slope, sub(first, p)));
  const V scaled = mul(mul(magnitude, hn::Set(d, -1.0f)), power_of_two(d, power, 64));
  const V a = mul(scaled, t), a_low = mul_add(scaled, t_low, mul_sub(scaled, t, a));
  const V b = mul_add(p, power.expm1_r, p);
  const V b_low = add(mul_add(p, power.expm1_r, sub(p, b)), mul_add(p_low, power.expm1_r, p_low));
  const V beyond = mul_add(a, b, mul_add(a, b_low, mul(a_low, b)));
  const auto result = [=](auto of, auto v) GRURUN_VECTOR_BODY {
    const auto above_0 = hn::IfThenZeroElse(hn::Lt(of, hn::Zero(d)), of);
    const auto y = hn::MulAdd(v, hn::Set(d, 0x1p-64f), above_0);
    return hn::CopySign(hn::IfThenElse(hn::Gt(of, hn::Set(d, 8.0f)), of, y), of);  // infinity, too
  };
  return each(result, x, beyond);
}
#endif

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
