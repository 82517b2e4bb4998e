#include "engine/kernels/vec/ordered_sums.h"

#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/ordered_sums.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_exp-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;

template <SumFunction function>
HWY_INLINE DoubleVec of_sum(const OrderedSums& of, DoubleVec sum) {
  const DoubleTag d;
  if constexpr (function == SumFunction::product) return sum;
  DoubleVec y = hn::Mul(hn::Set(d, of.scale), sum);
  if constexpr (function == SumFunction::exponential) return vector_exp(d, y);
  y = hn::Add(y, hn::Set(d, of.offset));
  if constexpr (function == SumFunction::tangent) return vector_tanh(d, y);
  const DoubleVec base = y;
  for (int k = 1; k < of.exponent; ++k) y = hn::Mul(y, base);
  return y;
}

/// R rows by C vectors from row i and column j on. No multiply-add is fused, or the bits would differ, but
/// where the product needs no rounding.
template <SumFunction function, bool exact, size_t R, size_t C>
HWY_INLINE void ordered_tile(const OrderedSums& of, int64_t i, int64_t j) {
  constexpr bool squares = function == SumFunction::exponential;
  const DoubleTag d;
  const size_t lanes = hn::Lanes(d);
  DoubleVec sums[R][C];
  GRURUN_UNROLL for (size_t r = 0; r < R; ++r) {
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c) sums[r][c] = hn::Zero(d);
  }
  const double* a = of.a + i * of.a_row_step;
  const double* b = of.b + j;
  for (int64_t k = 0; k < of.terms; ++k, a += of.a_term_step, b += of.b_step) {
    DoubleVec columns[C];
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c) columns[c] = hn::LoadU(d, b + c * lanes);
    GRURUN_UNROLL for (size_t r = 0; r < R; ++r) {
      const auto one = hn::Set(d, a[static_cast<int64_t>(r) * of.a_row_step]);
      GRURUN_UNROLL for (size_t c = 0; c < C; ++c) {
        const auto x = squares ? hn::Sub(one, columns[c]) : one;
        const auto y = squares ? x : columns[c];
        sums[r][c] = exact && !squares ? hn::MulAdd(x, y, sums[r][c]) : hn::Add(sums[r][c], hn::Mul(x, y));
      }
    }
  }
  GRURUN_UNROLL for (size_t r = 0; r < R; ++r) {
    double* const y = of.y + (i + static_cast<int64_t>(r)) * of.y_step + j;
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c)
        hn::StoreU(of_sum<function>(of, sums[r][c]), d, y + c * lanes);
  }
}

template <SumFunction function, bool exact, size_t C>
HWY_INLINE void ordered_columns(const OrderedSums& of, int64_t j) {
  int64_t i = 0;
  if (!exact) {  // four rows of fused operations keep the units busy
    for (; i + 6 <= of.rows; i += 6) ordered_tile<function, exact, 6, C>(of, i, j);
  }
  for (; i + 4 <= of.rows; i += 4) ordered_tile<function, exact, 4, C>(of, i, j);
  for (; i < of.rows; ++i) ordered_tile<function, exact, 1, C>(of, i, j);
}

template <SumFunction function, bool exact>
void ordered_sums_by(const OrderedSums& of) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(DoubleTag()));
  int64_t j = 0;
  for (; j + lanes < of.columns; j += 2 * lanes) ordered_columns<function, exact, 2>(of, j);
  if (j < of.columns) ordered_columns<function, exact, 1>(of, j);
}

template <bool exact>
void ordered_sums_of(const OrderedSums& of) {
  switch (of.function) {
    case SumFunction::product:
      return ordered_sums_by<SumFunction::product, exact>(of);
    case SumFunction::power:
      return ordered_sums_by<SumFunction::power, exact>(of);
    case SumFunction::exponential:
      return ordered_sums_by<SumFunction::exponential, false>(of);
    case SumFunction::tangent:
      return ordered_sums_by<SumFunction::tangent, exact>(of);
  }
}

void all_ordered_sums(const OrderedSums& of) {
  if (of.has_exact_products) {
    ordered_sums_of<true>(of);
  } else {
    ordered_sums_of<false>(of);
  }
}

/// C vectors of columns from j on.
template <size_t C>
HWY_INLINE void add_weighted_columns(const float* weights, const double* x, int64_t x_step, int64_t rows,
                                     double* y) {
  const DoubleTag d;
  const size_t lanes = hn::Lanes(d);
  DoubleVec sums[C];
  GRURUN_UNROLL for (size_t c = 0; c < C; ++c) sums[c] = hn::LoadU(d, y + c * lanes);
  for (int64_t i = 0; i < rows; ++i, x += x_step) {
    const auto weight = hn::Set(d, static_cast<double>(weights[i]));
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c) sums[c] =
        hn::Add(sums[c], hn::Mul(weight, hn::LoadU(d, x + c * lanes)));
  }
  GRURUN_UNROLL for (size_t c = 0; c < C; ++c) hn::StoreU(sums[c], d, y + c * lanes);
}

void add_all_weighted(const float* weights, const double* x, int64_t x_step, int64_t rows, int64_t columns,
                      double* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(DoubleTag()));
  int64_t j = 0;
  for (; j + 3 * lanes < columns; j += 4 * lanes)
    add_weighted_columns<4>(weights, x + j, x_step, rows, y + j);
  for (; j < columns; j += lanes) add_weighted_columns<1>(weights, x + j, x_step, rows, y + j);
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(all_ordered_sums);
HWY_EXPORT(add_all_weighted);

void ordered_sums(const OrderedSums& of) {
  HWY_DYNAMIC_DISPATCH(all_ordered_sums)(of);
}
void add_weighted_rows(const float* weights, const double* x, int64_t x_step, int64_t rows, int64_t columns,
                       double* y) {
  HWY_DYNAMIC_DISPATCH(add_all_weighted)(weights, x, x_step, rows, columns, y);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
