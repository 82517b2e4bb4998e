// Initial states that the model lacks, or that are others.
#include <fmt/format.h>

#include <algorithm>

#include "trial/diagnosis/attempt.h"
#include "trial/diagnosis/least_squares.h"

namespace grurun::trial::diagnosis {
namespace {

/// Fits initial_h, initial_c or both, row by row.
class StateFit {
 public:
  StateFit(const Attempt& attempt, bool with_h, bool with_c)
      : attempt_(attempt), with_h_(with_h), with_c_(with_c) {}

  std::optional<Inference> run() {
    const Layer& layer = attempt_.start.layer;
    const std::int64_t H = layer.hidden_size, D = layer.num_directions;
    const auto rows = attempt_.expected.rows_seen(layer);
    const auto whole = static_cast<std::size_t>(D * layer.batch_size * H);
    Candidate c = attempt_.start;
    for (Array* state : states(c.layer)) {
      if (!*state) *state = make_array(std::vector<double>(whole, 0.0));
    }
    for (std::int64_t d = 0; d < D; ++d) {
      for (const std::int64_t n : rows) {
        if (!fit_row(c, d, n)) return std::nullopt;
      }
    }
    if (!attempt_.fits(c)) return std::nullopt;
    const bool other = (with_h_ && layer.initial_h) || (with_c_ && layer.initial_c);
    const char* what = !with_c_   ? "an initial_h"
                       : !with_h_ ? "an initial_c"
                                  : "an initial_h and an initial_c";
    std::string text = fmt::format("{} {} (only each row's first step differs); fitted: [{}]", what,
                                   other ? "other than the model's" : "that the model lacks",
                                   numbers_text(**states(c.layer).front()));
    const std::int64_t fitted = D * static_cast<std::int64_t>(rows.size()) * H * (with_h_ && with_c_ ? 2 : 1);
    return Inference{other ? "initial-states-other" : "initial-states-missing", std::move(text), std::move(c),
                     fitted, true};
  }

 private:
  std::vector<Array*> states(Layer& layer) const {
    std::vector<Array*> out;
    if (with_h_) out.push_back(&layer.initial_h);
    if (with_c_) out.push_back(&layer.initial_c);
    return out;
  }

  bool fit_row(Candidate& c, std::int64_t d, std::int64_t n) {
    if (c.layer.lengths[static_cast<std::size_t>(n)] == 0) return true;
    const std::int64_t H = c.layer.hidden_size, at = (d * c.layer.batch_size + n) * H;
    std::vector<double> start;
    for (const Array* state : states(c.layer)) {
      start.insert(start.end(), (*state)->begin() + at, (*state)->begin() + at + H);
    }
    const auto put = [&](Layer& layer, const std::vector<double>& numbers) {
      auto from = numbers.begin();
      for (Array* state : states(layer)) {
        std::vector<double> all = **state;
        std::copy_n(from, H, all.begin() + at);
        from += H;
        *state = make_array(std::move(all));
      }
    };
    const auto of = [&](const std::vector<double>& numbers) {
      Candidate moved = c;
      put(moved.layer, numbers);
      std::vector<double> out;
      attempt_.append_residuals(moved, d, n, attempt_.expected.steps_seen(c.layer.seq_length), out);
      return out;
    };
    // From the state that the model has, else from zeros, else from numbers between -1 and 1: gates that are
    // shut there hide the way.
    constexpr int most_starts = 10;
    std::uint64_t random = 1;
    for (int number = 0; number < most_starts; ++number) {
      for (double& value : start) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (number > 0) value = number == 1 ? 0 : static_cast<double>(random >> 40) / 0x1p23 - 1;
      }
      const auto fitted = least_squares(start, of, attempt_.budget);
      if (!fitted) return false;
      if (number + 1 < most_starts && !attempt_.all_near(of(*fitted))) continue;
      put(c.layer, *fitted);
      return true;
    }
    return false;
  }

  const Attempt& attempt_;
  const bool with_h_, with_c_;
};

}  // namespace

