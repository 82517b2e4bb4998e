// Xt*(W^T) + Wb + Rb of one direction's rows. It does not depend on the states: it is computed for several
// steps at once.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/kernels/gates/recurrent.h"
#include "engine/ops/rnn/direction_rows.h"
#include "engine/ops/rnn/weights.h"
#include "engine/ops/rnn/workspace.h"

namespace grurun::engine::rnn {

/// The products of consecutive steps: for each a block of rows, those that are active.
template <typename Real>
struct ProjectedSteps {
  std::int64_t end_step;
  kernels::Rows<Real> next;  // the block of the next step
  bool descending;           // blocks of later steps lie before it

  /// The block of the next step, of `rows` rows.
  kernels::Rows<Real> take(std::int64_t rows) {
    const kernels::Rows<Real> block = next;
    next.data += (descending ? -rows : rows) * next.ld;
    return block;
  }
};

/// X stored as T, the products computed in Real, in the order of the panels of W, block by block.
template <typename T, typename Real>
class InputProjection {
 public:
  using Rows = kernels::Rows<Real>;
  using ConstRows = kernels::Rows<const Real>;

  InputProjection(const DirectionRows& rows, const DirectionWeights<Real>& weights,
                  WorkspaceLayout<Real>& layout);

  /// Of a row of products.
  std::int64_t width() const { return width_; }

  /// False: there is one step at most, which multiplies X and W itself. It would gain nothing.
  bool projects_all_steps() const { return rows_.steps() > 1 || weights_.quantized || weights_.dense_W; }

  void place_in(Real* workspace);

  /// The products of first_step and of as many steps after it as there is room for.
  ProjectedSteps<Real> project(std::int64_t first_step);

  /// X of the steps in [first_step, end_step), `rows` rows in all: in the order of steps, or that of time
  /// where in_step_order().
  ConstRows inputs_of(std::int64_t first_step, std::int64_t end_step, std::int64_t rows);

 private:
  bool in_step_order() const;
  void gather(std::int64_t first_step, std::int64_t begin, std::int64_t end);
  void multiply(std::int64_t rows, ConstRows X);
  void multiply_quantized(std::int64_t rows, ConstRows X);

  const DirectionRows& rows_;
  const DirectionWeights<Real>& weights_;
  const std::int64_t width_;
  const std::int64_t most_rows_;  // that are projected at once
  Part<Real> gathered_;           // [most_rows_, input_size]: rows of X in the order of steps
  Part<Real> projected_;          // [most_rows_, width_]
  Part<Real> quantized_;          // memory for rows of X as integers
  std::optional<DynamicRange> range_of_X_;
};

}  // namespace grurun::engine::rnn
