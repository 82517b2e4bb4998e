// Hyperbolic functions of floats and their inverses, computed in double, for every instruction set. Included
// by sources that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_VEC_HYPERBOLIC_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_VEC_HYPERBOLIC_INL
#undef GRURUN_VEC_HYPERBOLIC_INL
#else
#define GRURUN_VEC_HYPERBOLIC_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/kernels/vec/vec_exp-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// log(1 + x) to 2^-36, for x >= 0; the logarithm of infinity is infinity.
template <class D>
HWY_INLINE hn::Vec<D> double_log1p(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  // (atanh(s) / s - 1) / s^2 in s^2, up to the s of sqrt(2)
  static constexpr double tail_terms[] = {0x1.555554fd93885p-2, 0x1.999a7a9c9d707p-3, 0x1.2438d2ddef0a4p-3,
                                          0x1.e2f722025430fp-4};
  const auto one = hn::Set(d, 1.0), two = hn::Set(d, 2.0), sum = hn::Add(one, x);
  const auto lost =
      hn::IfThenElse(hn::Lt(x, one), hn::Sub(x, hn::Sub(sum, one)), hn::Sub(one, hn::Sub(sum, x)));
  // sum = 2^n (1 + f). Subtracting the bits of sqrt(1/2) makes the exponent field count from there.
  const auto bits = hn::BitCast(du, sum);
  const auto exponent = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(du, 0x3fe6a09e667f3bcdu)));
  const auto to_double = hn::Set(d, 0x1p+52);
  const auto n = hn::Sub(hn::BitCast(d, hn::Or(exponent, hn::BitCast(du, to_double))), to_double);
  const auto scaled_down = [&](auto v) HWY_ATTR {
    return hn::Mul(v, hn::BitCast(d, hn::ShiftLeft<52>(hn::Sub(hn::Set(du, uint64_t{1023}), exponent))));
  };
  const auto f = hn::Add(hn::Sub(scaled_down(sum), one), scaled_down(lost));
  const auto s = hn::Div(f, hn::Add(two, f)), square = hn::Mul(s, s), twice = hn::Add(s, s);
  const auto log = hn::MulAdd(hn::Mul(twice, square), polynomial(d, square, tail_terms), twice);
  const auto y = hn::MulAdd(n, hn::Set(d, 0x1.62e42fefa39efp-1), log);
  return hn::IfThenElse(hn::Eq(x, hn::Inf(d)), x, y);
}

/// e^|x| - 1, where floats beyond 100 give what no float holds.
template <class D>
HWY_INLINE hn::Vec<D> expm1_of_magnitude(D d, hn::Vec<D> x) {
  return vector_expm1(d, at_most(hn::Abs(x), hn::Set(d, 100.0)));
}

template <class D>
HWY_INLINE hn::Vec<D> double_sinh(D d, hn::Vec<D> x) {
  const auto e = expm1_of_magnitude(d, x);
  const auto twice = hn::Add(e, hn::Div(e, hn::Add(e, hn::Set(d, 1.0))));
  return hn::CopySign(hn::Mul(twice, hn::Set(d, 0.5)), x);
}

template <class D>
HWY_INLINE hn::Vec<D> double_cosh(D d, hn::Vec<D> x) {
  const auto power = hn::Add(expm1_of_magnitude(d, x), hn::Set(d, 1.0));
  return hn::Mul(hn::Add(power, hn::Div(hn::Set(d, 1.0), power)), hn::Set(d, 0.5));
}

/// log(|x| + sqrt(x^2 + 1)), without cancellation near 0
template <class D>
HWY_INLINE hn::Vec<D> double_asinh(D d, hn::Vec<D> x) {
  const auto magnitude = hn::Abs(x), one = hn::Set(d, 1.0), square = hn::Mul(x, x);
  const auto beyond_one = hn::Div(square, hn::Add(one, hn::Sqrt(hn::Add(one, square))));
  const auto y = double_log1p(d, hn::Add(magnitude, beyond_one));
  return hn::IfThenElse(hn::Eq(magnitude, hn::Inf(d)), x, hn::CopySign(y, x));
}

/// log(x + sqrt(x^2 - 1)), without cancellation near 1; NaN below
template <class D>
HWY_INLINE hn::Vec<D> double_acosh(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0), above = hn::Sub(x, one);
  const auto root = hn::Sqrt(hn::Mul(above, hn::Add(x, one)));
  return hn::IfThenElse(hn::Lt(x, one), hn::NaN(d), double_log1p(d, hn::Add(above, root)));
}

/// log((1 + x) / (1 - x)) / 2, without cancellation near 0; NaN beyond 1
template <class D>
HWY_INLINE hn::Vec<D> double_atanh(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0), magnitude = hn::Abs(x);
  const auto y = hn::Mul(double_log1p(d, hn::Div(hn::Add(magnitude, magnitude), hn::Sub(one, magnitude))),
                         hn::Set(d, 0.5));
  return hn::IfThenElse(hn::Gt(magnitude, one), hn::NaN(d), hn::CopySign(y, x));
}

/// The nearest floats, infinities beyond the largest.
template <class H, class D>
HWY_INLINE hn::Vec<H> narrowed(H h, D d, hn::Vec<D> x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  // DemoteTo stops at the largest float here.
  HWY_ALIGN double wide[hn::MaxLanes(d)];
  HWY_ALIGN float narrow[hn::MaxLanes(d)];
  hn::Store(x, d, wide);
  std::copy_n(wide, hn::Lanes(d), narrow);
  return hn::Load(h, narrow);
#else
  (void)d;
  return hn::DemoteTo(h, x);
#endif
}

/// y = step(d, x) for n floats, step of vectors of double; y may be x. at_a_time: as of map_vectors().
template <size_t at_a_time = 1, class Step>
HWY_INLINE void map_in_double(const float* x, float* y, size_t n, const Step& step) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> h;
  const size_t lanes = hn::Lanes(d);
  const auto wide = [=](auto v) GRURUN_VECTOR_BODY { return hn::PromoteTo(d, v); };
  const auto narrow = [=](auto v) GRURUN_VECTOR_BODY { return narrowed(h, d, v); };
  size_t i = 0;
  if constexpr (at_a_time > 1) {
    for (; i + at_a_time * lanes <= n; i += at_a_time * lanes)
      store_several(each(narrow, step(d, each(wide, load_several<at_a_time>(h, x + i)))), h, y + i);
  }
  for (; i < n; i += lanes) {
    const auto v = wide(load_first(h, x + i, n - i));
    store_first(narrow(step(d, v)), h, y + i, n - i);
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
