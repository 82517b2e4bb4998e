#include "engine/kernels/vec/vec_arith.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/tuning.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_arith.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_divide-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

#ifndef GRURUN_VEC_ARITH_OPERANDS
#define GRURUN_VEC_ARITH_OPERANDS
namespace grurun::kernels {

enum class Arithmetic { add, sub, mul, div, max, min };

/// Where the operands advance: 1 for an array, 0 for a scalar, of which there is one at most.
template <class T>
struct Operands {
  const T *a, *b;
  size_t a_step, b_step;
};

}  // namespace grurun::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <Arithmetic op, class V>
HWY_INLINE V apply(V a, V b) {
  if constexpr (op == Arithmetic::add) return hn::Add(a, b);
  if constexpr (op == Arithmetic::sub) return hn::Sub(a, b);
  if constexpr (op == Arithmetic::mul) return hn::Mul(a, b);
  if constexpr (op == Arithmetic::div) return hn::Div(a, b);
  if constexpr (op == Arithmetic::max) return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  if constexpr (op == Arithmetic::min) return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
}

// What steps is known beforehand, and pointers are copies: a loop that asks for each vector takes twice as
// long.
template <Arithmetic op, bool a_steps, bool b_steps, class T>
HWY_INLINE void walk(const T* a, const T* b, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> d1;
  const size_t lanes = hn::Lanes(d);
  const auto one_a = hn::Set(d, *a), one_b = hn::Set(d, *b);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto av = a_steps ? hn::LoadU(d, a + i) : one_a;
    const auto bv = b_steps ? hn::LoadU(d, b + i) : one_b;
    hn::StoreU(apply<op>(av, bv), d, y + i);
  }
  for (; i < n; ++i) {
    const auto av = hn::LoadU(d1, a + (a_steps ? i : 0)), bv = hn::LoadU(d1, b + (b_steps ? i : 0));
    hn::StoreU(apply<op>(av, bv), d1, y + i);
  }
}

template <Arithmetic op, class T>
void loop(const Operands<T>& in, T* y, size_t n) {
  if (in.a_step && in.b_step) return walk<op, true, true>(in.a, in.b, y, n);
  if (in.a_step) return walk<op, true, false>(in.a, in.b, y, n);
  walk<op, false, true>(in.a, in.b, y, n);
}

template <class T>
void select(Arithmetic op, const Operands<T>& in, T* y, size_t n) {
  switch (op) {
    case Arithmetic::add:
      return loop<Arithmetic::add>(in, y, n);
    case Arithmetic::sub:
      return loop<Arithmetic::sub>(in, y, n);
    case Arithmetic::mul:
      return loop<Arithmetic::mul>(in, y, n);
    case Arithmetic::div:
      return loop<Arithmetic::div>(in, y, n);
    case Arithmetic::max:
      return loop<Arithmetic::max>(in, y, n);
    case Arithmetic::min:
      return loop<Arithmetic::min>(in, y, n);
  }
}

void arith_f32(Arithmetic op, const Operands<float>& in, float* y, size_t n) {
  select(op, in, y, n);
}
void arith_f64(Arithmetic op, const Operands<double>& in, double* y, size_t n) {
  select(op, in, y, n);
}

/// An array over a scalar.
void divide_f32(const Operands<float>& in, float* y, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const Divisor over(*in.b);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(over(hn::LoadU(d, in.a + i)), d, y + i);
  for (; i < n; ++i) y[i] = in.a[i] / *in.b;
}

template <class T>
void clip(const T* x, T low, T high, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto least = hn::Set(d, low), most = hn::Set(d, high);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(at_most(at_least(hn::LoadU(d, x + i), least), most), d, y + i);
  if (i < n) store_first(at_most(at_least(load_first(d, x + i, n - i), least), most), d, y + i, n - i);
}
void clip_f32(const float* x, float low, float high, float* y, size_t n) {
  clip(x, low, high, y, n);
}
void clip_f64(const double* x, double low, double high, double* y, size_t n) {
  clip(x, low, high, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(arith_f32);
HWY_EXPORT(arith_f64);
HWY_EXPORT(divide_f32);
HWY_EXPORT(clip_f32);
HWY_EXPORT(clip_f64);

namespace {

void dispatch(Arithmetic op, const Operands<float>& in, float* y, size_t n) {
  if (op == Arithmetic::div && in.b_step == 0) return HWY_DYNAMIC_DISPATCH(divide_f32)(in, y, n);
  HWY_DYNAMIC_DISPATCH(arith_f32)(op, in, y, n);
}
void dispatch(Arithmetic op, const Operands<double>& in, double* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(arith_f64)(op, in, y, n);
}

void dispatch_clip(const float* x, float low, float high, float* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(clip_f32)(x, low, high, y, n);
}
void dispatch_clip(const double* x, double low, double high, double* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(clip_f64)(x, low, high, y, n);
}

template <class T>
void run(Arithmetic op, const Operands<T>& in, T* y, int64_t n) {
  parallel_for(n, tuning::cheap_elements_of_thread, [&](int64_t begin, int64_t end) {
    const auto at = static_cast<size_t>(begin);
    dispatch(op, {in.a + at * in.a_step, in.b + at * in.b_step, in.a_step, in.b_step}, y + at,
             static_cast<size_t>(end - begin));
  });
}

}  // namespace

#define GRURUN_OPERATION(NAME)                                              \
  template <class T>                                                        \
  void vec_##NAME(const T* a, const T* b, T* y, int64_t n) {                \
    run<T>(Arithmetic::NAME, {a, b, 1, 1}, y, n);                           \
  }                                                                         \
  template <class T>                                                        \
  void vec_##NAME(const T* a, T b, T* y, int64_t n) {                       \
    run<T>(Arithmetic::NAME, {a, &b, 1, 0}, y, n);                          \
  }                                                                         \
  template <class T>                                                        \
  void vec_##NAME(T a, const T* b, T* y, int64_t n) {                       \
    run<T>(Arithmetic::NAME, {&a, b, 0, 1}, y, n);                          \
  }                                                                         \
  template void vec_##NAME(const float*, const float*, float*, int64_t);    \
  template void vec_##NAME(const double*, const double*, double*, int64_t); \
  template void vec_##NAME(const float*, float, float*, int64_t);           \
  template void vec_##NAME(const double*, double, double*, int64_t);        \
  template void vec_##NAME(float, const float*, float*, int64_t);           \
  template void vec_##NAME(double, const double*, double*, int64_t)

GRURUN_OPERATION(add);
GRURUN_OPERATION(sub);
GRURUN_OPERATION(mul);
GRURUN_OPERATION(div);
GRURUN_OPERATION(max);
GRURUN_OPERATION(min);
#undef GRURUN_OPERATION

template <class T>
void vec_clip(const T* x, T low, T high, T* y, int64_t n) {
  parallel_for(n, tuning::cheap_elements_of_thread, [=](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    if (low != low || high != high) {
      std::fill_n(y + begin, count, low != low ? low : high);
    } else {
      dispatch_clip(x + begin, low, high, y + begin, static_cast<size_t>(count));
    }
  });
}
template void vec_clip(const float*, float, float, float*, int64_t);
template void vec_clip(const double*, double, double, double*, int64_t);

}  // namespace grurun::kernels
#endif  // HWY_ONCE
