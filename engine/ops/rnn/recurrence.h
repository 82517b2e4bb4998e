// The loop over time that RNN, GRU and LSTM share: lengths, directions, layouts, states and outputs.
#pragma once

#include <array>
#include <cstdint>

#include "engine/graph/op_context.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/rnn/cell.h"
#include "engine/ops/rnn/layer_inputs.h"
#include "engine/ops/rnn/schedule.h"
#include "engine/ops/type_dispatch.h"

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

/// One run of a layer with elements stored as T, computed in Real.
template <typename T, typename Real>
class Recurrence {
 public:
  /// The references must outlive it. Throws Error(limit) when memory for the states is refused.
  Recurrence(RunContext& run, const LayerInputs& inputs, const LayerOutputs& outputs, const LayerForm& form,
             const Dimensions& dims, const LayerAttributes& attributes);

  /// Runs one direction through its cell and writes its share of the outputs: Y in time order, 0 beyond a
  /// row's length; Y_h and Y_c the state after a row's last step (in reverse that is time 0), 0 for a row
  /// without steps. Throws Error(limit) when the run's time is up.
  void run_direction(std::int64_t direction, const kernels::PackedB<Real>& W, Cell<Real>& cell);

 private:
  // X_t W^T and bias for consecutive steps: a block [active rows, gates*hidden_size] for each.
  struct Chunk {
    std::int64_t end_step;
    Real* block;      // of the first step
    bool descending;  // blocks of later steps lie before it
  };
  bool in_step_order() const;
  void allocate_chunk(std::int64_t columns);
  Chunk project(std::int64_t first_step, bool reversed, const kernels::PackedB<Real>& W);
  void gather(std::int64_t first_step, std::int64_t end_step, bool reversed);
  void load_state(std::size_t index, const Tensor* initial, std::int64_t direction);
  void write_step(std::int64_t direction, std::int64_t step, std::int64_t rows, bool reversed);
  void clear_tails(std::int64_t direction);
  void store_state(std::size_t index, std::int64_t direction);

  RunContext& run_;
  const LayerInputs& inputs_;
  const LayerOutputs& outputs_;
  const Dimensions& dims_;
  const LayerAttributes& attributes_;
  const Schedule schedule_;
  const Strides x_, y_, state_;
  std::array<Tensor, 2> storage_;
  States<Real> states_{};  // rows in the schedule's places
  std::int64_t chunk_rows_ = 0;
  Tensor gathered_;   // [chunk_rows_, input_size]: rows of X in the order of steps
  Tensor projected_;  // [chunk_rows_, gates*hidden_size]
};

}  // namespace grurun::engine::rnn
