#include "engine/kernels/vec/vec_math.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/kernels/vec/vec_math_scalar.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_math.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_element-inl.h"
#include "engine/kernels/vec/vec_gated-inl.h"
#include "engine/kernels/vec/vec_hyperbolic-inl.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "engine/kernels/vec/vec_math-inl.h"
#include "engine/kernels/vec/vec_trig-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;

/// f of every element.
template <Vec (*f)(Tag, Vec)>
HWY_INLINE void map(const float* x, float* y, size_t n) {
  map_vectors(x, y, n, [](Vec v) HWY_ATTR { return f(Tag(), v); });
}

void map_exp(const float* x, float* y, size_t n) {
  map_vectors<together>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_exp(Tag(), v); });
}
void map_expm1(const float* x, float* y, size_t n) {
  map<vector_expm1<Tag, Vec>>(x, y, n);
}
void map_log(const float* x, float* y, size_t n) {
  map<vector_log<Tag, Vec>>(x, y, n);
}
void map_log1p(const float* x, float* y, size_t n) {
  map<vector_log1p<Tag, Vec>>(x, y, n);
}
void map_tanh(const float* x, float* y, size_t n) {
  map_vectors<together>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_tanh(Tag(), v); });
}
void map_sigmoid(const float* x, float* y, size_t n) {
  map_vectors<together>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_sigmoid(Tag(), v); });
}
void map_times_sigmoid(const float* x, float* y, size_t n) {
  map_vectors<together>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return mul(v, vector_sigmoid(Tag(), v)); });
}
void map_softplus(const float* x, float* y, size_t n) {
  map<vector_softplus<Tag, Vec>>(x, y, n);
}
void map_erf(const float* x, float* y, size_t n) {
  map_vectors<together>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_erf(Tag(), v); });
}
void map_gelu(const float* x, float* y, size_t n) {
#if HWY_NATIVE_FMA
  map_vectors<together>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_gelu(Tag(), v); });
#else
  map_in_double(x, y, n, [](auto d, auto v) GRURUN_VECTOR_BODY { return double_gelu(d, v); });
#endif
}
void map_swish(const float* x, float alpha, float* y, size_t n) {
#if HWY_NATIVE_FMA
  if (alpha == 1) {
    map_vectors<together>(x, y, n,
                          [](auto v) GRURUN_VECTOR_BODY { return vector_swish<false>(Tag(), v, 1.0f); });
  } else {
    map_vectors<together>(x, y, n,
                          [=](auto v) GRURUN_VECTOR_BODY { return vector_swish<true>(Tag(), v, alpha); });
  }
#else
  map_in_double(x, y, n, [=](auto d, auto v) GRURUN_VECTOR_BODY {
    return gated(d, v, mul(v, hn::Set(d, double{alpha})));
  });
#endif
}
template <class T>
HWY_INLINE void hard_sigmoid(const T* x, ComputeType<T> alpha, ComputeType<T> beta, T* y, size_t n) {
  for_element_lanes<T>(n, [=](auto d, size_t i) HWY_ATTR {
    store_elements(vector_hard_sigmoid(d, load_elements(d, x + i), alpha, beta), d, y + i);
  });
}
template <class T>
HWY_INLINE void hard_swish(const T* x, T* y, size_t n) {
  for_element_lanes<T>(n, [=](auto d, size_t i) HWY_ATTR {
    store_elements(vector_hard_swish(d, load_elements(d, x + i)), d, y + i);
  });
}

#define GRURUN_HARD(T, NAME)                                                                        \
  void hard_sigmoid_##NAME(const T* x, ComputeType<T> alpha, ComputeType<T> beta, T* y, size_t n) { \
    hard_sigmoid(x, alpha, beta, y, n);                                                             \
  }                                                                                                 \
  void hard_swish_##NAME(const T* x, T* y, size_t n) {                                              \
    hard_swish(x, y, n);                                                                            \
  }
GRURUN_HARD(float, f32)
GRURUN_HARD(double, f64)
GRURUN_HARD(Float16, f16)
GRURUN_HARD(BFloat16, bf16)
#undef GRURUN_HARD

