#include "engine/ops/traditionalml/pairwise_coupling.h"

#include <algorithm>
#include <cmath>

namespace grurun::engine {

namespace {

constexpr std::size_t lanes = coupled_rows;

/// A number of each row; every operation is one loop, which becomes vector code.
struct Lanes {
  double at[lanes];
};

template <typename F>
Lanes make_lanes(const F& f) {
  Lanes made;
  for (std::size_t l = 0; l < lanes; ++l) made.at[l] = f(l);
  return made;
}

using Numbers = ScratchVector<Lanes>;

// Q[t, t] = sum_{j != t} r[j, t]^2, Q[t, j] = -r[j, t] r[t, j]: the sum to minimise is p^T Q p.
Numbers quadratic_form(const ScratchVector<double>& r, std::size_t k) {
  Numbers q(k * k, Lanes{});
  for (std::size_t t = 0; t < k; ++t) {
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      const double *down = &r[(j * k + t) * lanes], *up = &r[(t * k + j) * lanes];
      Lanes& own = q[t * k + t];
      own = make_lanes([&](std::size_t l) { return own.at[l] + down[l] * down[l]; });
      q[t * k + j] = make_lanes([&](std::size_t l) { return -down[l] * up[l]; });
    }
  }
  return q;
}

Lanes dot(const Lanes* a, const Lanes* b, std::size_t n) {
  Lanes sum = {};
  for (std::size_t i = 0; i < n; ++i)
    sum = make_lanes([&](std::size_t l) { return sum.at[l] + a[i].at[l] * b[i].at[l]; });
  return sum;
}

}  // namespace

void couple_pairwise(const ScratchVector<double>& r, std::size_t k, ScratchVector<double>& p) {
  const Numbers q = quadratic_form(r, k);
  const double equal = 1.0 / static_cast<double>(k);
  Numbers chances(k, make_lanes([=](std::size_t) { return equal; }));
  Numbers qp(k);
  const double tolerance = 0.005 / static_cast<double>(k);
  const std::size_t most_rounds = std::max<std::size_t>(100, k);
  for (std::size_t round = 0; round < most_rounds; ++round) {
    for (std::size_t t = 0; t < k; ++t) qp[t] = dot(&q[t * k], chances.data(), k);
    Lanes pqp = dot(chances.data(), qp.data(), k);
    // At the minimum every (Qp)_t equals p^T Q p. A row that is done stays as it is: its steps are 0.
    bool done[lanes], all_done = true;
    for (std::size_t l = 0; l < lanes; ++l) {
      done[l] = std::ranges::all_of(
          qp, [&](const Lanes& values) { return std::fabs(values.at[l] - pqp.at[l]) < tolerance; });
      all_done = all_done && done[l];
    }
    if (all_done) break;
    for (std::size_t t = 0; t < k; ++t) {
      // p_t moves to where the gradient along it vanishes, then p is brought back to a sum of 1.
      const Lanes& own = q[t * k + t];
      const Lanes step = make_lanes([&](std::size_t l) {
        const double moved = (pqp.at[l] - qp[t].at[l]) / own.at[l];
        return done[l] ? 0 : moved;
      });
      const Lanes sum = make_lanes([&](std::size_t l) { return 1 + step.at[l]; });
      pqp = make_lanes([&](std::size_t l) {
        return (pqp.at[l] + step.at[l] * (step.at[l] * own.at[l] + 2 * qp[t].at[l])) /
               (sum.at[l] * sum.at[l]);
      });
      chances[t] = make_lanes([&](std::size_t l) { return chances[t].at[l] + step.at[l]; });
      for (std::size_t j = 0; j < k; ++j) {
        const Lanes& other = q[t * k + j];
        qp[j] =
            make_lanes([&](std::size_t l) { return (qp[j].at[l] + step.at[l] * other.at[l]) / sum.at[l]; });
        chances[j] = make_lanes([&](std::size_t l) { return chances[j].at[l] / sum.at[l]; });
      }
    }
  }
  p.resize(k * lanes);
  for (std::size_t t = 0; t < k; ++t) std::copy_n(chances[t].at, lanes, &p[t * lanes]);
}

}  // namespace grurun::engine
