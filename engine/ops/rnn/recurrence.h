// The loop over time that RNN, GRU and LSTM share.
#pragma once

#include "engine/ops/rnn/layer_run.h"
#include "engine/ops/rnn/weights.h"

namespace grurun::engine::rnn {

/// Runs all directions, elements stored as T, computed in Real, and writes the outputs: Y in time order, 0
/// beyond a row's length; Y_h and Y_c the state after a row's last step (in reverse that is time 0), 0 for a
/// row without steps. Throws Error(limit) when memory for the states is refused or the run's time is up.
template <typename T, typename Real>
void run_directions(const LayerRun& layer, const LayerWeights<Real>& weights);

}  // namespace grurun::engine::rnn