void map_sin(const float* x, float* y, size_t n) {
  map_angles<Angle::sine>(x, y, n);
}
void map_cos(const float* x, float* y, size_t n) {
  map_angles<Angle::cosine>(x, y, n);
}
void map_tan(const float* x, float* y, size_t n) {
  map_angles<Angle::tangent>(x, y, n);
}
void map_asin(const float* x, float* y, size_t n) {
  map<vector_asin<Tag, Vec>>(x, y, n);
}
void map_acos(const float* x, float* y, size_t n) {
  map<vector_acos<Tag, Vec>>(x, y, n);
}
void map_atan(const float* x, float* y, size_t n) {
  map<vector_atan<Tag, Vec>>(x, y, n);
}

#define GRURUN_MAP_IN_DOUBLE(NAME, at_a_time)                                                        \
  void map_##NAME(const float* x, float* y, size_t n) {                                              \
    map_in_double<at_a_time>(x, y, n,                                                                \
                             [](auto d, auto v) GRURUN_VECTOR_BODY { return double_##NAME(d, v); }); \
  }
GRURUN_MAP_IN_DOUBLE(sinh, 1)
GRURUN_MAP_IN_DOUBLE(cosh, 1)
GRURUN_MAP_IN_DOUBLE(asinh, 1)
GRURUN_MAP_IN_DOUBLE(acosh, 1)
GRURUN_MAP_IN_DOUBLE(atanh, 1)
GRURUN_MAP_IN_DOUBLE(gelu_tanh, together)
GRURUN_MAP_IN_DOUBLE(mish, together)
#undef GRURUN_MAP_IN_DOUBLE

// Highway's are free to give either zero.
#define GRURUN_ROUNDING(NAME, OPERATION)                           \
  template <class T>                                               \
  HWY_INLINE void map_##NAME(const T* x, T* y, size_t n) {         \
    for_element_lanes<T>(n, [=](auto d, size_t i) HWY_ATTR {       \
      const auto v = load_elements(d, x + i);                      \
      store_elements(hn::CopySign(hn::OPERATION(v), v), d, y + i); \
    });                                                            \
  }
GRURUN_ROUNDING(floor, Floor)
GRURUN_ROUNDING(ceil, Ceil)
GRURUN_ROUNDING(round, Round)
#undef GRURUN_ROUNDING

#define GRURUN_ROUNDINGS(T, TYPE)                     \
  void map_floor_##TYPE(const T* x, T* y, size_t n) { \
    map_floor(x, y, n);                               \
  }                                                   \
  void map_ceil_##TYPE(const T* x, T* y, size_t n) {  \
    map_ceil(x, y, n);                                \
  }                                                   \
  void map_round_##TYPE(const T* x, T* y, size_t n) { \
    map_round(x, y, n);                               \
  }
GRURUN_ROUNDINGS(float, f32)
GRURUN_ROUNDINGS(double, f64)
GRURUN_ROUNDINGS(Float16, f16)
GRURUN_ROUNDINGS(BFloat16, bf16)
#undef GRURUN_ROUNDINGS

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {
namespace {

template <class Map, class T>
void map_all(Map map, const T* x, T* y, int64_t n) {
  parallel_for(n, tuning::dear_elements_of_thread, [=](int64_t begin, int64_t end) {
    map(x + begin, y + begin, static_cast<size_t>(end - begin));
  });
}

template <class F>
void map_doubles(F f, const double* x, double* y, int64_t n) {
  parallel_for(n, tuning::dear_elements_of_thread, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
  });
}

}  // namespace

