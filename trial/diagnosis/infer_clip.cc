// A clip that the model lacks, and lengths that only final states show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "trial/diagnosis/attempt.h"
#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

// A clip changes nothing before the first step at which a sum is beyond it. There the error of the worst unit
// is a function of the clip whose zeros are the only ones possible.
class ClipSearch {
 public:
  explicit ClipSearch(const Attempt& attempt) : attempt_(attempt), start_(attempt.start) {}

  std::optional<double> run() {
    if (!find_row() || !find_step()) return std::nullopt;
    constexpr int samples = 400;
    double before = 0, value_before = error(0);
    for (int i = 1; i <= samples && !attempt_.budget.is_over(); ++i) {
      const double here = largest_ * i / samples;
      const double value = error(here);
      if ((value_before < 0) != (value < 0) || value == 0) {
        if (const auto clip = exact_one(bisected(before, here, value_before < 0))) return clip;
      }
      before = here;
      value_before = value;
    }
    return std::nullopt;
  }

 private:
  bool find_row() {
    for (const std::int64_t n : attempt_.expected.rows_seen(start_.layer)) {
      n_ = n;
      for (d_ = 0; d_ < start_.layer.num_directions; ++d_) {
        if (!reproduces_row(attempt_.expected, start_, d_, n_, attempt_.budget)) return true;
      }
    }
    return false;
  }

  /// The first wrong step, its worst unit, and the largest sum up to it.
  bool find_step() {
    const Layer& layer = start_.layer;
    run_row(layer, d_, n_, [&](const Step& step) {
      for (std::int64_t i = 0; i < layer.rows(); ++i) largest_ = std::max(largest_, std::fabs(step.sums[i]));
      for (std::int64_t k = 0; layer.op == Op::lstm && k < layer.hidden_size; ++k) {
        largest_ = std::max(largest_, std::fabs(step.C[k]));
      }
      const double* wanted = wanted_at(step);
      double worst = 0;
      for (std::int64_t k = 0; wanted != nullptr && k < layer.hidden_size; ++k) {
        const double off = std::fabs(step.H[k] - wanted[k]);
        if (attempt_.expected.near(step.H[k], wanted[k]) || !(off > worst)) continue;
        worst = off;
        number_ = step.number;
        unit_ = k;
      }
      return number_ < 0;
    });
    return number_ >= 0;
  }

  const double* wanted_at(const Step& step) const {
    if (const double* Y = attempt_.expected.Y_at(start_, step.time, d_, n_)) return Y;
    return is_final(start_, 0, n_, step) ? attempt_.expected.state_at(start_, 0, d_, n_) : nullptr;
  }

  double error(double clip) const {
    Candidate clipped = start_;
    clipped.layer.clip = clip;
    double out = 0;
    run_row(clipped.layer, d_, n_, [&](const Step& step) {
      attempt_.budget.spend(step_cost(clipped.layer));
      if (step.number == number_) out = step.H[unit_] - wanted_at(step)[unit_];
      return step.number < number_;
    });
    return out;
  }

  double bisected(double low, double high, bool negative_at_low) const {
    for (int halving = 0; halving < 60; ++halving) {
      const double middle = (low + high) / 2;
      ((error(middle) < 0) == negative_at_low ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  /// Expected values are rounded, so is a clip that is found by them; the attribute mostly has few digits.
  std::optional<double> exact_one(double found) const {
    for (const double clip :
         {std::stod(fmt::format("{:.2g}", found)), std::stod(fmt::format("{:.4g}", found)), found}) {
      Candidate clipped = start_;
      clipped.layer.clip = clip;
      if (clip > 0 && attempt_.fits(clipped)) return clip;
    }
    return std::nullopt;
  }

  const Attempt& attempt_;
  const Candidate& start_;
  std::int64_t d_ = 0, n_ = 0;  // the row
  std::int64_t number_ = -1, unit_ = 0;
  double largest_ = 0;
};

}  // namespace

std::optional<Inference> infer_clip(const Attempt& attempt) {
  if (attempt.start.layer.clip) return std::nullopt;
  const std::optional<double> clip = ClipSearch(attempt).run();
  if (!clip) return std::nullopt;
  Candidate c = attempt.start;
  c.layer.clip = clip;
  return Inference{"clip-missing", fmt::format("clip = {:.6g}: the model does not clip", *clip), std::move(c),
                   1};
}

// Without Y nothing shows where a row ends, but its final state does.
std::optional<Inference> infer_lengths(const Attempt& attempt) {
  constexpr std::int64_t most_lengths = 4096;
  const Layer& layer = attempt.start.layer;
  if (attempt.expected.Y() || layer.batch_size * layer.seq_length > most_lengths) return std::nullopt;
  Candidate c = attempt.start;
  for (std::int64_t n = 0; n < layer.batch_size; ++n) {
    auto& length = c.layer.lengths[static_cast<std::size_t>(n)];
    const auto row_fits = [&] {
      for (std::int64_t d = 0; d < layer.num_directions; ++d) {
        if (!reproduces_row(attempt.expected, c, d, n, attempt.budget)) return false;
      }
      return true;
    };
    for (length = layer.seq_length; length >= 0 && !row_fits();) --length;
    if (length < 0) return std::nullopt;
  }
  if (c.layer.lengths == layer.lengths) return std::nullopt;
  const std::string text =
      fmt::format("sequence_lens = [{}], by the final states: the model {}", lengths_text(c.layer.lengths),
                  attempt.subject.has_sequence_lens ? "is given others" : "has none");
  return Inference{"sequence-lens-missing", text, std::move(c), 0};  // whole numbers leave no room to fit
}

}  // namespace grurun::trial::diagnosis
