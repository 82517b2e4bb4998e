// One direction of a recurrent layer, step by step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/kernels/gates/recurrent.h"
#include "engine/ops/rnn/direction_rows.h"
#include "engine/ops/rnn/input_projection.h"
#include "engine/ops/rnn/states.h"
#include "engine/ops/rnn/weights.h"
#include "engine/ops/rnn/workspace.h"

namespace grurun::engine::rnn {

/// One direction of a run, elements stored as T, computed in Real, for the rows in some places (see
/// DirectionRows):
///
///   for each step:  sums = Xt*(W^T) + Wb + Rb                        InputProjection, some steps ahead
///                   Ht, Ct = cell(sums + Ht-1*(R^T), Ht-1, Ct-1)     kernels::cell_step, States
///
/// GRU with linear_before_reset = 0 takes two blocks of gates one after the other in each step: the second
/// multiplies rt (.) Ht-1.
template <typename T, typename Real>
class DirectionRun {
 public:
  DirectionRun(const LayerRun& layer, std::int64_t direction, const DirectionWeights<Real>& weights,
               Places places);
  DirectionRun(const DirectionRun&) = delete;  // its members refer to each other

  /// A multiple of a cache line.
  std::size_t workspace_bytes() const { return layout_.bytes(); }

  /// Writes the outputs of these rows and this direction. `workspace`: of workspace_bytes(), at the beginning
  /// of a cache line. Throws Error(limit) when the run's time is up.
  void run(void* workspace);

 private:
  using Rows = kernels::Rows<Real>;
  using ConstRows = kernels::Rows<const Real>;

  void step(std::int64_t step, Rows projected, ConstRows X);
  Rows add_quantized(std::int64_t step, std::int64_t rows, Rows projected);
  void compute(kernels::CellStep<Real>& step, std::int64_t parts, bool descending);
  bool is_short(std::int64_t rows) const;

  const DirectionRows rows_;
  const DirectionWeights<Real>& weights_;
  std::array<kernels::Cell<Real>, 2> cells_;  // by block
  WorkspaceLayout<Real> layout_;
  States<T, Real> states_;
  Part<Real> z_, reset_;  // from the first of two blocks to the second
  InputProjection<T, Real> projection_;
  Part<Real> sums_, quantized_H_;  // with R of 8 bits: of a step, and memory for its H as integers
};

}  // namespace grurun::engine::rnn
