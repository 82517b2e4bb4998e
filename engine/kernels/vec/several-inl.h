// Several vectors that take each step of a function together, for every instruction set. Included by sources
// that compile per target, after hwy/foreach_target.h.
#if defined(GRURUN_SEVERAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_SEVERAL_INL
#undef GRURUN_SEVERAL_INL
#else
#define GRURUN_SEVERAL_INL
#endif

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/kernels/machine/unroll.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Functions like exp are a chain of operations that wait for each other. One vector after the other, the
// operations that a processor has in sight belong to few chains; step by step of several vectors, some are
// always ready. That takes registers, which only the widest vectors have enough of.
#if HWY_TARGET == HWY_AVX3
constexpr size_t together = 4;
#else
constexpr size_t together = 1;
#endif

/// N vectors on which each() works.
template <class V, size_t N>
struct Several {
  V v[N];
};

// For what is called with vectors: as part of the caller its constants stay in registers.
#undef GRURUN_VECTOR_BODY
#define GRURUN_VECTOR_BODY HWY_ATTR __attribute__((always_inline))

template <class V>
struct CountOf {
  static constexpr size_t value = 0;
};
template <class V, size_t N>
struct CountOf<Several<V, N>> {
  static constexpr size_t value = N;
};

template <size_t i, class V>
HWY_INLINE V nth(const V& v) {
  return v;
}
template <size_t i, class V, size_t N>
HWY_INLINE V nth(const Several<V, N>& of) {
  return of.v[i];
}

template <size_t i, class F, class... A>
HWY_INLINE auto call_with_nth(const F& f, const A&... a) {
  return f(nth<i>(a)...);
}
template <size_t... i, class F, class... A>
HWY_INLINE auto call_with_each(std::index_sequence<i...>, const F& f, const A&... a) {
  using V = decltype(call_with_nth<0>(f, a...));
  return Several<V, sizeof...(i)>{{call_with_nth<i>(f, a...)...}};
}

/// f of vectors; where some of them are Several, of the first ones, of the second ones and so on. One vector
/// beside Several is the same for all.
template <class F, class... A>
HWY_INLINE auto each(const F& f, const A&... a) {
  constexpr size_t count = std::max({CountOf<A>::value...});
  if constexpr (count == 0) {
    return f(a...);
  } else {
    return call_with_each(std::make_index_sequence<count>(), f, a...);
  }
}

#define GRURUN_EACH(NAME, OPERATION)                                                            \
  template <class... A>                                                                         \
  HWY_INLINE auto NAME(const A&... a) {                                                         \
    return each([](const auto&... v) GRURUN_VECTOR_BODY { return hn::OPERATION(v...); }, a...); \
  }
GRURUN_EACH(add, Add)
GRURUN_EACH(sub, Sub)
GRURUN_EACH(mul, Mul)
GRURUN_EACH(mul_add, MulAdd)
GRURUN_EACH(mul_sub, MulSub)
GRURUN_EACH(neg_mul_add, NegMulAdd)
GRURUN_EACH(neg_mul_sub, NegMulSub)
GRURUN_EACH(divide, Div)
GRURUN_EACH(magnitude_of, Abs)
#undef GRURUN_EACH

template <size_t... i, class D>
HWY_INLINE auto load_each(std::index_sequence<i...>, D d, const hn::TFromD<D>* x) {
  return Several<hn::Vec<D>, sizeof...(i)>{{hn::LoadU(d, x + i * hn::MaxLanes(d))...}};
}

/// N vectors that lie one after the other.
template <size_t N, class D>
HWY_INLINE auto load_several(D d, const hn::TFromD<D>* x) {
  return load_each(std::make_index_sequence<N>(), d, x);
}

template <class D, class V, size_t N>
HWY_INLINE void store_several(const Several<V, N>& v, D d, hn::TFromD<D>* y) {
  GRURUN_UNROLL for (size_t i = 0; i < N; ++i) hn::StoreU(v.v[i], d, y + i * hn::MaxLanes(d));
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
