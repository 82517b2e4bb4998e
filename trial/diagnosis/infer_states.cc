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
    // From the state that the model has, else from zeros.
    for (const double part : {1.0, 0.0}) {
      for (double& number : start) number *= part;
      const auto fitted = least_squares(start, of, attempt_.budget);
      if (!fitted) return false;
      if (part != 0 && !attempt_.all_near(of(*fitted))) continue;
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
