// One run of a recurrent layer: its values, lengths and layouts.
#pragma once

#include <array>
#include <cstdint>

#include "engine/graph/op_context.h"
#include "engine/ops/rnn/layer_inputs.h"
#include "engine/ops/rnn/schedule.h"
#include "engine/ops/rnn/step_trial.h"

namespace grurun::engine::rnn {

/// The outputs of a layer; nullptr when not wanted.
struct LayerOutputs {
  Tensor* Y = nullptr;  // [seq_length, num_directions, batch_size, hidden_size]; layout 1:
                        // [batch_size, seq_length, num_directions, hidden_size]
  std::array<Tensor*, 2> last{nullptr, nullptr};  // Y_h and Y_c, shaped as the initial states
};

/// Allocates the outputs that the node names, of X's type.
LayerOutputs make_outputs(RunContext& run, const LayerInputs& inputs, const LayerForm& form,
                          const Dimensions& dims, bool batch_first);

/// Elements from one step, row of the batch or direction to the next.
struct Strides {
  std::int64_t time = 0, row = 0, direction = 0;
};

/// One run of a layer. What it refers to must outlive it.
struct LayerRun {
  LayerRun(RunContext& context, const LayerInputs& inputs, const LayerOutputs& outputs, const LayerForm& form,
           const Dimensions& dims, const LayerAttributes& attributes);

  RunContext& context;
  const LayerInputs& inputs;
  const LayerOutputs& outputs;
  const LayerForm& form;
  const Dimensions& dims;
  const LayerAttributes& attributes;
  const Schedule schedule;
  const Strides x, y, state;
  /// Which of the two orders the first step takes the weights' panels in. A layer that is run step by step
  /// finds the weights used last in the cache when it differs from run to run.
  bool descending = false;
  StepTrial<>* trials = nullptr;  // by direction; never null when a direction runs
};

}  // namespace grurun::engine::rnn
