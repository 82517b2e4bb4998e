#include "engine/ops/traditionalml/pairwise_coupling.h"

#include <algorithm>
#include <cmath>

namespace grurun::engine {

namespace {

// Q[t, t] = sum_{j != t} r[j, t]^2, Q[t, j] = -r[j, t] r[t, j]: the sum to minimise is p^T Q p.
std::vector<double> quadratic_form(std::span<const double> r, std::size_t k) {
  std::vector<double> q(k * k, 0.0);
  for (std::size_t t = 0; t < k; ++t) {
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = -r[j * k + t] * r[t * k + j];
    }
  }
  return q;
}

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::vector<double> couple_pairwise(std::span<const double> r, std::size_t k) {
  const std::vector<double> q = quadratic_form(r, k);
  std::vector<double> p(k, 1.0 / static_cast<double>(k));
  std::vector<double> qp(k);
  const double tolerance = 0.005 / static_cast<double>(k);
  const std::size_t most_rounds = std::max<std::size_t>(100, k);
  for (std::size_t round = 0; round < most_rounds; ++round) {
    for (std::size_t t = 0; t < k; ++t) qp[t] = dot(&q[t * k], p.data(), k);
    double pqp = dot(p.data(), qp.data(), k);
    // At the minimum every (Qp)_t equals p^T Q p.
    const bool done =
        std::ranges::all_of(qp, [&](double value) { return std::fabs(value - pqp) < tolerance; });
    if (done) break;
    for (std::size_t t = 0; t < k; ++t) {
      // p_t moves to where the gradient along it vanishes, then p is brought back to a sum of 1.
      const double step = (pqp - qp[t]) / q[t * k + t];
      const double sum = 1 + step;
      pqp = (pqp + step * (step * q[t * k + t] + 2 * qp[t])) / (sum * sum);
      p[t] += step;
      for (std::size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t * k + j]) / sum;
        p[j] /= sum;
      }
    }
  }
  return p;
}

}  // namespace grurun::engine
