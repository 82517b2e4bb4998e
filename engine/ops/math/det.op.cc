// Det: the determinants of square matrices [*, M, M] -> [*], by elimination with row exchanges, in double.
// The determinant of an empty matrix is 1.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/ops/shared/cast.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

/// Destroys a [n, n]. Mantissas of the pivots are multiplied and exponents added: the product of some of the
/// pivots may be too large or too small for a double where that of all is not.
double determinant(double* a, std::int64_t n) {
  double mantissa = 1;
  std::int64_t exponent = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n && a[pivot * n + k] == a[pivot * n + k]; ++i) {  // the first NaN stays
      if (!(std::fabs(a[i * n + k]) <= std::fabs(a[pivot * n + k]))) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      mantissa = -mantissa;
    }
    const double diagonal = a[k * n + k];
    if (diagonal == 0) return mantissa * diagonal;
    int of_pivot = 0, of_product = 0;
    mantissa = std::frexp(mantissa * std::frexp(diagonal, &of_pivot), &of_product);
    exponent += of_pivot + of_product;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / diagonal;
      for (std::int64_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  constexpr std::int64_t beyond = 4096;  // any double is 0 or infinite there
  return std::ldexp(mantissa, static_cast<int>(std::clamp(exponent, -beyond, beyond)));
}

void run_det(RunContext& run) {
  const Tensor& X = run.tensor(0);
  const std::size_t rank = X.rank();
  if (rank < 2 || X.dim(rank - 1) != X.dim(rank - 2)) refuse();
  const std::int64_t n = X.dim(rank - 1);
  const Tensor wide = cast_tensor(X, DType::float64);
  Tensor found(DType::float64, Shape(X.shape().dims().first(rank - 2)));
  if (found.size() == 0) return run.set_output(0, cast_tensor(found, X.dtype()));  // n may be any number
  const double* x = wide.data<double>();
  double* y = found.mutable_data<double>();
  kernels::parallel_for(found.size(), 8192 / (n * n * n + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::vector<double> matrix(x + i * n * n, x + (i + 1) * n * n);
      y[i] = determinant(matrix.data(), n);
    }
  });
  run.set_output(0, cast_tensor(found, X.dtype()));
}

}  // namespace

std::vector<OpRow> op_rows_det() {
  return {{"", "Det", {11, 22}, [](PrepareContext&) -> RunFunction { return run_det; }}};
}

}  // namespace grurun::engine
