// One candidate under inference: what it should reproduce, and how far it is from that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trial/diagnosis/inference.h"
#include "trial/diagnosis/reproduces.h"

namespace grurun::trial::diagnosis {

class Attempt {
 public:
  Attempt(const Subject& subject, const Expected& expected, const Candidate& start, Budget& budget)
      : subject(subject), expected(expected), start(start), budget(budget) {}

  const Subject& subject;
  const Expected& expected;
  const Candidate& start;
  Budget& budget;

  bool fits(const Candidate& candidate) const { return reproduces(expected, candidate, budget); }
  bool all_near(const std::vector<double>& residuals) const;

  /// Computed minus expected of one row, over some steps: hidden_size elements for each output of each step.
  /// The expected Y goes in as H of the step before, so that an error of one step does not grow in those
  /// after it.
  void append_residuals(const Candidate& c, std::int64_t direction, std::int64_t n, std::int64_t most_steps,
                        std::vector<double>& out) const;

  /// Over as many rows and steps as there is time for, and as are needed for some parameters of each unit.
  std::vector<double> residuals(const Candidate& c, std::int64_t direction) const;

  /// With the expected H of the step before, a unit depends on its own biases only, but where r reaches it
  /// through R.
  bool units_are_apart() const {
    return expected.Y() && !(start.layer.op == Op::gru && !start.layer.linear_before_reset);
  }
};

/// Puts parameters into a layer.
using Put = std::function<void(Layer& layer, const std::vector<double>& parameters)>;

struct FitOptions {
  int starts = 1;        // the first one, then others near it: gates that are shut may hide the way
  bool by_unit = false;  // parameter k of unit u is at k*hidden_size + u, and units are apart
};

/// Fits parameters that belong to one direction, puts them into the candidate and returns true when its
/// residuals there are near 0.
bool fit(const Attempt& attempt, Candidate& candidate, std::int64_t direction,
         std::vector<double>& parameters, const FitOptions& options, const Put& put);

// What may be inferred, one kind a file; nullopt when it does not reproduce what is expected.
std::optional<Inference> infer_clip(const Attempt& attempt);
std::optional<Inference> infer_lengths(const Attempt& attempt);
std::optional<Inference> infer_summed_bias(const Attempt& attempt);
std::optional<Inference> infer_bias(const Attempt& attempt);
std::optional<Inference> infer_peepholes(const Attempt& attempt);
std::optional<Inference> infer_all_parameters(const Attempt& attempt);
std::optional<Inference> infer_function(const Attempt& attempt);
std::optional<Inference> infer_states(const Attempt& attempt);

/// True when with the expected H as the state before, steps agree but for some rows' first. A cell state
/// cannot be put in, so for LSTM later steps may differ too. states: how many each row may have to begin
/// with, 1 or 2. Y must be expected, in the candidate's shape.
bool only_first_steps_differ(const Attempt& attempt, int states);

/// True when an LSTM's steps but the first follow from the expected H before them and from one cell state: it
/// then began with other states. Of rows with less than three steps nothing is known. Y must be expected, in
/// the candidate's shape.
bool steps_follow_from_a_cell_state(const Attempt& attempt);

/// "0.25, -0.5, 0.125, ...": the first few of fitted numbers.
std::string numbers_text(const std::vector<double>& values);

/// True when it is omitted or holds only zeros.
bool is_zero(const Array& array);

/// Beyond it derivatives by differences take longer than anyone waits, unless units are apart.
inline constexpr std::int64_t most_parameters = 100;

}  // namespace grurun::trial::diagnosis
