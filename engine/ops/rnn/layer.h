// From a node to a run step, the same way for RNN, GRU, LSTM and DynamicQuantizeLSTM.
#pragma once

#include "engine/graph/op_context.h"
#include "engine/ops/rnn/layer_attributes.h"

namespace grurun::engine::rnn {

/// The run step of a node of this form. Reads the attributes that all forms share, and checks and packs W, R,
/// B and P now when all that the node names are constant. Throws Error(invalid_model) when they break the
/// rules.
RunFunction layer_run_function(PrepareContext& node, LayerForm form);

}  // namespace grurun::engine::rnn
