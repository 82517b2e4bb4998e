#include "engine/kernels/vec/logistic_sums.h"

#include <algorithm>
#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/logistic_sums.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "engine/kernels/vec/vec_exp-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LogisticTag = hn::ScalableTag<double>;
using LogisticVec = hn::Vec<LogisticTag>;

/// 1 / (1 + 2^s). With s = n + f, |f| up to 1/2, 2^f is (u + f) / (u - f) for a u that is even in f, so that
/// one division is all: (u - f) / ((u - f) + 2^n (u + f)). u is a polynomial of f^2 through the zeros of the
/// Chebyshev polynomial of degree 9, which leaves 2^-41.9 of 2^f.
HWY_INLINE LogisticVec logistic(LogisticVec s) {
  const LogisticTag d;
  using Of = ExpOf<double>;
  const auto shift = hn::Set(d, Of::shift);
#if HWY_TARGET != HWY_AVX3
  constexpr double most = 60;  // what is beyond gives less than 2^-60, or as much less than 1
  s = at_least(at_most(s, hn::Set(d, most)), hn::Set(d, -most));
#endif
  const auto shifted = hn::Add(s, shift);
  const auto n = hn::Sub(shifted, shift), f = hn::Sub(s, n), square = hn::Mul(f, f);
  auto u = hn::MulAdd(square, hn::Set(d, 0x1.60b0f052eab21p-17), hn::Set(d, -0x1.e4feccfe947d0p-11));
  u = hn::MulAdd(square, u, hn::Set(d, 0x1.d9303faaa18efp-4));
  u = hn::MulAdd(square, u, hn::Set(d, 0x1.71547652c1b7dp+1));
  const auto above = hn::Add(u, f), below = hn::Sub(u, f);
#if HWY_TARGET == HWY_AVX3
  const auto scaled = LogisticVec{_mm512_scalef_pd(above.raw, n.raw)};  // n beyond all exponents, too
  return hn::Div(below, hn::Add(below, scaled));
#else
  const hn::RebindToSigned<LogisticTag> di;
  const auto exponent = hn::ShiftLeft<Of::fraction_bits>(hn::BitCast(di, shifted));
  const auto bias = hn::Set(di, int64_t{Of::exponent_bias} << Of::fraction_bits);
  return hn::Div(below, hn::MulAdd(hn::BitCast(d, hn::Add(exponent, bias)), above, below));
#endif
}

/// Terms come in turns: those multiplied in pairs, so many that additions and multiplications then take as
/// long, and the others.
constexpr int64_t turn = 6, paired = 4;

/// -(the products that pairs have too much), of the `lanes` rows or columns at x.
HWY_INLINE LogisticVec own_products(const double* x, int64_t step, int64_t terms) {
  const LogisticTag d;
  auto sum = hn::Zero(d);
  for (int64_t first = 0; first + turn <= terms; first += turn) {
    for (int64_t k = first; k < first + paired; k += 2)
      sum = hn::NegMulAdd(hn::LoadU(d, x + k * step), hn::LoadU(d, x + (k + 1) * step), sum);
  }
  return sum;
}

template <size_t R>
HWY_INLINE void add_pair(const double* a, int64_t a_step, const double* b, int64_t b_step,
                         LogisticVec (&sums)[R]) {
  const LogisticTag d;
  const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + b_step);
  GRURUN_UNROLL for (size_t r = 0; r < R; ++r) sums[r] = hn::MulAdd(
      hn::Add(b1, hn::Set(d, a[r])), hn::Add(b0, hn::Set(d, a[a_step + static_cast<int64_t>(r)])), sums[r]);
}

template <size_t R>
HWY_INLINE void add_term(const double* a, const double* b, LogisticVec (&sums)[R]) {
  const LogisticTag d;
  const auto column = hn::LoadU(d, b);
  GRURUN_UNROLL for (size_t r = 0; r < R; ++r) sums[r] = hn::MulAdd(hn::Set(d, a[r]), column, sums[r]);
}

