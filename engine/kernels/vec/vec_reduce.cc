#include "engine/kernels/vec/vec_reduce.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"
#include "engine/kernels/vec/vec_transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/vec_reduce.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_reduce-inl.h"
#include "hwy/highway.h"

#ifndef GRURUN_VEC_REDUCE_TERM
#define GRURUN_VEC_REDUCE_TERM
namespace grurun::kernels {

template <SumOf of>
double term(float x) {
  const double wide = x;
  return of == SumOf::values ? wide : of == SumOf::magnitudes ? std::fabs(wide) : wide * wide;
}

}  // namespace grurun::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <SumOf of, class D, class V>
HWY_INLINE V add_term(D d, V sum, const float* x) {
  const V wide = hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
  if constexpr (of == SumOf::values) return hn::Add(sum, wide);
  if constexpr (of == SumOf::magnitudes) return hn::Add(sum, hn::Abs(wide));
  return hn::MulAdd(wide, wide, sum);  // the product is exact
}

/// Each of sums_in_double sums takes every sums_in_double-th element.
template <SumOf of>
double wide_sum(const float* x, size_t n) {
  using D = hn::CappedTag<double, sums_in_double>;
  const D d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t vector_count = sums_in_double / hn::MaxLanes(D());
  HWY_ALIGN double sums[sums_in_double] = {};
  size_t i = 0, left = sums_in_double;
  if constexpr (hn::MaxLanes(D()) >= 4) {
    hn::Vec<D> sum[vector_count];
    GRURUN_UNROLL
    for (auto& each : sum) each = hn::Zero(d);
    for (; i + sums_in_double <= n; i += sums_in_double) {
      GRURUN_UNROLL
      for (size_t v = 0; v < vector_count; ++v) sum[v] = add_term<of>(d, sum[v], x + i + v * lanes);
    }
    if (i == n) {
      GRURUN_UNROLL
      for (size_t half = vector_count / 2; half > 0; half /= 2) {
        GRURUN_UNROLL
        for (size_t v = 0; v < half; ++v) sum[v] = hn::Add(sum[v], sum[v + half]);
      }
      hn::Store(sum[0], d, sums);
      left = lanes;
    } else {
      GRURUN_UNROLL
      for (size_t v = 0; v < vector_count; ++v) hn::Store(sum[v], d, sums + v * lanes);
    }
  }
  for (size_t k = 0; i < n; ++i, k = (k + 1) % sums_in_double) sums[k] += term<of>(x[i]);
  for (size_t half = left / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

/// `vectors` vectors of sums at a time stay in registers while the rows pass by.
template <SumOf of, size_t vectors>
HWY_INLINE size_t add_columns(const float* x, size_t rows, size_t step, double* sums, size_t i, size_t n) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  for (; i + vectors * lanes <= n; i += vectors * lanes) {
    hn::Vec<decltype(d)> sum[vectors];
    GRURUN_UNROLL
    for (size_t v = 0; v < vectors; ++v) sum[v] = hn::LoadU(d, sums + i + v * lanes);
    for (size_t r = 0; r < rows; ++r) {
      GRURUN_UNROLL
      for (size_t v = 0; v < vectors; ++v) sum[v] = add_term<of>(d, sum[v], x + r * step + i + v * lanes);
    }
    GRURUN_UNROLL
    for (size_t v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, sums + i + v * lanes);
  }
  return i;
}

template <SumOf of>
void add_wide(const float* x, size_t rows, size_t step, double* sums, size_t n) {
  size_t i = 0;
  if constexpr (hn::MaxLanes(hn::ScalableTag<double>()) >= 2) {
    i = add_columns<of, 8>(x, rows, step, sums, i, n);
    i = add_columns<of, 1>(x, rows, step, sums, i, n);
  }
  for (; i < n; ++i) {
    for (size_t r = 0; r < rows; ++r) sums[i] += term<of>(x[r * step + i]);
  }
}

/// The compiler makes vectors of it.
template <bool least, class T>
HWY_INLINE T extreme_integer(const T* x, size_t n) {
  T best = x[0];
  for (size_t i = 1; i < n; ++i) best = least ? std::min(best, x[i]) : std::max(best, x[i]);
  return best;
}
int32_t max_i32(const int32_t* x, size_t n) {
  return extreme_integer<false>(x, n);
}
int64_t max_i64(const int64_t* x, size_t n) {
  return extreme_integer<false>(x, n);
}
int32_t min_i32(const int32_t* x, size_t n) {
  return extreme_integer<true>(x, n);
}
int64_t min_i64(const int64_t* x, size_t n) {
  return extreme_integer<true>(x, n);
}

double wide_sum_of(SumOf of, const float* x, size_t n) {
  switch (of) {
    case SumOf::values:
      return wide_sum<SumOf::values>(x, n);
    case SumOf::magnitudes:
      return wide_sum<SumOf::magnitudes>(x, n);
    case SumOf::squares:
      return wide_sum<SumOf::squares>(x, n);
  }
  return 0;
}
void add_wide_of(SumOf of, const float* x, size_t rows, size_t step, double* sums, size_t n) {
  switch (of) {
    case SumOf::values:
      return add_wide<SumOf::values>(x, rows, step, sums, n);
    case SumOf::magnitudes:
      return add_wide<SumOf::magnitudes>(x, rows, step, sums, n);
    case SumOf::squares:
      return add_wide<SumOf::squares>(x, rows, step, sums, n);
  }
}

double sum_f32(const float* x, size_t n) {
  return sum<false, float>({x}, n);
}
double sum_f64(const double* x, size_t n) {
  return sum<false, double>({x}, n);
}
double squares_f32(const float* x, size_t n) {
  return sum<true, float>({x}, n);
}
double squares_f64(const double* x, size_t n) {
  return sum<true, double>({x}, n);
}
float max_f32(const float* x, size_t n) {
  return extreme<false>(x, n);
}
double max_f64(const double* x, size_t n) {
  return extreme<false>(x, n);
}
float min_f32(const float* x, size_t n) {
  return extreme<true>(x, n);
}
double min_f64(const double* x, size_t n) {
  return extreme<true>(x, n);
}
void raise_f32(const float* x, size_t rows, size_t step, float* best, size_t n) {
  extreme_columns<false>(x, rows, step, best, n);
}
void raise_f64(const double* x, size_t rows, size_t step, double* best, size_t n) {
  extreme_columns<false>(x, rows, step, best, n);
}
void lower_f32(const float* x, size_t rows, size_t step, float* best, size_t n) {
  extreme_columns<true>(x, rows, step, best, n);
}
void lower_f64(const double* x, size_t rows, size_t step, double* best, size_t n) {
  extreme_columns<true>(x, rows, step, best, n);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(sum_f32);
HWY_EXPORT(sum_f64);
HWY_EXPORT(squares_f32);
HWY_EXPORT(squares_f64);
HWY_EXPORT(max_f32);
HWY_EXPORT(max_f64);
HWY_EXPORT(min_f32);
HWY_EXPORT(min_f64);
HWY_EXPORT(max_i32);
HWY_EXPORT(max_i64);
HWY_EXPORT(min_i32);
HWY_EXPORT(min_i64);
HWY_EXPORT(raise_f32);
HWY_EXPORT(raise_f64);
HWY_EXPORT(lower_f32);
HWY_EXPORT(lower_f64);
HWY_EXPORT(wide_sum_of);
HWY_EXPORT(add_wide_of);

#define GRURUN_REDUCE(RESULT, NAME, T, KERNEL)                                            \
  RESULT NAME(const T* x, int64_t n) {                                                    \
    return HWY_DYNAMIC_DISPATCH(KERNEL)(x, static_cast<size_t>(std::max<int64_t>(n, 0))); \
  }

GRURUN_REDUCE(double, reduce_sum, float, sum_f32)
GRURUN_REDUCE(double, reduce_sum, double, sum_f64)
GRURUN_REDUCE(double, reduce_sum_squares, float, squares_f32)
GRURUN_REDUCE(double, reduce_sum_squares, double, squares_f64)
GRURUN_REDUCE(float, reduce_max, float, max_f32)
GRURUN_REDUCE(double, reduce_max, double, max_f64)
GRURUN_REDUCE(float, reduce_min, float, min_f32)
GRURUN_REDUCE(double, reduce_min, double, min_f64)
GRURUN_REDUCE(int32_t, reduce_max, int32_t, max_i32)
GRURUN_REDUCE(int64_t, reduce_max, int64_t, max_i64)
GRURUN_REDUCE(int32_t, reduce_min, int32_t, min_i32)
GRURUN_REDUCE(int64_t, reduce_min, int64_t, min_i64)
#undef GRURUN_REDUCE

#define GRURUN_REDUCE_COLUMNS(NAME, T, KERNEL)                                            \
  void NAME(const T* x, int64_t rows, int64_t step, T* best, int64_t n) {                 \
    HWY_DYNAMIC_DISPATCH(KERNEL)                                                          \
    (x, static_cast<size_t>(std::max<int64_t>(rows, 0)), static_cast<size_t>(step), best, \
     static_cast<size_t>(std::max<int64_t>(n, 0)));                                       \
  }

GRURUN_REDUCE_COLUMNS(raise_to_max, float, raise_f32)
GRURUN_REDUCE_COLUMNS(raise_to_max, double, raise_f64)
GRURUN_REDUCE_COLUMNS(lower_to_min, float, lower_f32)
GRURUN_REDUCE_COLUMNS(lower_to_min, double, lower_f64)
#undef GRURUN_REDUCE_COLUMNS

double sum_in_double(SumOf of, const float* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(wide_sum_of)(of, x, static_cast<size_t>(std::max<int64_t>(n, 0)));
}

void add_in_double(SumOf of, const float* x, int64_t rows, int64_t step, double* sums, int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_wide_of)
  (of, x, static_cast<size_t>(rows), static_cast<size_t>(step), sums,
   static_cast<size_t>(std::max<int64_t>(n, 0)));
}
void sum_rows_in_double(SumOf of, const float* x, int64_t rows, int64_t n, double* sums) {
  constexpr int64_t row_count = 64, column_count = 32;  // that are transposed at a time
  float across[row_count * column_count];
  std::fill_n(sums, rows, 0.0);
  for (int64_t r = 0; r < rows; r += row_count) {
    const int64_t count = std::min(row_count, rows - r);
    for (int64_t k = 0; k < n; k += column_count) {
      const int64_t columns = std::min(column_count, n - k);
      vec_transpose(x + r * n + k, n, count, columns, across, count);
      add_in_double(of, across, columns, count, sums + r, count);
    }
  }
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
