// The weights of a recurrent layer, rearranged once for the products of every step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/kernels/gates/gate_panels.h"
#include "engine/ops/rnn/layer_inputs.h"
#include "engine/ops/rnn/quantized_weights.h"

namespace grurun::engine::rnn {

/// One block of gates of one direction, in the type it is computed in (float or double).
template <typename Real>
struct BlockWeights {
  /// W^T [input_size, gates*hidden_size]; its bias is Wb + Rb, without the Rb of the form's own_bias_gate.
  kernels::GatePanels<Real> W;
  /// R^T [hidden_size, gates*hidden_size]; its bias is the Rb of the own_bias_gate, 0 for other gates.
  kernels::GatePanels<Real> R;
};

template <typename Real>
struct DirectionWeights {
  std::vector<BlockWeights<Real>> blocks;  // as in the form
  /// W of all blocks once more, as one gate of gates*hidden_size units, where that has much less padding: for
  /// products whose rows are then spread to the order of the blocks' W, one panel each.
  std::optional<kernels::GatePanels<Real>> dense_W;
  /// LSTM's peepholes i, o, f, [3, padded size of R]; empty when P is omitted.
  std::vector<Real> P;
  /// DynamicQuantizeLSTM's W and R, which take the place of those of its one block.
  std::optional<QuantizedGates> quantized;
};

template <typename Real>
using LayerWeights = std::vector<DirectionWeights<Real>>;  // by direction

/// Packs W, R, B and P, which check_inputs has passed, of X's element type T but for 8-bit W and R. Throws
/// Error(limit) when memory is refused.
template <typename T, typename Real>
LayerWeights<Real> pack_weights(const LayerInputs& inputs, const LayerForm& form);

}  // namespace grurun::engine::rnn
