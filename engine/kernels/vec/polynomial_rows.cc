#include "engine/kernels/vec/polynomial_rows.h"

#include <cstddef>

#include "engine/kernels/machine/simd_targets.h"
#include "engine/kernels/machine/unroll.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/vec/polynomial_rows.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h, as Highway demands:
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using RowTag = hn::ScalableTag<double>;

/// Of C vectors of rows. No multiply-add is fused, or the bits would differ.
template <size_t C>
class RowsOfPolynomial {
 public:
  RowsOfPolynomial(const PolynomialRows& of, int64_t row)
      : variables_(of.variables), x_(of.x + row), t_(of.coefficients) {}

  /// out [C vectors] = the loops from variable `first` on.
  void sum(int degree, int64_t first, double* out) {
    const RowTag d;
    const size_t lanes = hn::Lanes(d);
    if (degree == 1) return sum_terms(first, out);
    for (size_t c = 0; c < C; ++c) hn::Store(hn::Zero(d), d, out + c * lanes);
    HWY_ALIGN double inner[C * hn::MaxLanes(d)];
    for (int64_t i = first; i < variables_; ++i) {
      sum(degree - 1, i, inner);
      const double* const x = x_ + i * PolynomialRows::step;
      GRURUN_UNROLL for (size_t c = 0; c < C; ++c) {
        const auto product = hn::Mul(hn::LoadU(d, x + c * lanes), hn::Load(d, inner + c * lanes));
        hn::Store(hn::Add(hn::Load(d, out + c * lanes), product), d, out + c * lanes);
      }
    }
  }

 private:
  HWY_INLINE void sum_terms(int64_t first, double* out) {
    const RowTag d;
    const size_t lanes = hn::Lanes(d);
    hn::Vec<RowTag> sums[C];
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c) sums[c] = hn::Zero(d);
    const double* x = x_ + first * PolynomialRows::step;
    for (int64_t k = first; k < variables_; ++k, x += PolynomialRows::step) {
      const auto t = hn::Set(d, *t_++);
      GRURUN_UNROLL for (size_t c = 0; c < C; ++c) sums[c] =
          hn::Add(sums[c], hn::Mul(t, hn::LoadU(d, x + c * lanes)));
    }
    GRURUN_UNROLL for (size_t c = 0; c < C; ++c) hn::Store(sums[c], d, out + c * lanes);
  }

  int64_t variables_;
  const double* x_;
  const double* t_;
};

template <size_t C>
void polynomial_of_vectors(const PolynomialRows& of, int64_t row) {
  const RowTag d;
  HWY_ALIGN double sums[C * hn::MaxLanes(d)];
  RowsOfPolynomial<C>(of, row).sum(of.degree, 0, sums);
  for (size_t c = 0; c < C; ++c)
    hn::StoreU(hn::Load(d, sums + c * hn::Lanes(d)), d, of.y + row + static_cast<int64_t>(c * hn::Lanes(d)));
}

void all_polynomial_rows(const PolynomialRows& of) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(RowTag()));
  // As many vectors as hide the latency of sums; all of them end within the step.
  for (int64_t row = 0; row < of.rows;) {
    const int64_t left = of.rows - row;
    const int64_t vectors = left > 4 * lanes ? 8 : left > lanes ? 4 : 1;
    if (vectors == 8) {
      polynomial_of_vectors<8>(of, row);
    } else if (vectors == 4) {
      polynomial_of_vectors<4>(of, row);
    } else {
      polynomial_of_vectors<1>(of, row);
    }
    row += vectors * lanes;
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace grurun::kernels {

HWY_EXPORT(all_polynomial_rows);

void polynomial_rows(const PolynomialRows& of) {
  HWY_DYNAMIC_DISPATCH(all_polynomial_rows)(of);
}

}  // namespace grurun::kernels
#endif  // HWY_ONCE
