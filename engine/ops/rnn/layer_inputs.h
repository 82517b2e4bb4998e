// The inputs of RNN, GRU and LSTM, checked against each other.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/graph/op_context.h"
#include "engine/ops/rnn/layer_attributes.h"
#include "tensor/tensor.h"

namespace grurun::engine::rnn {

/// Optional ones are nullptr when omitted.
struct LayerInputs {
  const Tensor* X = nullptr;
  const Tensor* W = nullptr;
  const Tensor* R = nullptr;
  const Tensor* B = nullptr;
  const Tensor* sequence_lens = nullptr;
  const Tensor* initial_h = nullptr;
  const Tensor* initial_c = nullptr;  // LSTM
  const Tensor* P = nullptr;          // LSTM
};

struct Dimensions {
  std::int64_t seq_length = 0;
  std::int64_t batch_size = 0;
  std::int64_t input_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_directions = 0;
};

/// Looks at every input of the node.
LayerInputs read_inputs(RunContext& run, const LayerForm& form);

/// Checks W [num_directions, gates*hidden_size, input_size], R [num_directions, gates*hidden_size,
/// hidden_size], B [num_directions, 2*gates*hidden_size] and P [num_directions, 3*hidden_size] against each
/// other and the attribute hidden_size. hidden_size is R's last dimension, input_size the given one, else W's
/// last. Throws Error(invalid_model) naming the input and the rule.
void check_weights(const LayerInputs& inputs, const LayerForm& form, const LayerAttributes& attributes,
                   std::optional<std::int64_t> input_size = std::nullopt);

/// Checks every type, rank, dimension and length against all others, before anything is computed: the weights
/// as above, X [seq_length, batch_size, input_size], or [batch_size, seq_length, input_size] with batch_first
/// (layout 1), states [num_directions, batch_size, hidden_size], or [batch_size, num_directions,
/// hidden_size], sequence_lens [batch_size], each in [0, seq_length]. Throws Error(invalid_model) naming the
/// input and the rule. checked_weights: check_weights has passed these weights before.
Dimensions check_inputs(const LayerInputs& inputs, const LayerForm& form, const LayerAttributes& attributes,
                        bool checked_weights);

/// The same of X, the states and sequence_lens alone, for sizes that the weights have given.
Dimensions check_sequence(const LayerInputs& inputs, const LayerAttributes& attributes,
                          std::int64_t input_size, std::int64_t hidden_size);

}  // namespace grurun::engine::rnn
