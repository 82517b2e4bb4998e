// activation.h on vectors of float and double, for every instruction set. Included by sources that compile
// per target, after hwy/foreach_target.h.
#if defined(GRURUN_ACTIVATION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_ACTIVATION_INL
#undef GRURUN_ACTIVATION_INL
#else
#define GRURUN_ACTIVATION_INL
#endif

#include <cstddef>

#include "engine/kernels/gates/activation.h"
#include "engine/kernels/vec/vec_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr bool is_double = sizeof(hn::TFromD<D>) == 8;

template <class D, class V>
HWY_INLINE V softplus_of(D d, V x) {
  if constexpr (is_double<D>) {
    HWY_ALIGN double lanes[hn::MaxLanes(d)];
    hn::Store(x, d, lanes);
    for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = scalar_softplus(lanes[i]);
    return hn::Load(d, lanes);
  } else {
    return vector_softplus(d, x);
  }
}

/// The comparisons let NaN through.
template <class V>
HWY_INLINE V bounded(V x, V low, V high) {
  return hn::IfThenElse(hn::Lt(x, low), low, hn::IfThenElse(hn::Gt(x, high), high, x));
}

/// min(max(x, -clip), clip) of each lane.
template <class D, class V>
HWY_INLINE V clipped(D d, V x, float clip) {
  const V high = hn::Set(d, static_cast<hn::TFromD<D>>(clip));
  return bounded(x, hn::Neg(high), high);
}

/// f(min(max(x, -clip), clip)) of each lane.
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V activate(D d, const Activation& f, float clip, V x) {
  using T = hn::TFromD<D>;
  if (clip != no_clip) x = clipped(d, x, clip);
  const V zero = hn::Zero(d), one = hn::Set(d, T{1});
  const V alpha = hn::Set(d, static_cast<T>(f.alpha)), beta = hn::Set(d, static_cast<T>(f.beta));
  switch (f.kind) {
    case ActivationKind::relu:
      return hn::IfThenElse(hn::Lt(x, zero), zero, x);
    case ActivationKind::tanh:
      return vector_tanh(d, x);
    case ActivationKind::sigmoid:
      return vector_sigmoid(d, x);
    case ActivationKind::affine:
      return hn::Add(hn::Mul(alpha, x), beta);
    case ActivationKind::leaky_relu:
      return hn::IfThenElse(hn::Ge(x, zero), x, hn::Mul(alpha, x));
    case ActivationKind::thresholded_relu:
      return hn::IfThenElse(hn::Ge(x, alpha), x, zero);
    case ActivationKind::scaled_tanh:
      return hn::Mul(alpha, vector_tanh(d, hn::Mul(beta, x)));
    case ActivationKind::hard_sigmoid:
      return bounded(hn::Add(hn::Mul(alpha, x), beta), zero, one);
    case ActivationKind::elu:
      return hn::IfThenElse(hn::Ge(x, zero), x, hn::Mul(alpha, vector_expm1(d, x)));
    case ActivationKind::softsign:
      return hn::Div(x, hn::Add(one, hn::Abs(x)));
    case ActivationKind::softplus:
      return softplus_of(d, x);
  }
  return x;
}

// The functions of a cell's gates as types, so that the usual ones become part of its code.

struct Sigmoid {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_sigmoid(d, x);
  }
};

struct Tanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_tanh(d, x);
  }
};

template <class Function>
struct Clipped {
  float clip;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Function()(d, clipped(d, x, clip));
  }
};

struct AnyFunction {
  const Activation& f;
  float clip;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return activate(d, f, clip, x);
  }
};

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
