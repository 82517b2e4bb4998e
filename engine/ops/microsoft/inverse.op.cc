// Inverse (com.microsoft 1): Y[i] * X[i] = 1 for square matrices X [*, M, M], by elimination with row
// exchanges, in double. A matrix without an inverse is refused.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/ops/shared/cast.h"

namespace grurun::engine {

namespace {

/// Makes the inverse of a [n, n], which it destroys, of y; false where there is none.
bool invert(double* a, double* y, std::int64_t n) {
  std::fill_n(y, n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) y[i * n + i] = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    const double diagonal = a[pivot * n + k];
    if (diagonal == 0) return false;
    for (std::int64_t j = 0; j < n; ++j) {
      std::swap(a[k * n + j], a[pivot * n + j]), std::swap(y[k * n + j], y[pivot * n + j]);
      a[k * n + j] /= diagonal, y[k * n + j] /= diagonal;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double factor = a[i * n + k];
      if (i == k || factor == 0) continue;
      for (std::int64_t j = 0; j < n; ++j)
        a[i * n + j] -= factor * a[k * n + j], y[i * n + j] -= factor * y[k * n + j];
    }
  }
  return true;
}

void run_inverse(RunContext& run) {
  const Tensor& X = run.tensor(0);
  const std::size_t rank = X.rank();
  if (rank < 2 || X.dim(rank - 1) != X.dim(rank - 2)) refuse();
  const std::int64_t n = X.dim(rank - 1), size = X.size() == 0 ? 0 : n * n;
  Tensor made(DType::float64, X.shape()), wide = cast_tensor(X, DType::float64);
  double *a = wide.mutable_data<double>(), *y = made.mutable_data<double>();
  for (std::int64_t i = 0; size > 0 && i < X.size() / size; ++i) {
    run.check_limits();
    if (!invert(a + i * size, y + i * size, n)) fail_invalid("matrix {} of X has no inverse", i);
  }
  run.set_output(0, cast_tensor(made, X.dtype()));
}

}  // namespace

std::vector<OpRow> op_rows_inverse() {
  return {{"com.microsoft", "Inverse", {1}, [](PrepareContext&) -> RunFunction { return run_inverse; }}};
}

}  // namespace grurun::engine
