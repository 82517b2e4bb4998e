#include "trial/diagnosis/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "trial/diagnosis/attempt.h"
#include "trial/diagnosis/least_squares.h"

namespace grurun::trial::diagnosis {
namespace {

/// Multiplications of one computation of residuals; many are needed.
constexpr double residual_cost = 1e6;

/// Takes over the parameters of those units that have become better; all of them where there is one error.
void keep_better(const std::vector<double>& fitted, const std::vector<double>& residuals,
                 std::vector<double>& best, std::vector<double>& least) {
  const std::size_t units = least.size();
  std::vector<double> errors(units, 0.0);
  for (std::size_t i = 0; i < residuals.size(); ++i) errors[i % units] += residuals[i] * residuals[i];
  for (std::size_t u = 0; u < units; ++u) {
    if (!(errors[u] < least[u])) continue;
    least[u] = errors[u];
    for (std::size_t i = u; i < best.size(); i += units) best[i] = fitted[i];
  }
}

}  // namespace

bool is_zero(const Array& array) {
  return !array || std::ranges::all_of(*array, [](double value) { return value == 0; });
}

std::string numbers_text(const std::vector<double>& values) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 4); ++i) {
    out += fmt::format("{}{:.4g}", i == 0 ? "" : ", ", values[i]);
  }
  return out + (values.size() > 4 ? ", ..." : "");
}

bool Attempt::all_near(const std::vector<double>& residuals) const {
  return std::ranges::all_of(residuals, [&](double r) { return expected.near(r, 0); });
}

void Attempt::append_residuals(const Candidate& c, std::int64_t d, std::int64_t n, std::int64_t most_steps,
                               std::vector<double>& out) const {
  const Layer& layer = c.layer;
  const auto add = [&](const double* computed, const double* wanted) {
    for (std::int64_t k = 0; wanted != nullptr && k < layer.hidden_size; ++k)
      out.push_back(computed[k] - wanted[k]);
  };
  run_row(
      layer, d, n,
      [&](const Step& step) {
        budget.spend(step_cost(layer));
        add(step.H, expected.Y_at(c, step.time, d, n));
        if (is_final(c, 0, n, step)) add(step.H, expected.state_at(c, 0, d, n));
        if (layer.op == Op::lstm && is_final(c, 1, n, step)) add(step.C, expected.state_at(c, 1, d, n));
        return step.number + 1 < most_steps;
      },
      [&](std::int64_t time) { return expected.Y_at(c, time, d, n); });
}

std::vector<double> Attempt::residuals(const Candidate& c, std::int64_t d) const {
  std::vector<double> out;
  const double steps = std::max(residual_cost / step_cost(c.layer), 16.0);
  for (const std::int64_t n : expected.rows_seen(c.layer)) {
    const auto seen = static_cast<double>(out.size()) / static_cast<double>(c.layer.hidden_size);
    if (seen >= steps) break;
    append_residuals(c, d, n, static_cast<std::int64_t>(steps - seen) + 1, out);
  }
  return out;
}

bool fit(const Attempt& attempt, Candidate& c, std::int64_t d, std::vector<double>& parameters,
         const FitOptions& options, const Put& put) {
  const auto of = [&](const std::vector<double>& at) {
    Candidate moved = c;
    put(moved.layer, at);
    return attempt.residuals(moved, d);
  };
  const auto units = static_cast<std::size_t>(c.layer.hidden_size);
  std::uint64_t random = 1;
  std::vector<double> start = parameters, best = parameters;
  std::vector<double> least(options.by_unit ? units : 1, std::numeric_limits<double>::infinity());
  for (int number = 0; number < options.starts; ++number) {
    const auto fitted = options.by_unit ? least_squares_by_unit(start, units, of, attempt.budget)
                                        : least_squares(start, of, attempt.budget);
    if (attempt.budget.is_over()) return false;
    if (fitted) keep_better(*fitted, of(*fitted), best, least);
    if (attempt.all_near(of(best))) {
      parameters = best;
      put(c.layer, parameters);
      return true;
    }
    for (std::size_t i = 0; i < start.size(); ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      start[i] =
          parameters[i] + static_cast<double>(random >> 40) / 0x1p22 - 2;  // within 2 of the first start
    }
  }
  return false;
}

std::vector<Inference> infer(const Subject& subject, const Expected& expected, const Candidate& candidate,
                             Budget& budget) {
  if (!expected.has_shapes_of(candidate) || candidate.layer.seq_length == 0) return {};
  const Attempt attempt(subject, expected, candidate, budget);
  for (const auto kind : {infer_clip, infer_lengths, infer_summed_bias, infer_bias, infer_peepholes,
                          infer_all_parameters, infer_function, infer_states}) {
    if (auto found = kind(attempt)) return {std::move(*found)};
    if (budget.is_over()) break;
  }
  return {};
}

}  // namespace grurun::trial::diagnosis
