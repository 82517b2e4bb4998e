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
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

#ifndef GRURUN_VEC_ARITH_OPERANDS
#define GRURUN_VEC_ARITH_OPERANDS
namespace grurun::kernels {

enum class Operation { add, sub, mul, div, max, min, prelu, above };

/// Arrays, or null and the scalar, of which there is one at most.
template <class T>
struct Operands {
  const T *a, *b;
  ComputeType<T> scalar;
};

}  // namespace grurun::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The low half of each product, of 32-bit parts where there is no instruction for it.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V product([[maybe_unused]] D d, V a, V b) {
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<hn::TFromD<D>, int64_t>) {
    const hn::RebindToUnsigned<D> du;
    const hn::Repartition<uint32_t, D> parts;
    const auto low_a = hn::BitCast(parts, a), low_b = hn::BitCast(parts, b);
    const auto high_a = hn::BitCast(parts, hn::ShiftRight<32>(hn::BitCast(du, a)));
    const auto high_b = hn::BitCast(parts, hn::ShiftRight<32>(hn::BitCast(du, b)));
    const auto high = hn::Add(hn::MulEven(high_a, low_b), hn::MulEven(low_a, high_b));
    return hn::BitCast(d, hn::Add(hn::MulEven(low_a, low_b), hn::ShiftLeft<32>(high)));
  } else {
    return hn::Mul(a, b);
  }
#else
  return hn::Mul(a, b);
#endif
}

template <Operation op, class D, class V = hn::Vec<D>>
HWY_INLINE V apply([[maybe_unused]] D d, V a, V b) {
  constexpr bool is_float = std::is_floating_point_v<hn::TFromD<D>>;
  if constexpr (op == Operation::add) return hn::Add(a, b);
  if constexpr (op == Operation::sub) return hn::Sub(a, b);
  if constexpr (op == Operation::mul) return product(d, a, b);
  if constexpr (op == Operation::div) return hn::Div(a, b);
  if constexpr (op == Operation::max && is_float)
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  if constexpr (op == Operation::min && is_float)
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  if constexpr (op == Operation::max && !is_float) return hn::Max(a, b);
  if constexpr (op == Operation::min && !is_float) return hn::Min(a, b);
  if constexpr (op == Operation::prelu) return hn::IfThenElse(hn::Lt(a, hn::Zero(d)), product(d, b, a), a);
  if constexpr (op == Operation::above) return hn::IfThenElseZero(hn::Gt(a, b), a);
}

// What steps is known beforehand, and pointers are copies: a loop that asks for each vector takes twice as
// long.
template <Operation op, bool a_steps, bool b_steps, class T>
HWY_INLINE void walk(const T* a, const T* b, ComputeType<T> scalar, T* y, size_t n) {
  for_element_lanes<T>(n, [=](auto d, size_t i) HWY_ATTR {
    hn::Vec<decltype(d)> av, bv;
    if constexpr (a_steps) av = load_elements(d, a + i);
    if constexpr (!a_steps) av = hn::Set(d, scalar);
    if constexpr (b_steps) bv = load_elements(d, b + i);
    if constexpr (!b_steps) bv = hn::Set(d, scalar);
    store_elements(apply<op>(d, av, bv), d, y + i);
  });
}

template <Operation op, class T>
void loop(const Operands<T>& in, T* y, size_t n) {
  if (in.a && in.b) return walk<op, true, true>(in.a, in.b, in.scalar, y, n);
  if (in.a) return walk<op, true, false>(in.a, in.b, in.scalar, y, n);
  walk<op, false, true>(in.a, in.b, in.scalar, y, n);
}

template <class T>
void select(Operation op, const Operands<T>& in, T* y, size_t n) {
  switch (op) {
    case Operation::add:
      return loop<Operation::add>(in, y, n);
    case Operation::sub:
      return loop<Operation::sub>(in, y, n);
    case Operation::mul:
      return loop<Operation::mul>(in, y, n);
    case Operation::div:
      if constexpr (is_compute_float<T>) loop<Operation::div>(in, y, n);
      return;
    case Operation::max:
      return loop<Operation::max>(in, y, n);
    case Operation::min:
      return loop<Operation::min>(in, y, n);
    case Operation::prelu:
      return loop<Operation::prelu>(in, y, n);
    case Operation::above:
      return loop<Operation::above>(in, y, n);
  }
}

template <class T>
void clip(const T* x, ComputeType<T> low, ComputeType<T> high, T* y, size_t n) {
  for_element_lanes<T>(n, [=](auto d, size_t i) HWY_ATTR {
    const auto v = load_elements(d, x + i);
    store_elements(at_most(at_least(v, hn::Set(d, low)), hn::Set(d, high)), d, y + i);
  });
}

#define GRURUN_ARITHMETIC_KERNELS(T, NAME)                                                \
  void arith_##NAME(Operation op, const Operands<T>& in, T* y, size_t n) {                \
    select(op, in, y, n);                                                                 \
  }                                                                                       \
  void clip_##NAME(const T* x, ComputeType<T> low, ComputeType<T> high, T* y, size_t n) { \
    clip(x, low, high, y, n);                                                             \
  }
GRURUN_ARITHMETIC_KERNELS(float, f32)
GRURUN_ARITHMETIC_KERNELS(double, f64)
GRURUN_ARITHMETIC_KERNELS(Float16, f16)
GRURUN_ARITHMETIC_KERNELS(BFloat16, bf16)
GRURUN_ARITHMETIC_KERNELS(int32_t, i32)
GRURUN_ARITHMETIC_KERNELS(int64_t, i64)
#undef GRURUN_ARITHMETIC_KERNELS

