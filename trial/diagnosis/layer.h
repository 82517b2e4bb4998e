// RNN, GRU and LSTM in double precision, one row of the batch at a time, as the equations stand on the
// operator pages: what a mistake of an exporter is tried out on. It shares no arithmetic with the engine.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/kernels/gates/gate_order.h"
#include "engine/ops/rnn/activation.h"
#include "opset/recurrent/recurrent_form.h"

namespace grurun::trial::diagnosis {

using engine::rnn::Activation;
using engine::rnn::ActivationKind;
using kernels::GruGate;
using enum kernels::GruGate;
using enum kernels::LstmGate;

enum class Op { rnn, gru, lstm };
const opset::RecurrentForm& form_of(Op op);

/// Values that many variants of a layer share: replaced, never changed. nullptr: omitted.
using Array = std::shared_ptr<const std::vector<double>>;
Array make_array(std::vector<double> values);
/// [A, B, ...] to [B, A, ...]; none stays none.
Array swap_leading(const Array& array, std::int64_t A, std::int64_t B);

/// A layer with its inputs, time before batch whatever the node's layout.
struct Layer {
  Op op = Op::rnn;
  std::int64_t seq_length = 0, batch_size = 0, input_size = 0, hidden_size = 0, num_directions = 1;
  std::array<bool, 2> reversed{false, true};  // by direction
  bool linear_before_reset = false;
  bool input_forget = false;
  std::optional<double> clip;
  bool clip_cell_state = true;        // clip bounds the argument of h in Ht = ot (.) h(Ct), too
  std::vector<Activation> functions;  // of the forward direction, then of the backward one
  std::vector<std::int64_t> lengths;  // by row
  Array X;                            // [seq_length, batch_size, input_size]
  Array W;                            // [num_directions, gates*hidden_size, input_size]
  Array R;                            // [num_directions, gates*hidden_size, hidden_size]
  Array Wb, Rb;                       // [num_directions, gates*hidden_size]
  Array P;                            // [num_directions, 3*hidden_size]
  Array initial_h, initial_c;         // [num_directions, batch_size, hidden_size]

  std::int64_t gates() const { return op == Op::rnn ? 1 : op == Op::gru ? 3 : 4; }
  std::int64_t rows() const { return gates() * hidden_size; }
  /// f, g, h of each direction.
  std::size_t functions_each() const { return op == Op::rnn ? 1 : op == Op::gru ? 2 : 3; }
};

/// Multiplications of one step of one row, about.
inline double step_cost(const Layer& layer) {
  return static_cast<double>(layer.rows()) * static_cast<double>(layer.input_size + layer.hidden_size + 16);
}

/// "z", "r", "h"; "i", "o", "f", "c"; "i" of RNN.
const char* gate_name(Op op, std::int64_t gate);

/// One step of one row, when it is done.
struct Step {
  std::int64_t number;  // from 0 in the order of computation
  std::int64_t time;    // in X and Y
  const double* gates;  // [gates*hidden_size], after their functions
  const double* sums;   // the same before their functions and the clip; the hidden gate's with r applied
  const double* H_before;
  const double* C_before;
  const double* H;  // [hidden_size]
  const double* C;  // [hidden_size]; LSTM
};

/// Where the state before a step comes from instead of the step before: the expected Y. It returns nullptr to
/// leave the layer's own.
using Forcing = std::function<const double*(std::int64_t time)>;

/// Runs row n of a direction; visit is called after each step and returns false to stop. Rows of length 0
/// have no step. forced gives H for the step after the one at `time`.
void run_row(const Layer& layer, std::int64_t direction, std::int64_t n,
             const std::function<bool(const Step&)>& visit, const Forcing& forced = {});

/// The function by itself, without clip.
double apply_function(const Activation& f, double x);

}  // namespace grurun::trial::diagnosis
