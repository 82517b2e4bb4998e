// What RNN, GRU and LSTM have in common: their form (how many gates, states, functions) and the attributes
// they share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/op_context.h"
#include "engine/kernels/recurrent.h"
#include "engine/ops/rnn/activation.h"

namespace grurun::engine::rnn {

/// R's gates that are multiplied together, and what becomes of the products.
struct RecurrentBlock {
  int gates;
  kernels::CellKind kind;
};

/// How one of the operators is built.
struct LayerForm {
  int gates;                                     // W is [num_directions, gates*hidden_size, input_size]
  int states;                                    // 1: H; 2: H and C
  std::vector<std::string> default_activations;  // f, g, h of one direction
  std::vector<RecurrentBlock> blocks;  // one after the other in a step; their gates add up to `gates`
  /// The gate whose recurrent bias is added to its own product rather than to W's: GRU's Rbh when
  /// linear_before_reset is set. -1: none.
  int own_bias_gate = -1;
  bool input_forget = false;    // LSTM: ft = 1 - it
  bool clip_cell_state = true;  // LSTM: the clip bounds what h sees, too
};

/// The form of the LSTMs. Reads input_forget.
LayerForm lstm_form(PrepareContext& node, bool clip_cell_state);

enum class Direction { forward, reverse, bidirectional };

struct LayerAttributes {
  Direction direction = Direction::forward;
  bool batch_first = false;  // layout = 1
  std::optional<std::int64_t> hidden_size;
  float clip = no_clip;
  std::vector<Activation> activations;  // of the forward direction, then of the backward one

  std::int64_t num_directions() const { return direction == Direction::bidirectional ? 2 : 1; }
  bool reversed(std::int64_t direction_index) const {
    return direction == Direction::reverse || direction_index == 1;
  }
  /// f, g, h of one direction.
  std::span<const Activation> functions(std::int64_t direction_index) const;
};

/// Reads direction, hidden_size, clip, activations, activation_alpha, activation_beta, and by version layout
/// (from 14) and output_sequence (before 7). Throws Error(invalid_model) for values that the text of the
/// version does not allow.
LayerAttributes read_layer_attributes(PrepareContext& node, const LayerForm& form);

}  // namespace grurun::engine::rnn