/// An array over a scalar.
void divide_f32(const Operands<float>& in, float* y, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const Divisor over(in.scalar);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(over(hn::LoadU(d, in.a + i)), d, y + i);
  for (; i < n; ++i) y[i] = in.a[i] / in.scalar;
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(divide_f32);

#define GRURUN_ARITHMETIC_CALLS(T, NAME)                                                       \
  HWY_EXPORT(arith_##NAME);                                                                    \
  HWY_EXPORT(clip_##NAME);                                                                     \
  static void call_arith(Operation op, const Operands<T>& in, T* y, size_t n) {                \
    HWY_DYNAMIC_DISPATCH(arith_##NAME)(op, in, y, n);                                          \
  }                                                                                            \
  static void call_clip(const T* x, ComputeType<T> low, ComputeType<T> high, T* y, size_t n) { \
    HWY_DYNAMIC_DISPATCH(clip_##NAME)(x, low, high, y, n);                                     \
  }
GRURUN_ARITHMETIC_CALLS(float, f32)
GRURUN_ARITHMETIC_CALLS(double, f64)
GRURUN_ARITHMETIC_CALLS(Float16, f16)
GRURUN_ARITHMETIC_CALLS(BFloat16, bf16)
GRURUN_ARITHMETIC_CALLS(int32_t, i32)
GRURUN_ARITHMETIC_CALLS(int64_t, i64)
#undef GRURUN_ARITHMETIC_CALLS

namespace {

template <class T>
void run(Operation op, const Operands<T>& in, T* y, int64_t n) {
  parallel_for(n, tuning::cheap_elements_of_thread, [&](int64_t begin, int64_t end) {
    const Operands<T> piece{in.a ? in.a + begin : nullptr, in.b ? in.b + begin : nullptr, in.scalar};
    const auto count = static_cast<size_t>(end - begin);
    if constexpr (std::is_same_v<T, float>) {
      if (op == Operation::div && !in.b) return HWY_DYNAMIC_DISPATCH(divide_f32)(piece, y + begin, count);
    }
    call_arith(op, piece, y + begin, count);
  });
}

}  // namespace

#define GRURUN_OPERATION(NAME, TYPES)                              \
  template <TYPES T>                                               \
  void vec_##NAME(const T* a, const T* b, T* y, int64_t n) {       \
    run<T>(Operation::NAME, {a, b, {}}, y, n);                     \
  }                                                                \
  template <TYPES T>                                               \
  void vec_##NAME(const T* a, ComputeType<T> b, T* y, int64_t n) { \
    run<T>(Operation::NAME, {a, nullptr, b}, y, n);                \
  }                                                                \
  template <TYPES T>                                               \
  void vec_##NAME(ComputeType<T> a, const T* b, T* y, int64_t n) { \
    run<T>(Operation::NAME, {nullptr, b, a}, y, n);                \
  }
#define GRURUN_OPERATION_OF(NAME, T)                               \
  template void vec_##NAME(const T*, const T*, T*, int64_t);       \
  template void vec_##NAME(const T*, ComputeType<T>, T*, int64_t); \
  template void vec_##NAME(ComputeType<T>, const T*, T*, int64_t);
#define GRURUN_OPERATION_OF_FLOATS(NAME) \
  GRURUN_OPERATION_OF(NAME, float)       \
  GRURUN_OPERATION_OF(NAME, double)      \
  GRURUN_OPERATION_OF(NAME, Float16)     \
  GRURUN_OPERATION_OF(NAME, BFloat16)
#define GRURUN_OPERATION_OF_ALL(NAME) \
  GRURUN_OPERATION(NAME, Arithmetic)  \
  GRURUN_OPERATION_OF_FLOATS(NAME)    \
  GRURUN_OPERATION_OF(NAME, int32_t)  \
  GRURUN_OPERATION_OF(NAME, int64_t)

GRURUN_OPERATION_OF_ALL(add)
GRURUN_OPERATION_OF_ALL(sub)
GRURUN_OPERATION_OF_ALL(mul)
GRURUN_OPERATION_OF_ALL(max)
GRURUN_OPERATION_OF_ALL(min)
GRURUN_OPERATION_OF_ALL(prelu)
GRURUN_OPERATION_OF_ALL(above)
GRURUN_OPERATION(div, ArithmeticFloat)
GRURUN_OPERATION_OF_FLOATS(div)

template <Arithmetic T>
void vec_clip(const T* x, ComputeType<T> low, ComputeType<T> high, T* y, int64_t n) {
  parallel_for(n, tuning::cheap_elements_of_thread, [=](int64_t begin, int64_t end) {
    if constexpr (is_compute_float<T>) {
      if (low != low || high != high)
        return static_cast<void>(std::fill_n(y + begin, end - begin, T(low != low ? low : high)));
    }
    call_clip(x + begin, low, high, y + begin, static_cast<size_t>(end - begin));
  });
}
template void vec_clip(const float*, float, float, float*, int64_t);
template void vec_clip(const double*, double, double, double*, int64_t);
template void vec_clip(const Float16*, float, float, Float16*, int64_t);
template void vec_clip(const BFloat16*, float, float, BFloat16*, int64_t);
template void vec_clip(const int32_t*, int32_t, int32_t, int32_t*, int64_t);
template void vec_clip(const int64_t*, int64_t, int64_t, int64_t*, int64_t);

}  // namespace grurun::kernels
#endif  // HWY_ONCE
