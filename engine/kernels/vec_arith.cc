#include "engine/kernels/vec_arith.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/parallel.h"
#include "engine/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec_arith.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec_divide-inl.h"
#include "hwy/highway.h"

#ifndef GRURUN_VEC_ARITH_OPERANDS
#define GRURUN_VEC_ARITH_OPERANDS
namespace grurun::kernels {

enum class Arithmetic { add, sub, mul, div, max, min };

/// Where the operands advance: 1 for an array, 0 for a scalar.
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
  // Where b is NaN the comparison is false and b is taken.
  if constexpr (op == Arithmetic::max) return hn::IfThenElse(hn::Or(hn::Ge(a, b), hn::IsNaN(a)), a, b);
  if constexpr (op == Arithmetic::min) return hn::IfThenElse(hn::Or(hn::Le(a, b), hn::IsNaN(a)), a, b);
}

template <Arithmetic op, class T>
void loop(const Operands<T>& in, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> d1;
  const size_t lanes = hn::Lanes(d);
  const auto a = hn::Set(d, *in.a), b = hn::Set(d, *in.b);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto av = in.a_step ? hn::LoadU(d, in.a + i) : a;
    const auto bv = in.b_step ? hn::LoadU(d, in.b + i) : b;
    hn::StoreU(apply<op>(av, bv), d, y + i);
  }
  for (; i < n; ++i) {
    const auto av = hn::LoadU(d1, in.a + i * in.a_step), bv = hn::LoadU(d1, in.b + i * in.b_step);
    hn::StoreU(apply<op>(av, bv), d1, y + i);
  }
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

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(arith_f32);
HWY_EXPORT(arith_f64);
HWY_EXPORT(divide_f32);

namespace {

constexpr int64_t kGrain = 32768;

void dispatch(Arithmetic op, const Operands<float>& in, float* y, size_t n) {
  if (op == Arithmetic::div && in.b_step == 0) return HWY_DYNAMIC_DISPATCH(divide_f32)(in, y, n);
  HWY_DYNAMIC_DISPATCH(arith_f32)(op, in, y, n);
}
void dispatch(Arithmetic op, const Operands<double>& in, double* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(arith_f64)(op, in, y, n);
}

template <class T>
void run(Arithmetic op, const Operands<T>& in, T* y, int64_t n) {
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    const auto at = static_cast<size_t>(begin);
    dispatch(op, {in.a + at * in.a_step, in.b + at * in.b_step, in.a_step, in.b_step}, y + at,
             static_cast<size_t>(end - begin));
  });
}

}  // namespace

#define GRURUN_ARRAYS(NAME)                                                 \
  template <class T>                                                        \
  void vec_##NAME(const T* a, const T* b, T* y, int64_t n) {                \
    run<T>(Arithmetic::NAME, {a, b, 1, 1}, y, n);                           \
  }                                                                         \
  template <class T>                                                        \
  void vec_##NAME(const T* a, T b, T* y, int64_t n) {                       \
    run<T>(Arithmetic::NAME, {a, &b, 1, 0}, y, n);                          \
  }                                                                         \
  template void vec_##NAME(const float*, const float*, float*, int64_t);    \
  template void vec_##NAME(const double*, const double*, double*, int64_t); \
  template void vec_##NAME(const float*, float, float*, int64_t);           \
  template void vec_##NAME(const double*, double, double*, int64_t)

#define GRURUN_SCALAR_FIRST(NAME)                                 \
  template <class T>                                              \
  void vec_##NAME(T a, const T* b, T* y, int64_t n) {             \
    run<T>(Arithmetic::NAME, {&a, b, 0, 1}, y, n);                \
  }                                                               \
  template void vec_##NAME(float, const float*, float*, int64_t); \
  template void vec_##NAME(double, const double*, double*, int64_t)

GRURUN_ARRAYS(add);
GRURUN_ARRAYS(sub);
GRURUN_ARRAYS(mul);
GRURUN_ARRAYS(div);
GRURUN_ARRAYS(max);
GRURUN_ARRAYS(min);
GRURUN_SCALAR_FIRST(sub);
GRURUN_SCALAR_FIRST(div);

}  // namespace grurun::kernels
#endif  // HWY_ONCE