bool only_first_steps_differ(const Attempt& attempt, int states) {
  const Layer& layer = attempt.start.layer;
  const Expected& expected = attempt.expected;
  bool later_agree = true;
  std::int64_t rows = 0, later_steps = 0, first_differ = 0;
  for (std::int64_t d = 0; d < layer.num_directions; ++d) {
    for (const std::int64_t n : expected.rows_seen(layer)) {
      const std::int64_t end = expected.steps_seen(layer.lengths[static_cast<std::size_t>(n)]);
      run_row(
          layer, d, n,
          [&](const Step& step) {
            if (step.number >= end) return false;
            const double* Y = expected.Y_at(attempt.start, step.time, d, n);
            bool agrees = true;
            for (std::int64_t k = 0; k < layer.hidden_size; ++k)
              agrees = agrees && expected.near(step.H[k], Y[k]);
            if (step.number == 0) {
              ++rows;
              first_differ += agrees ? 0 : 1;
            } else {
              ++later_steps;
              later_agree = later_agree && agrees;
            }
            return later_agree || layer.op == Op::lstm;
          },
          [&](std::int64_t time) { return expected.Y_at(attempt.start, time, d, n); });
    }
  }
  constexpr std::int64_t enough = 3;
  // Two states have more numbers than a first step has; what later steps say must be more than the rest.
  const std::int64_t free = states == 2 ? rows * layer.hidden_size : 0;
  return first_differ > 0 && later_steps * layer.hidden_size > free + enough &&
         (later_agree || layer.op == Op::lstm);
}

// An initial cell state reaches every cell state behind the first step, which with the expected H as the
// state before is the only one that is not known: a number for each unit, which the second step gives and the
// steps after it prove.
bool steps_follow_from_a_cell_state(const Attempt& attempt) {
  const Layer& layer = attempt.start.layer;
  const Expected& expected = attempt.expected;
  if (layer.op != Op::lstm) return false;
  Candidate c = attempt.start;
  const auto H = static_cast<std::size_t>(layer.hidden_size);
  for (std::int64_t d = 0; d < layer.num_directions; ++d) {
    for (const std::int64_t n : expected.rows_seen(layer)) {
      const std::int64_t end = expected.steps_seen(layer.lengths[static_cast<std::size_t>(n)]);
      if (end < 3) return false;
      const auto at = (d * layer.batch_size + n) * layer.hidden_size;
      const auto residuals = [&](const std::vector<double>& cell) {
        std::vector<double> states(static_cast<std::size_t>(layer.num_directions * layer.batch_size) * H,
                                   0.0);
        std::copy(cell.begin(), cell.end(), states.begin() + at);
        c.layer.initial_c = make_array(std::move(states));
        std::vector<double> out;
        run_row(
            c.layer, d, n,
            [&](const Step& step) {
              attempt.budget.spend(step_cost(layer));
              const double* Y = expected.Y_at(c, step.time, d, n);
              for (std::size_t k = 0; step.number > 0 && k < H; ++k) out.push_back(step.H[k] - Y[k]);
              return step.number + 1 < end;
            },
            [&](std::int64_t time) { return expected.Y_at(c, time, d, n); });
        return out;
      };
      const auto fitted = least_squares_by_unit(std::vector<double>(H, 0.0), H, residuals, attempt.budget);
      if (!fitted || !attempt.all_near(residuals(*fitted))) return false;
    }
  }
  return true;
}

std::optional<Inference> infer_states(const Attempt& attempt) {
  const Layer& layer = attempt.start.layer;
  const bool is_lstm = layer.op == Op::lstm;
  const std::int64_t each = is_lstm ? 2 * layer.hidden_size : layer.hidden_size;
  if (!attempt.expected.Y() || each > most_parameters || !only_first_steps_differ(attempt, 1))
    return std::nullopt;
  // A state that the model has is likely to be right when the other one is missing.
  if (is_lstm && !layer.initial_h && layer.initial_c) {
    if (auto found = StateFit(attempt, true, false).run()) return found;
  }
  if (is_lstm && layer.initial_h && !layer.initial_c) {
    if (auto found = StateFit(attempt, false, true).run()) return found;
  }
  if (is_lstm && !only_first_steps_differ(attempt, 2)) return std::nullopt;
  return StateFit(attempt, true, is_lstm).run();
}

}  // namespace grurun::trial::diagnosis
