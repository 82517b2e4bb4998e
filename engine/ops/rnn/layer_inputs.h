// The inputs of recurrent layers, checked against each other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engine/graph/op_context.h"
#include "engine/ops/rnn/layer_attributes.h"
#include "tensor/tensor.h"

namespace grurun::engine::rnn {

/// By opset::RecurrentInput; nullptr for one that is omitted.
using LayerInputs = std::array<const Tensor*, opset::recurrent_inputs>;

struct Dimensions {
  std::int64_t seq_length = 0;
  std::int64_t batch_size = 0;
  std::int64_t input_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_directions = 0;
};

/// Looks at every input of the node.
LayerInputs read_inputs(RunContext& run);

/// The weights with what is needed to read them, when every one that the node names is known now; X, the
/// states and sequence_lens stay empty.
std::optional<LayerInputs> constant_weights(PrepareContext& node);

/// Checks every type, rank, dimension and length against all others, before anything is computed: shapes as
/// opset::recurrent_input_dims states them, each of sequence_lens in [0, seq_length]. Inputs but W and R may
/// be missing; what only they tell is 0 then. Throws Error(invalid_model) naming the input and the rule.
/// of_weights: what it gave of these weights before; nullptr: they have not been checked.
Dimensions check_inputs(const LayerInputs& inputs, const LayerForm& form, const LayerAttributes& attributes,
                        const Dimensions* of_weights = nullptr);

}  // namespace grurun::engine::rnn
