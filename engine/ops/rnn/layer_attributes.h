// What RNN, GRU and LSTM have in common: their form (how many gates, states, functions) and the attributes
// they share.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/gates/recurrent.h"
#include "engine/ops/rnn/activation.h"
#include "opset/recurrent/recurrent_attributes.h"

namespace grurun::engine::rnn {

/// R's gates that are multiplied together, and what becomes of the products.
struct RecurrentBlock {
  int gates;
  kernels::CellKind kind;
};

/// How one of the operators is built.
struct LayerForm {
  const opset::RecurrentForm* of = nullptr;  // what the standard says of it
  std::vector<RecurrentBlock> blocks;        // one after the other in a step; their gates add up to gates()
  /// The gate whose recurrent bias is added to its own product rather than to W's: GRU's Rbh when
  /// linear_before_reset is set. -1: none.
  int own_bias_gate = -1;
  bool input_forget = false;    // LSTM: ft = 1 - it
  bool clip_cell_state = true;  // LSTM: the clip bounds what h sees, too

  int gates() const { return of->gates; }
  int states() const { return of->has_cell ? 2 : 1; }  // H; H and C
};

/// The form of the LSTMs. Reads input_forget.
LayerForm lstm_form(PrepareContext& node, const opset::RecurrentForm& of, bool clip_cell_state);

struct LayerAttributes {
  opset::RecurrentAttributes stated;  // of which nothing is at fault
  std::int64_t num_directions = 1;
  bool batch_first = false;  // layout = 1
  float clip = no_clip;
  std::vector<Activation> activations;  // of the forward direction, then of the backward one
  std::array<opset::RecurrentDims, opset::recurrent_inputs> input_dims{};  // what their shapes must be
  bool first_reversed = false;                                             // direction = reverse

  bool reversed(std::int64_t direction_index) const { return direction_index == 1 || first_reversed; }
  /// f, g, h of one direction.
  std::span<const Activation> functions(std::int64_t direction_index) const;
};

/// Reads all attributes that the version has. Throws Error(invalid_model) for values that its text does not
/// allow.
LayerAttributes read_layer_attributes(PrepareContext& node, const LayerForm& form);

}  // namespace grurun::engine::rnn
