// What the normalisations share: a row of contiguous elements brought to mean 0 and deviation 1 by the vector
// kernels, and LayerNormalization's and its kin's walk over rows, whose first stage is computed in another
// type than the rest.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_normalize.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/shared/float_rows.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace grurun::engine {

class PrepareContext;

template <typename C>
struct Moments {
  C mean;
  double variance;  // of the population: over n, not n - 1
};

/// y = x - mean; n > 0. The variance is taken of the differences, so a large mean costs no digits.
template <typename C>
Moments<C> subtract_mean(const C* x, std::int64_t n, C* y) {
  const auto mean = static_cast<C>(kernels::reduce_sum(x, n) / static_cast<double>(n));
  return {mean, kernels::vec_center(x, mean, y, n) / static_cast<double>(n)};
}

/// Rows of n elements that one call takes, so that a thread gets work worth its while.
inline std::int64_t row_grain(std::int64_t n) {
  return 1 + 16384 / (n + 1);
}

/// Stage one: y = (x - mean) / sqrt(variance + epsilon), or y = x / sqrt(mean(x^2) + epsilon).
struct Standardization {
  DType stash = DType::float32;  // what it is computed in; 16-bit types in float, results rounded
  double epsilon = 1e-5;         // as an element of stash
  bool centered = true;          // false: the second form
  bool rounded = true;           // what it gives, to the type of x, before stage two

  /// Reads epsilon and stash_type, which must be one of `stashes`.
  static Standardization read(PrepareContext& node, DTypeSet stashes);
};

/// What stage one divided by and subtracted: 1 / sqrt(...), and the mean (0 where it is not centered).
template <typename C>
struct RowMoments {
  C mean;
  C inverse_deviation;
};

/// y = x - mean, where that is what stage one does.
template <typename C>
RowMoments<C> center_row(const Standardization& one, const C* x, std::int64_t n, C* y) {
  const Moments<C> moments =
      one.centered ? subtract_mean(x, n, y)
                   : Moments<C>{C(0), kernels::reduce_sum_squares(x, n) / static_cast<double>(n)};
  return {moments.mean, static_cast<C>(1 / std::sqrt(moments.variance + one.epsilon))};
}

template <typename C>
RowMoments<C> standardize_row(const Standardization& one, const C* x, std::int64_t n, C* y) {
  RowMoments<C> out = center_row(one, x, n, y);
  kernels::vec_mul(one.centered ? y : x, out.inverse_deviation, y, n);
  if (dtype_size(one.stash) == 2) {
    round_floats(one.stash, &out.mean, 1);
    round_floats(one.stash, &out.inverse_deviation, 1);
    round_floats(one.stash, y, n);
  }
  return out;
}

/// To a 16-bit float; none for other types.
inline kernels::Rounding rounding_to(DType dtype) {
  if (dtype == DType::float16) return kernels::Rounding::float16;
  return dtype == DType::bfloat16 ? kernels::Rounding::bfloat16 : kernels::Rounding::none;
}

/// Both stages of rows of n > 0 elements. C computes stage one, CY stage two: `scale(row, from, factor,
/// rounding, line)` is called with elements as CY that, times factor and rounded so, are the row's
/// standardised ones, and what it leaves in line, which may be from, becomes the row of y. `moments(row,
/// RowMoments<C>)` is told what stage one found.
template <typename C, typename CY, typename Scale, typename Tell>
void normalize_rows(const Standardization& one, const Tensor& x, std::int64_t n, Tensor& y,
                    const Scale& scale, const Tell& moments) {
  const auto* from = static_cast<const std::byte*>(x.raw());
  auto* to = static_cast<std::byte*>(y.mutable_raw());
  const auto row_bytes = [n](const Tensor& t) {
    return static_cast<std::int64_t>(dtype_size(t.dtype())) * n;
  };
  const bool reads_in_place = x.dtype() == dtype_of<C>, writes_in_place = y.dtype() == dtype_of<CY>;
  const bool narrows = one.rounded && one.stash != x.dtype();
  const kernels::Rounding rounding =
      narrows && std::is_same_v<CY, float> ? rounding_to(x.dtype()) : kernels::Rounding::none;
  const bool in_one_go = dtype_size(one.stash) != 2 && (!narrows || rounding != kernels::Rounding::none);
  kernels::parallel_for(x.size() / n, row_grain(n), [&](std::int64_t begin, std::int64_t end) {
    Tensor wide(dtype_of<C>, reads_in_place ? Shape{0} : Shape{n});
    Tensor standard(dtype_of<C>, std::is_same_v<C, CY> ? Shape{0} : Shape{n});
    Tensor result(dtype_of<CY>, writes_in_place ? Shape{0} : Shape{n});
    for (std::int64_t row = begin; row < end; ++row) {
      const std::byte* source = from + row * row_bytes(x);
      std::byte* target = to + row * row_bytes(y);
      if (!reads_in_place) convert_floats(x.dtype(), source, dtype_of<C>, wide.mutable_raw(), n);
      const C* in = reads_in_place ? reinterpret_cast<const C*>(source) : wide.data<C>();
      CY* line = writes_in_place ? reinterpret_cast<CY*>(target) : result.mutable_data<CY>();
      const auto in_two_stages = [&](C* first) {
        moments(row, standardize_row(one, in, n, first));
        if (narrows) round_floats(x.dtype(), first, n);
        if constexpr (!std::is_same_v<C, CY>) convert_floats(dtype_of<C>, first, dtype_of<CY>, line, n);
        scale(row, line, CY(1), kernels::Rounding::none, line);
      };
      if constexpr (!std::is_same_v<C, CY>) {
        in_two_stages(standard.mutable_data<C>());
      } else if (!in_one_go) {
        in_two_stages(line);
      } else {
        const RowMoments<C> found = center_row(one, in, n, line);
        moments(row, found);
        scale(row, one.centered ? line : in, found.inverse_deviation, rounding, line);
      }
      if (!writes_in_place) convert_floats(dtype_of<CY>, line, y.dtype(), target, n);
    }
  });
}

/// body.template operator()<C, CY>() for the types that stash and y are computed in.
template <typename Body>
void dispatch_stages(DType stash, DType y, Body&& body) {
  const bool wide = y == DType::float64;
  if (stash == DType::float64) {
    wide ? body.template operator()<double, double>() : body.template operator()<double, float>();
  } else {
    wide ? body.template operator()<float, double>() : body.template operator()<float, float>();
  }
}

}  // namespace grurun::engine
