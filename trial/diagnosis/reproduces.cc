#include "trial/diagnosis/reproduces.h"

#include <optional>

namespace grurun::trial::diagnosis {
namespace {

/// The first step that a candidate gets wrong in one row of one direction, of so many steps of it; 0 for what
/// needs none, nullopt when there is none, or the budget is over.
std::optional<std::int64_t> parting_step(const Expected& expected, const Candidate& candidate,
                                         std::int64_t direction, std::int64_t n, std::int64_t steps,
                                         Budget& budget) {
  const Layer& layer = candidate.layer;
  const std::int64_t H = layer.hidden_size;
  const auto all_near = [&](const double* computed, const double* wanted) {
    if (wanted == nullptr) return true;
    for (std::int64_t k = 0; k < H; ++k) {
      if (!expected.near(computed == nullptr ? 0.0 : computed[k], wanted[k])) return false;
    }
    return true;
  };
  const std::int64_t length = layer.lengths[static_cast<std::size_t>(n)];
  const auto Y_ends_with = [&](const double* H) {
    for (std::int64_t time = length; time < layer.seq_length; ++time) {
      if (!all_near(H, expected.Y_at(candidate, time, direction, n))) return false;
    }
    return true;
  };
  const bool held = is_held(candidate, direction) && length > 0;
  if (!held && !Y_ends_with(nullptr)) return 0;
  const std::size_t states = layer.op == Op::lstm ? 2 : 1;
  for (std::size_t state = 0; state < states; ++state) {
    if (has_no_final(candidate, state, n) &&
        !all_near(nullptr, expected.state_at(candidate, state, direction, n)))
      return 0;
  }
  std::optional<std::int64_t> out;
  run_row(layer, direction, n, [&](const Step& step) {
    budget.spend(step_cost(layer));
    bool good = all_near(step.H, expected.Y_at(candidate, step.time, direction, n));
    for (std::size_t state = 0; good && state < states; ++state) {
      good = !is_final(candidate, state, n, step) ||
             all_near(state == 0 ? step.H : step.C, expected.state_at(candidate, state, direction, n));
    }
    if (good && held && step.number == length - 1) good = Y_ends_with(step.H);
    if (!good) out = step.number;
    return good && step.number + 1 < steps && !budget.is_over();
  });
  return out;
}

}  // namespace

bool reproduces_row(const Expected& expected, const Candidate& candidate, std::int64_t direction,
                    std::int64_t n, Budget& budget) {
  const std::int64_t steps = expected.steps_seen(candidate.layer.lengths[static_cast<std::size_t>(n)]);
  return !parting_step(expected, candidate, direction, n, steps, budget) && !budget.is_over();
}

bool reproduces(const Expected& expected, const Candidate& candidate, Budget& budget) {
  if (!expected.has_shapes_of(candidate)) return false;
  for (const std::int64_t n : expected.rows_seen(candidate.layer)) {
    for (std::int64_t d = 0; d < candidate.layer.num_directions; ++d) {
      if (!reproduces_row(expected, candidate, d, n, budget)) return false;
    }
  }
  return true;
}

Confirmation confirm(const Expected& expected, const Candidate& candidate, Budget& budget) {
  Extent all = expected.extent();
  all.look_at_all();
  const Layer& layer = candidate.layer;
  Confirmation out{Confirmation::holds, 0};
  for (const std::int64_t n : all.rows(layer)) {
    for (std::int64_t d = 0; d < layer.num_directions; ++d) {
      const auto step = parting_step(expected, candidate, d, n, layer.seq_length, budget);
      if (step) return {Confirmation::fails, out.rows, n, *step};
      if (budget.is_over()) return {Confirmation::out_of_time, out.rows};
    }
    ++out.rows;
  }
  return out;
}

}  // namespace grurun::trial::diagnosis