/// What a vector of columns adds up of R rows from i on: starts[r] + own is what their sums start from.
template <bool pairs, size_t R>
HWY_INLINE LogisticVec logistic_tile(const LogisticSums& of, int64_t i, int64_t j, const double* starts,
                                     LogisticVec own, LogisticVec added) {
  const LogisticTag d;
  LogisticVec sums[R];
  GRURUN_UNROLL for (size_t r = 0; r < R; ++r) sums[r] = hn::Add(own, hn::Set(d, starts[r]));
  const double *a = of.a + i, *b = of.b + j;
  int64_t k = 0;
  if (pairs) {
    for (; k + turn <= of.terms; k += turn, a += turn * of.a_step, b += turn * of.b_step) {
      add_pair(a, of.a_step, b, of.b_step, sums);
      add_pair(a + 2 * of.a_step, of.a_step, b + 2 * of.b_step, of.b_step, sums);
      add_term(a + 4 * of.a_step, b + 4 * of.b_step, sums);
      add_term(a + 5 * of.a_step, b + 5 * of.b_step, sums);
    }
  }
  for (; k < of.terms; ++k, a += of.a_step, b += of.b_step) add_term(a, b, sums);
  GRURUN_UNROLL for (size_t r = 0; r < R; ++r) added =
      hn::MulAdd(hn::Set(d, of.weights[i + static_cast<int64_t>(r)]), logistic(sums[r]), added);
  return added;
}

/// Whose sums stay in registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int64_t most_logistic_rows = 16;
#else
constexpr int64_t most_logistic_rows = 8;
#endif

template <bool pairs>
void add_weighted_rows_of(const LogisticSums& of) {
  constexpr int64_t together = 64;  // rows whose terms stay in the first cache for all columns
  const LogisticTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  alignas(64) double starts[together];
  for (int64_t first = 0; first < of.rows; first += together) {
    const int64_t last = std::min(of.rows, first + together);
    for (int64_t i = first; i < last; i += lanes) {
      const auto own = pairs ? own_products(of.a + i, of.a_step, of.terms) : hn::Zero(d);
      hn::Store(hn::Add(own, hn::Set(d, of.offset)), d, starts + (i - first));
    }
    for (int64_t j = 0; j < of.columns; j += lanes) {
      const auto own = pairs ? own_products(of.b + j, of.b_step, of.terms) : hn::Zero(d);
      auto added = hn::LoadU(d, of.y + j);
      int64_t i = first;
      for (; i + most_logistic_rows <= last; i += most_logistic_rows)
        added = logistic_tile<pairs, most_logistic_rows>(of, i, j, starts + (i - first), own, added);
      for (; i + 4 <= last; i += 4)
        added = logistic_tile<pairs, 4>(of, i, j, starts + (i - first), own, added);
      for (; i < last; ++i) added = logistic_tile<pairs, 1>(of, i, j, starts + (i - first), own, added);
      hn::StoreU(added, d, of.y + j);
    }
  }
}

/// Of row i, what C vectors of columns from j on add up.
template <size_t C>
HWY_INLINE LogisticVec logistics_of_row(const LogisticSums& of, int64_t i, int64_t j, LogisticVec added) {
  const LogisticTag d;
  const size_t lanes = hn::Lanes(d);
  LogisticVec sums[C];
  GRURUN_UNROLL for (size_t c = 0; c < C; ++c) sums[c] = hn::Set(d, of.offset);
  const double *a = of.a + i, *b = of.b + j;
  for (int64_t k = 0; k < of.terms; ++k, a += of.a_step, b += of.b_step) {
    const auto one = hn::Set(d, *a);
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c) sums[c] =
        hn::MulAdd(one, hn::LoadU(d, b + c * lanes), sums[c]);
  }
  GRURUN_UNROLL for (size_t c = 0; c < C; ++c) added =
      hn::MulAdd(hn::LoadU(d, of.weights + j + c * lanes), logistic(sums[c]), added);
  return added;
}

void add_weighted_columns_of(const LogisticSums& of) {
  const LogisticTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < of.rows; ++i) {
    auto added = hn::Zero(d);
    int64_t j = 0;
    for (; j + 7 * lanes < of.columns; j += 8 * lanes) added = logistics_of_row<8>(of, i, j, added);
    for (; j < of.columns; j += 2 * lanes) added = logistics_of_row<2>(of, i, j, added);
    of.y[i] += hn::GetLane(hn::SumOfLanes(d, added));
  }
}

void add_all_logistic_sums(const LogisticSums& of) {
  if (of.weighs_columns) {
    add_weighted_columns_of(of);
  } else if (of.in_pairs) {
    add_weighted_rows_of<true>(of);
  } else {
    add_weighted_rows_of<false>(of);
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(add_all_logistic_sums);

void add_logistic_sums(const LogisticSums& of) {
  HWY_DYNAMIC_DISPATCH(add_all_logistic_sums)(of);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
