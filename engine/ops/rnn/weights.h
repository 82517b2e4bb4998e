// The weights of a recurrent layer, rearranged once for the products of every step.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/gemm.h"
#include "engine/ops/rnn/layer_inputs.h"

namespace grurun::engine::rnn {

/// One direction, in the type it is computed in (float or double).
template <typename Real>
struct DirectionWeights {
  /// W^T [input_size, gates*hidden_size]; its bias is Wb + Rb, without the Rb of the form's own_bias_block.
  kernels::PackedB<Real> W;
  /// R^T by recurrent block, [hidden_size, gates in the block * hidden_size]; its bias is the
  /// own_bias_block's Rb.
  std::vector<kernels::PackedB<Real>> R;
  /// LSTM's peepholes i, o, f, [3*hidden_size]; empty when P is omitted.
  std::vector<Real> P;
};

template <typename Real>
using LayerWeights = std::vector<DirectionWeights<Real>>;  // by direction

/// Packs W, R, B and P, which check_weights has passed, of element type T. Throws Error(limit) when memory is
/// refused.
template <typename T, typename Real>
LayerWeights<Real> pack_weights(const LayerInputs& inputs, const LayerForm& form);

}  // namespace grurun::engine::rnn
