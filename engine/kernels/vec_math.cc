#include "engine/kernels/vec_math.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/kernels/parallel.h"
#include "engine/kernels/simd_targets.h"
#include "engine/kernels/vec_math_scalar.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec_math.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec_map-inl.h"
#include "engine/kernels/vec_math-inl.h"
#include "engine/kernels/vec_trig-inl.h"
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
  map_vectors<kTogether>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_exp(Tag(), v); });
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
  map_vectors<kTogether>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_tanh(Tag(), v); });
}
void map_sigmoid(const float* x, float* y, size_t n) {
  map_vectors<kTogether>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_sigmoid(Tag(), v); });
}
void map_softplus(const float* x, float* y, size_t n) {
  map<vector_softplus<Tag, Vec>>(x, y, n);
}
void map_erf(const float* x, float* y, size_t n) {
  map_vectors<kTogether>(x, y, n, [](auto v) GRURUN_VECTOR_BODY { return vector_erf(Tag(), v); });
}
void map_gelu(const float* x, float* y, size_t n) {
  map<vector_gelu<Tag, Vec>>(x, y, n);
}
void map_gelu_tanh(const float* x, float* y, size_t n) {
  map<vector_gelu_tanh<Tag, Vec>>(x, y, n);
}
void map_swish(const float* x, float alpha, float* y, size_t n) {
  map_vectors<kTogether>(x, y, n, [=](auto v) GRURUN_VECTOR_BODY {
    return mul(v, vector_sigmoid(Tag(), mul(v, hn::Set(Tag(), alpha))));
  });
}
void map_hard_sigmoid(const float* x, float alpha, float beta, float* y, size_t n) {
  map_vectors(x, y, n, [=](Vec v) HWY_ATTR { return vector_hard_sigmoid(Tag(), v, alpha, beta); });
}
void map_hard_swish(const float* x, float* y, size_t n) {
  map_vectors(x, y, n,
              [](Vec v) HWY_ATTR { return hn::Mul(v, vector_hard_sigmoid(Tag(), v, kSixth<float>, 0.5f)); });
}
void map_sin(const float* x, float* y, size_t n) {
  map_sine<false>(x, y, n);
}
void map_cos(const float* x, float* y, size_t n) {
  map_sine<true>(x, y, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {
namespace {

constexpr int64_t kGrain = 8192;

template <class Map>
void map_floats(Map map, const float* x, float* y, int64_t n) {
  parallel_for(n, kGrain, [=](int64_t begin, int64_t end) {
    map(x + begin, y + begin, static_cast<size_t>(end - begin));
  });
}

template <class F>
void map_doubles(F f, const double* x, double* y, int64_t n) {
  parallel_for(n, kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
  });
}

}  // namespace

#define GRURUN_VEC_FUNCTION(NAME, DOUBLE)                     \
  HWY_EXPORT(map_##NAME);                                     \
  void vec_##NAME(const float* x, float* y, int64_t n) {      \
    map_floats(HWY_DYNAMIC_DISPATCH(map_##NAME), x, y, n);    \
  }                                                           \
  void vec_##NAME(const double* x, double* y, int64_t n) {    \
    map_doubles([](double v) { return DOUBLE(v); }, x, y, n); \
  }

GRURUN_VEC_FUNCTION(exp, std::exp)
GRURUN_VEC_FUNCTION(expm1, std::expm1)
GRURUN_VEC_FUNCTION(log, std::log)
GRURUN_VEC_FUNCTION(log1p, std::log1p)
GRURUN_VEC_FUNCTION(tanh, std::tanh)
GRURUN_VEC_FUNCTION(sigmoid, scalar_sigmoid)
GRURUN_VEC_FUNCTION(softplus, scalar_softplus)
GRURUN_VEC_FUNCTION(erf, std::erf)
GRURUN_VEC_FUNCTION(gelu, scalar_gelu)
GRURUN_VEC_FUNCTION(sin, std::sin)
GRURUN_VEC_FUNCTION(cos, std::cos)
GRURUN_VEC_FUNCTION(gelu_tanh, scalar_gelu_tanh)
GRURUN_VEC_FUNCTION(hard_swish, scalar_hard_swish)
#undef GRURUN_VEC_FUNCTION

HWY_EXPORT(map_hard_sigmoid);
void vec_hard_sigmoid(const float* x, float alpha, float beta, float* y, int64_t n) {
  const auto map = HWY_DYNAMIC_DISPATCH(map_hard_sigmoid);
  map_floats([=](const float* from, float* to, size_t count) { map(from, alpha, beta, to, count); }, x, y, n);
}
void vec_hard_sigmoid(const double* x, double alpha, double beta, double* y, int64_t n) {
  map_doubles([=](double v) { return scalar_hard_sigmoid(v, alpha, beta); }, x, y, n);
}

HWY_EXPORT(map_swish);
void vec_swish(const float* x, float alpha, float* y, int64_t n) {
  const auto map = HWY_DYNAMIC_DISPATCH(map_swish);
  map_floats([=](const float* from, float* to, size_t count) { map(from, alpha, to, count); }, x, y, n);
}
void vec_swish(const double* x, double alpha, double* y, int64_t n) {
  map_doubles([alpha](double v) { return v * scalar_sigmoid(v * alpha); }, x, y, n);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
