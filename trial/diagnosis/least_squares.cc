#include "trial/diagnosis/least_squares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace grurun::trial::diagnosis {
namespace {

using Vector = std::vector<double>;

constexpr int most_iterations = 60;

double squares(const Vector& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

/// J^T J and J^T r for the derivatives J of the residuals r, [count, count] and [count].
struct Normal {
  Vector matrix, right;
};

/// Empty when the budget ends.
Normal normal_equations(const Vector& at, const Vector& r, const Residuals& residuals, const Budget& budget) {
  const std::size_t count = at.size();
  std::vector<Vector> columns(count);
  for (std::size_t k = 0; k < count; ++k) {
    Vector moved = at;
    const double by = 1e-6 * std::max(1.0, std::fabs(at[k]));
    moved[k] += by;
    if (budget.is_over()) return {};
    columns[k] = residuals(moved);
    for (std::size_t i = 0; i < r.size(); ++i) columns[k][i] = (columns[k][i] - r[i]) / by;
  }
  Normal out{Vector(count * count), Vector(count)};
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < r.size(); ++i) sum += columns[a][i] * columns[b][i];
      out.matrix[a * count + b] = out.matrix[b * count + a] = sum;
    }
    for (std::size_t i = 0; i < r.size(); ++i) out.right[a] += columns[a][i] * r[i];
  }
  return out;
}

/// Solves M x = b for a symmetric positive M by Cholesky's method; false when it is not positive.
bool solve(Vector M, Vector b, Vector& x) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = M[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= M[i * n + k] * M[j * n + k];
      if (i == j) {
        if (!(sum > 0)) return false;
        M[i * n + i] = std::sqrt(sum);
      } else {
        M[i * n + j] = sum / M[j * n + j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= M[i * n + k] * b[k];
    b[i] /= M[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= M[k * n + i] * b[k];
    b[i] /= M[i * n + i];
  }
  x = std::move(b);
  return true;
}

/// One unit's share of a fit of many.
struct Unit {
  double error = 0;
  double damping = 1e-3;
};

double squares_of(const Vector& r, std::size_t unit, std::size_t units) {
  double sum = 0;
  for (std::size_t i = unit; i < r.size(); i += units) sum += r[i] * r[i];
  return sum;
}

/// The damped step of one unit; columns holds the derivatives by parameter.
bool step_of(const std::vector<Vector>& columns, const Vector& r, std::size_t unit, std::size_t units,
             double damping, Vector& step) {
  const std::size_t count = columns.size();
  Vector matrix(count * count), right(count);
  for (std::size_t i = unit; i < r.size(); i += units) {
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) matrix[a * count + b] += columns[a][i] * columns[b][i];
      right[a] += columns[a][i] * r[i];
    }
  }
  for (std::size_t k = 0; k < count; ++k) matrix[k * count + k] += damping * (1e-9 + matrix[k * count + k]);
  return solve(std::move(matrix), std::move(right), step);
}

}  // namespace

std::optional<Vector> least_squares(Vector at, const Residuals& residuals, const Budget& budget) {
  Vector r = residuals(at);
  double error = squares(r);
  if (!std::isfinite(error)) return std::nullopt;
  double damping = 1e-3;
  for (int iteration = 0; iteration < most_iterations && error > 0; ++iteration) {
    const Normal normal = normal_equations(at, r, residuals, budget);
    if (normal.right.empty()) return std::nullopt;
    bool better = false;
    while (!better && damping < 1e12) {
      if (budget.is_over()) return std::nullopt;
      Vector matrix = normal.matrix;
      for (std::size_t k = 0; k < at.size(); ++k) {
        matrix[k * at.size() + k] += damping * (1e-9 + normal.matrix[k * at.size() + k]);
      }
      Vector step;
      if (solve(std::move(matrix), normal.right, step)) {
        Vector moved = at;
        for (std::size_t k = 0; k < at.size(); ++k) moved[k] -= step[k];
        Vector there = residuals(moved);
        const double smaller = squares(there);
        if (smaller < error) {
          better = true;
          const bool settled = error - smaller < 1e-14 * error;
          at = std::move(moved);
          r = std::move(there);
          error = smaller;
          damping = std::max(damping / 10, 1e-12);
          if (settled) return at;
        }
      }
      if (!better) damping *= 10;
    }
    if (!better) break;
  }
  return at;
}

std::optional<Vector> least_squares_by_unit(Vector at, std::size_t units, const Residuals& residuals,
                                            const Budget& budget) {
  const std::size_t count = at.size() / units;
  Vector r = residuals(at);
  if (!std::isfinite(squares(r))) return std::nullopt;
  std::vector<Unit> all(units);
  for (std::size_t u = 0; u < units; ++u) all[u].error = squares_of(r, u, units);
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    constexpr double by = 1e-6;
    std::vector<Vector> columns(count);
    for (std::size_t k = 0; k < count; ++k) {
      if (budget.is_over()) return std::nullopt;
      Vector moved = at;
      for (std::size_t u = 0; u < units; ++u) moved[k * units + u] += by;
      columns[k] = residuals(moved);
      for (std::size_t i = 0; i < r.size(); ++i) columns[k][i] = (columns[k][i] - r[i]) / by;
    }
    Vector moved = at, step;
    for (std::size_t u = 0; u < units; ++u) {
      if (!step_of(columns, r, u, units, all[u].damping, step)) continue;
      for (std::size_t k = 0; k < count; ++k) moved[k * units + u] -= step[k];
    }
    const Vector there = residuals(moved);
    double gained = 0, total = 0;
    for (std::size_t u = 0; u < units; ++u) {
      const double error = squares_of(there, u, units);
      const bool better = error < all[u].error;
      all[u].damping = better ? std::max(all[u].damping / 10, 1e-12) : std::min(all[u].damping * 10, 1e12);
      total += all[u].error;
      if (!better) continue;
      gained += all[u].error - error;
      all[u].error = error;
      for (std::size_t k = 0; k < count; ++k) at[k * units + u] = moved[k * units + u];
    }
    r = residuals(at);
    const bool all_stuck =
        std::all_of(all.begin(), all.end(), [](const Unit& unit) { return unit.damping > 1e3; });
    if (all_stuck || total == 0 || (gained > 0 && gained < 1e-9 * total)) break;
  }
  return at;
}

}  // namespace grurun::trial::diagnosis