#define GRURUN_VEC_FUNCTION(NAME, DOUBLE)                     \
  HWY_EXPORT(map_##NAME);                                     \
  void vec_##NAME(const float* x, float* y, int64_t n) {      \
    map_all(HWY_DYNAMIC_DISPATCH(map_##NAME), x, y, n);       \
  }                                                           \
  void vec_##NAME(const double* x, double* y, int64_t n) {    \
    map_doubles([](double v) { return DOUBLE(v); }, x, y, n); \
  }

GRURUN_VEC_FUNCTION(exp, std::exp)
GRURUN_VEC_FUNCTION(expm1, std::expm1)
GRURUN_VEC_FUNCTION(log, std::log)
GRURUN_VEC_FUNCTION(log1p, std::log1p)
GRURUN_VEC_FUNCTION(tanh, scalar_tanh)
GRURUN_VEC_FUNCTION(sigmoid, scalar_sigmoid)
GRURUN_VEC_FUNCTION(softplus, scalar_softplus)
GRURUN_VEC_FUNCTION(erf, std::erf)
GRURUN_VEC_FUNCTION(gelu, scalar_gelu)
GRURUN_VEC_FUNCTION(sin, std::sin)
GRURUN_VEC_FUNCTION(cos, std::cos)
GRURUN_VEC_FUNCTION(tan, std::tan)
GRURUN_VEC_FUNCTION(asin, std::asin)
GRURUN_VEC_FUNCTION(acos, std::acos)
GRURUN_VEC_FUNCTION(atan, std::atan)
GRURUN_VEC_FUNCTION(sinh, std::sinh)
GRURUN_VEC_FUNCTION(cosh, std::cosh)
GRURUN_VEC_FUNCTION(asinh, std::asinh)
GRURUN_VEC_FUNCTION(acosh, scalar_acosh)
GRURUN_VEC_FUNCTION(atanh, std::atanh)
GRURUN_VEC_FUNCTION(gelu_tanh, scalar_gelu_tanh)
GRURUN_VEC_FUNCTION(mish, scalar_mish)
#undef GRURUN_VEC_FUNCTION

#define GRURUN_VEC_ROUNDING(NAME, T, TYPE)                       \
  HWY_EXPORT(map_##NAME##_##TYPE);                               \
  void vec_##NAME(const T* x, T* y, int64_t n) {                 \
    map_all(HWY_DYNAMIC_DISPATCH(map_##NAME##_##TYPE), x, y, n); \
  }
#define GRURUN_VEC_ROUNDINGS(T, TYPE) \
  GRURUN_VEC_ROUNDING(floor, T, TYPE) \
  GRURUN_VEC_ROUNDING(ceil, T, TYPE)  \
  GRURUN_VEC_ROUNDING(round, T, TYPE)
GRURUN_VEC_ROUNDINGS(float, f32)
GRURUN_VEC_ROUNDINGS(double, f64)
GRURUN_VEC_ROUNDINGS(Float16, f16)
GRURUN_VEC_ROUNDINGS(BFloat16, bf16)
#undef GRURUN_VEC_ROUNDINGS
#undef GRURUN_VEC_ROUNDING

#define GRURUN_HARD(T, NAME)                                                                          \
  HWY_EXPORT(hard_sigmoid_##NAME);                                                                    \
  HWY_EXPORT(hard_swish_##NAME);                                                                      \
  void vec_hard_swish(const T* x, T* y, int64_t n) {                                                  \
    map_all(HWY_DYNAMIC_DISPATCH(hard_swish_##NAME), x, y, n);                                        \
  }                                                                                                   \
  void vec_hard_sigmoid(const T* x, ComputeType<T> alpha, ComputeType<T> beta, T* y, int64_t n) {     \
    const auto map = HWY_DYNAMIC_DISPATCH(hard_sigmoid_##NAME);                                       \
    map_all([=](const T* from, T* to, size_t count) { map(from, alpha, beta, to, count); }, x, y, n); \
  }
GRURUN_HARD(float, f32)
GRURUN_HARD(double, f64)
GRURUN_HARD(Float16, f16)
GRURUN_HARD(BFloat16, bf16)
#undef GRURUN_HARD

HWY_EXPORT(map_times_sigmoid);
void vec_times_sigmoid(const float* x, float* y, int64_t n) {
  map_all(HWY_DYNAMIC_DISPATCH(map_times_sigmoid), x, y, n);
}

HWY_EXPORT(map_swish);
void vec_swish(const float* x, float alpha, float* y, int64_t n) {
  const auto map = HWY_DYNAMIC_DISPATCH(map_swish);
  map_all([=](const float* from, float* to, size_t count) { map(from, alpha, to, count); }, x, y, n);
}
void vec_swish(const double* x, double alpha, double* y, int64_t n) {
  map_doubles([alpha](double v) { return scalar_swish(v, alpha); }, x, y, n);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
