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

template <SumOf of, class T>
double term(T element) {
  const double wide = element;
  return of == SumOf::values ? wide : of == SumOf::magnitudes ? std::fabs(wide) : wide * wide;
}

}  // namespace grurun::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class T>
HWY_INLINE hn::Vec<D> load_doubles(D d, const T* x) {
  if constexpr (std::is_same_v<T, double>) return hn::LoadU(d, x);
  if constexpr (!std::is_same_v<T, double>) return hn::PromoteTo(d, load_elements(hn::Rebind<float, D>(), x));
}

/// The sum with each of the elements, which are T.
template <SumOf of, class T, class V>
HWY_INLINE V add_terms(V sum, V wide) {
  if constexpr (of == SumOf::values) return hn::Add(sum, wide);
  if constexpr (of == SumOf::magnitudes) return hn::Add(sum, hn::Abs(wide));
  if constexpr (of == SumOf::squares && std::is_same_v<T, double>) return hn::Add(sum, hn::Mul(wide, wide));
  return hn::MulAdd(wide, wide, sum);  // the product is exact
}

/// `vectors` sums with the elements from x on. Of 16-bit floats a whole vector is widened at a time.
template <SumOf of, size_t vectors, class T, class D, class V>
HWY_INLINE void add_all(D d, V* sums, const T* x) {
  const size_t lanes = hn::Lanes(d);
#if GRURUN_CONVERTS_HALVES
  if constexpr (sizeof(T) == 2 && vectors % 2 == 0) {
    const hn::Repartition<float, D> df;
    const hn::Half<decltype(df)> half;
    // Float holds every square of a Float16, not of a BFloat16.
    constexpr bool is_squared = of == SumOf::squares && std::is_same_v<T, Float16>;
    constexpr SumOf then = is_squared ? SumOf::values : of;
    GRURUN_UNROLL
    for (size_t v = 0; v < vectors; v += 2) {
      auto wide = load_elements(df, x + v * lanes);
      if constexpr (is_squared) wide = hn::Mul(wide, wide);
      sums[v] = add_terms<then, T>(sums[v], hn::PromoteTo(d, hn::LowerHalf(half, wide)));
      sums[v + 1] = add_terms<then, T>(sums[v + 1], hn::PromoteTo(d, hn::UpperHalf(half, wide)));
    }
    return;
  }
#endif
  GRURUN_UNROLL
  for (size_t v = 0; v < vectors; ++v) sums[v] = add_terms<of, T>(sums[v], load_doubles(d, x + v * lanes));
}

/// Each of sums_in_double sums takes every sums_in_double-th element.
template <SumOf of, class T>
double wide_sum(const T* x, size_t n) {
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
    for (; i + sums_in_double <= n; i += sums_in_double) add_all<of, vector_count>(d, sum, x + i);
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
template <SumOf of, size_t vectors, class T>
HWY_INLINE size_t add_columns(const T* x, size_t rows, size_t step, double* sums, size_t i, size_t n) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  for (; i + vectors * lanes <= n; i += vectors * lanes) {
    hn::Vec<decltype(d)> sum[vectors];
    GRURUN_UNROLL
    for (size_t v = 0; v < vectors; ++v) sum[v] = hn::LoadU(d, sums + i + v * lanes);
    for (size_t r = 0; r < rows; ++r) add_all<of, vectors>(d, sum, x + r * step + i);
    GRURUN_UNROLL
    for (size_t v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, sums + i + v * lanes);
  }
  return i;
}

template <SumOf of, class T>
void add_wide(const T* x, size_t rows, size_t step, double* sums, size_t n) {
  size_t i = 0;
  if constexpr (hn::MaxLanes(hn::ScalableTag<double>()) >= 2) {
    i = add_columns<of, 8>(x, rows, step, sums, i, n);
    i = add_columns<of, 1>(x, rows, step, sums, i, n);
  }
  for (; i < n; ++i) {
    for (size_t r = 0; r < rows; ++r) sums[i] += term<of>(x[r * step + i]);
  }
}

template <class T>
double select_sum(SumOf of, const T* x, size_t n) {
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
template <class T>
void select_add(SumOf of, const T* x, size_t rows, size_t step, double* sums, size_t n) {
  switch (of) {
    case SumOf::values:
      return add_wide<SumOf::values>(x, rows, step, sums, n);
    case SumOf::magnitudes:
      return add_wide<SumOf::magnitudes>(x, rows, step, sums, n);
    case SumOf::squares:
      return add_wide<SumOf::squares>(x, rows, step, sums, n);
  }
}

/// Of integers the compiler makes vectors.
template <class T>
T wrapping_sum(const T* x, size_t n) {
  std::make_unsigned_t<T> sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<std::make_unsigned_t<T>>(x[i]);
  return static_cast<T>(sum);
}
int32_t sum_i32(const int32_t* x, size_t n) {
  return wrapping_sum(x, n);
}
int64_t sum_i64(const int64_t* x, size_t n) {
  return wrapping_sum(x, n);
}

#define GRURUN_WIDE_SUMS(T, NAME)                                                                \
  double wide_sum_##NAME(SumOf of, const T* x, size_t n) {                                       \
    return select_sum(of, x, n);                                                                 \
  }                                                                                              \
  void add_wide_##NAME(SumOf of, const T* x, size_t rows, size_t step, double* sums, size_t n) { \
    select_add(of, x, rows, step, sums, n);                                                      \
  }
GRURUN_WIDE_SUMS(float, f32)
GRURUN_WIDE_SUMS(double, f64)
GRURUN_WIDE_SUMS(Float16, f16)
GRURUN_WIDE_SUMS(BFloat16, bf16)
#undef GRURUN_WIDE_SUMS

