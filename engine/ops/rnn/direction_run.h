// One direction of a recurrent layer, step by step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/kernels/gates/recurrent.h"
#include "engine/ops/rnn/layer_run.h"
#include "engine/ops/rnn/weights.h"

namespace grurun::engine::rnn {

/// Rows of a batch in the schedule's places.
struct Places {
  std::int64_t first, count;
};

/// One direction of a run, elements stored as T, computed in Real: all rows, or, of a uniform schedule, some
/// of them, since rows have nothing to do with each other. Rows of states and products are in the order of
/// their places.
template <typename T, typename Real>
class DirectionRun {
 public:
  DirectionRun(const LayerRun& layer, std::int64_t direction, const DirectionWeights<Real>& weights,
               Places places);

  /// A multiple of kLine.
  std::size_t workspace_bytes() const { return workspace_bytes_; }

  /// Writes the outputs of these rows and this direction. `workspace`: of workspace_bytes(), aligned to
  /// kLine. Throws Error(limit) when the run's time is up.
  void run(void* workspace);

  static constexpr std::int64_t kLine = 64;  // bytes of a cache line

 private:
  using Rows = kernels::Rows<Real>;
  using ConstRows = kernels::Rows<const Real>;

  // X_t W^T and bias for consecutive steps: a block [active rows, width_] for each.
  struct Chunk {
    std::int64_t end_step;
    Rows block;       // of the first step
    bool descending;  // blocks of later steps lie before it
  };

  // Rows in the workspace.
  struct Part : Rows {
    std::int64_t begin = 0;  // in elements
  };

  void lay_out();
  std::int64_t place(std::int64_t k) const { return places_.first + k; }
  std::int64_t active(std::int64_t step) const {
    return schedule_.uniform() ? places_.count : schedule_.active(step);
  }
  bool in_step_order() const;
  // For one step there is nothing to gain from a projection ahead of it.
  bool projects_ahead() const { return schedule_.steps() > 1 || weights_.quantized || weights_.dense_W; }
  Chunk project(std::int64_t first_step);
  ConstRows inputs_of(std::int64_t first_step, std::int64_t end_step, std::int64_t rows);
  // Rows [begin, end) of those of the steps from first_step on.
  void gather(std::int64_t first_step, std::int64_t begin, std::int64_t end);
  bool is_short(std::int64_t rows) const;
  void step(std::int64_t step, Rows projected, ConstRows X);
  Rows next_state(std::int64_t step);
  T* Y_of(std::int64_t step, std::int64_t k);
  void load_states();
  ConstRows first_state();
  void load_state(const Tensor* initial, Rows to);
  bool starts_at_rest() const;
  void write_step(std::int64_t step, std::int64_t rows);
  void clear_tails();
  void store_state(std::size_t index);

  const LayerRun& layer_;
  const Schedule& schedule_;
  const Dimensions& dims_;
  const Places places_;
  const std::int64_t direction_;
  const bool reversed_;
  const DirectionWeights<Real>& weights_;
  const std::int64_t padded_;  // hidden_size as the kernels pad it
  /// Of an output from an element on; nullptr: not wanted.
  static T* elements_of(Tensor* output, std::int64_t begin) {
    return output == nullptr ? nullptr : output->template mutable_data<T>() + begin;
  }
  T* const Y_;  // of this direction; nullptr: not wanted
  // Y itself holds the states when its elements and rows are theirs.
  const bool states_in_Y_;
  std::array<kernels::Cell<Real>, 2> cells_;  // by block
  std::int64_t width_ = 0;                    // of a row of all blocks' products
  std::int64_t chunk_rows_ = 0;
  std::size_t workspace_bytes_ = 0;
  std::array<Part, 2> H_{};
  Part C_{}, z_{}, reset_{};
  Part gathered_{};       // [chunk_rows_, input_size]: rows of X in the order of steps
  Part projected_{};      // [chunk_rows_, width_]
  ConstRows state_{};     // Ht-1
  bool at_rest_ = false;  // the state is 0, and R times it
  std::optional<DynamicRange> range_of_X_;
};

}  // namespace grurun::engine::rnn
