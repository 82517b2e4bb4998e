// The expected outputs of a recurrent node, and how well a layer reproduces them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trial/diagnosis/budget.h"
#include "trial/diagnosis/extent.h"
#include "trial/diagnosis/layer.h"
#include "trial/diagnosis/subject.h"

namespace grurun::trial::diagnosis {

/// How outputs lie in the expected tensors.
enum class Arrangement {
  time_first,      // Y [seq_length, num_directions, batch_size, hidden_size], as under layout 0
  batch_first,     // Y [batch_size, seq_length, num_directions, hidden_size], as under layout 1
  batch_for_time,  // Y [batch_size, num_directions, seq_length, hidden_size]: X's dimensions were mistaken
};

/// Sizes of time, direction and batch in Y, in the order in which they stand there; hidden_size is last.
enum class Axis { time, direction, batch };
using Axes = std::array<Axis, 3>;
Axes axes_of_Y(Arrangement arrangement);

struct Reading {
  Arrangement arrangement = Arrangement::time_first;
  bool swap_Y_directions = false;
  bool swap_state_directions = false;
  bool exchange_states = false;         // Y_h holds C, Y_c holds H
  std::array<FinalAt, 2> final_at{};    // Y_h, Y_c
  bool padding_first = false;           // what is behind a row's end in X and Y stands before it in outputs
  bool Y_is_held = false;               // where padding comes after a direction's steps, Y repeats its last
  bool backward_in_step_order = false;  // Y of reversed directions begins with the first step
  std::vector<std::int64_t> rows;       // where each row of X stands in the outputs; empty: in its place
  std::optional<Axes> Y_at_its_exit;    // Y as the graph's output holds it, before anything is turned back

  bool operator==(const Reading&) const = default;
};

/// A layer with what a hypothesis changed, and how its outputs are to be read.
struct Candidate {
  Layer layer;
  Reading reading;
};

/// How near computed values must lie to expected ones.
struct Bounds {
  double rtol;
  double scale;  // atol for each unit of the largest expected value
};
Bounds bounds_of(DType dtype);

/// The layer as the model states it.
Candidate as_stated(const Subject& subject);

/// One expected output.
struct ExpectedOutput {
  std::size_t graph_output;
  Tensor tensor;  // of the node's shape where it comes out directly; else only the elements count
  std::vector<double> values;
  bool direct;
  bool has_shape_of_run;        // what the run gave has the expected shape
  std::vector<double> at_exit;  // of Y that does not come out directly: its elements as they come out
};

/// True when this step of a row leaves a final state, as the candidate reads it: 0: H, 1: C.
bool is_final(const Candidate& candidate, std::size_t state, std::int64_t n, const Step& step);
/// True when Y goes on with its last value beyond the steps of a direction.
bool is_held(const Candidate& candidate, std::int64_t direction);
/// True when a row's final state is 0 whatever it computes.
bool has_no_final(const Candidate& candidate, std::size_t state, std::int64_t n);

class Expected {
 public:
  /// expected[i] and actual[i], which the run gave, belong to the graph's output i; empty where nothing is
  /// expected. What comes out turned around is turned back.
  Expected(const Subject& subject, const std::vector<Value>& expected, const std::vector<Value>& actual);

  const std::optional<ExpectedOutput>& Y() const { return outputs_[0]; }
  const std::optional<ExpectedOutput>& output(std::size_t index) const { return outputs_[index]; }
  bool empty() const { return !outputs_[0] && !outputs_[1] && !outputs_[2]; }

  /// False when the expected shapes are not those that the candidate's outputs have.
  bool has_shapes_of(const Candidate& candidate) const;
  /// Output `index`, which must be expected, with its elements in the order in which the candidate reads
  /// them.
  Tensor as_read(const Candidate& candidate, std::size_t index) const;
  /// False where an expected output of the graph differs from the run's by its shape.
  bool has_shapes_of_run() const;
  /// How far what was compared with the expected values is from them, in units of the largest of these.
  double gap() const { return gap_; }
  /// [hidden_size] elements of Y, Y_h (state 0) or Y_c (state 1) as the candidate reads them; nullptr where
  /// that output is not expected. The shapes must be the candidate's.
  const double* Y_at(const Candidate& candidate, std::int64_t time, std::int64_t direction,
                     std::int64_t n) const;
  const double* state_at(const Candidate& candidate, std::size_t state, std::int64_t direction,
                         std::int64_t n) const;

  /// Whether a computed element is as good as the expected one. Tighter than a user's tolerance may be: this
  /// asks for the same computation, not for a similar result.
  bool near(double computed, double expected) const {
    return std::abs(computed - expected) <= atol_ + rtol_ * std::abs(expected);
  }

  /// What is looked at of a layer so large that all of it would take too long.
  const Extent& extent() const { return extent_; }
  Extent& extent() { return extent_; }
  std::span<const std::int64_t> rows_seen(const Layer& layer) const { return extent_.rows(layer); }
  std::int64_t steps_seen(std::int64_t length) const { return extent_.steps(length); }

  /// Names of the outputs that are expected and looked at: "Y", "Y, Y_h and Y_c".
  std::string names(const Layer& layer) const;

 private:
  /// By row; given: what the run gave, by output.
  std::vector<RowDifference> differences(const Candidate& stated,
                                         const std::array<std::vector<double>, 3>& given) const;

  std::array<std::optional<ExpectedOutput>, 3> outputs_;
  double rtol_ = 0, atol_ = 0, gap_ = 0;
  Extent extent_;
};

/// What the candidate computes, in the type and shape of the expected outputs; empty where none is expected.
/// What is not looked at is as expected. The shapes must be the candidate's.
std::array<Value, 3> compute_outputs(const Expected& expected, const Candidate& candidate, DType dtype);

}  // namespace grurun::trial::diagnosis
