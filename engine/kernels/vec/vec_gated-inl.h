// Functions of floats that are x times a gate which vanishes below 0: Gelu, Swish, Mish. Computed in double,
// where neither the gate's small values nor what its argument loses by rounding count, for every instruction
// set. Included by sources that compile per target, after hwy/foreach_target.h.
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
  const V cubic = mul_add(mul(x, x), hn::Set(d, gelu_cubic<double>), hn::Set(d, 1.0));
  return gated(d, x, mul(mul(x, hn::Set(d, gelu_scale<double>)), cubic));
}

/// x tanh(ln(1 + e^x)) = x w / (w + 2) with w = e^x (e^x + 2)
template <class D, class V>
HWY_INLINE V double_mish(D d, V x) {
  const auto two = hn::Set(d, 2.0);
  const V e = exp_to_float(d, at_most(at_least(x, hn::Set(d, vanishing_exponent)), hn::Set(d, 60.0)));
  const V w = mul(e, add(e, two));
  return mul(x, mul(w, reciprocal_to_float(d, add(w, two))));
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