#define GRURUN_EXTREMES(T, NAME)                                                            \
  ComputeType<T> max_##NAME(const T* x, size_t n) {                                         \
    return extreme<false>(x, n);                                                            \
  }                                                                                         \
  ComputeType<T> min_##NAME(const T* x, size_t n) {                                         \
    return extreme<true>(x, n);                                                             \
  }                                                                                         \
  void raise_##NAME(const T* x, size_t rows, size_t step, ComputeType<T>* best, size_t n) { \
    extreme_columns<false>(x, rows, step, best, n);                                         \
  }                                                                                         \
  void lower_##NAME(const T* x, size_t rows, size_t step, ComputeType<T>* best, size_t n) { \
    extreme_columns<true>(x, rows, step, best, n);                                          \
  }
GRURUN_EXTREMES(float, f32)
GRURUN_EXTREMES(double, f64)
GRURUN_EXTREMES(Float16, f16)
GRURUN_EXTREMES(BFloat16, bf16)
GRURUN_EXTREMES(int32_t, i32)
GRURUN_EXTREMES(int64_t, i64)
#undef GRURUN_EXTREMES

void min_max_f32(const float* x, size_t n, float* least, float* most) {
  both_extremes(x, n, least, most);
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
}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

static size_t length(int64_t n) {
  return static_cast<size_t>(std::max<int64_t>(n, 0));
}

#define GRURUN_REDUCE(RESULT, NAME, T, KERNEL)         \
  HWY_EXPORT(KERNEL);                                  \
  RESULT NAME(const T* x, int64_t n) {                 \
    return HWY_DYNAMIC_DISPATCH(KERNEL)(x, length(n)); \
  }
GRURUN_REDUCE(double, reduce_sum, float, sum_f32)
GRURUN_REDUCE(double, reduce_sum, double, sum_f64)
GRURUN_REDUCE(double, reduce_sum_squares, float, squares_f32)
GRURUN_REDUCE(double, reduce_sum_squares, double, squares_f64)
GRURUN_REDUCE(int32_t, reduce_sum, int32_t, sum_i32)
GRURUN_REDUCE(int64_t, reduce_sum, int64_t, sum_i64)

#define GRURUN_REDUCE_COLUMNS(NAME, T, KERNEL)                                                 \
  HWY_EXPORT(KERNEL);                                                                          \
  void NAME(const T* x, int64_t rows, int64_t step, ComputeType<T>* best, int64_t n) {         \
    HWY_DYNAMIC_DISPATCH(KERNEL)(x, length(rows), static_cast<size_t>(step), best, length(n)); \
  }
#define GRURUN_EXTREMES(T, NAME)                           \
  GRURUN_REDUCE(ComputeType<T>, reduce_max, T, max_##NAME) \
  GRURUN_REDUCE(ComputeType<T>, reduce_min, T, min_##NAME) \
  GRURUN_REDUCE_COLUMNS(raise_to_max, T, raise_##NAME)     \
  GRURUN_REDUCE_COLUMNS(lower_to_min, T, lower_##NAME)
GRURUN_EXTREMES(float, f32)
GRURUN_EXTREMES(double, f64)
GRURUN_EXTREMES(Float16, f16)
GRURUN_EXTREMES(BFloat16, bf16)
GRURUN_EXTREMES(int32_t, i32)
GRURUN_EXTREMES(int64_t, i64)

HWY_EXPORT(min_max_f32);
void reduce_min_max(const float* x, int64_t n, float* least, float* most) {
  HWY_DYNAMIC_DISPATCH(min_max_f32)(x, length(n), least, most);
}

#define GRURUN_WIDE_SUMS(T, NAME)                                                                           \
  HWY_EXPORT(wide_sum_##NAME);                                                                              \
  HWY_EXPORT(add_wide_##NAME);                                                                              \
  double sum_in_double(SumOf of, const T* x, int64_t n) {                                                   \
    return HWY_DYNAMIC_DISPATCH(wide_sum_##NAME)(of, x, length(n));                                         \
  }                                                                                                         \
  void add_in_double(SumOf of, const T* x, int64_t rows, int64_t step, double* sums, int64_t n) {           \
    HWY_DYNAMIC_DISPATCH(add_wide_##NAME)(of, x, length(rows), static_cast<size_t>(step), sums, length(n)); \
  }
GRURUN_WIDE_SUMS(float, f32)
GRURUN_WIDE_SUMS(double, f64)
GRURUN_WIDE_SUMS(Float16, f16)
GRURUN_WIDE_SUMS(BFloat16, bf16)
#undef GRURUN_REDUCE
#undef GRURUN_REDUCE_COLUMNS
#undef GRURUN_EXTREMES
#undef GRURUN_WIDE_SUMS

template <SumOf of>
static void sum_rows_of_doubles(const double* x, int64_t rows, int64_t n, double* sums) {
  constexpr int64_t together = 8;  // sums that do not wait for each other
  int64_t r = 0;
  for (; r + together <= rows; r += together) {
    double sum[together] = {};
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t j = 0; j < together; ++j) sum[j] += term<of>(x[(r + j) * n + k]);
    }
    std::copy_n(sum, together, sums + r);
  }
  for (; r < rows; ++r) {
    sums[r] = 0;
    for (int64_t k = 0; k < n; ++k) sums[r] += term<of>(x[r * n + k]);
  }
}

void sum_rows_in_double(SumOf of, const double* x, int64_t rows, int64_t n, double* sums) {
  if (of == SumOf::values) return sum_rows_of_doubles<SumOf::values>(x, rows, n, sums);
  if (of == SumOf::magnitudes) return sum_rows_of_doubles<SumOf::magnitudes>(x, rows, n, sums);
  sum_rows_of_doubles<SumOf::squares>(x, rows, n, sums);
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
