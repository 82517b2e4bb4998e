// The states of one direction's rows: Ht-1, Ht and Ct, where the initial ones come from and where the last
// ones go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/kernels/gates/recurrent.h"
#include "engine/ops/rnn/convert.h"
#include "engine/ops/rnn/direction_rows.h"
#include "engine/ops/rnn/weights.h"
#include "engine/ops/rnn/workspace.h"

namespace grurun::engine::rnn {

/// Stored as T in inputs and outputs, computed in Real. All rows of states are in the order of their places.
template <typename T, typename Real>
class States {
 public:
  using Rows = kernels::Rows<Real>;
  using ConstRows = kernels::Rows<const Real>;

  States(const DirectionRows& rows, const DirectionWeights<Real>& weights, WorkspaceLayout<Real>& layout);

  /// Takes initial_h and initial_c, or 0, as H and C of the first step.
  void load(Real* workspace);

  /// Ht-1.
  ConstRows H() const { return H_; }
  /// Ht-1 as a factor of R: nullptr where the product is 0, as it usually is at the first step, and always
  /// where R is of 8 bits and so not among what the cell multiplies by.
  ConstRows factor() const { return is_zero_ || weights_.quantized ? ConstRows{} : H_; }
  /// Ct-1, in whose place the step writes Ct.
  Rows C() const { return C_; }
  /// Where the step writes Ht.
  Rows next_H(std::int64_t step) const {
    if constexpr (std::is_same_v<T, Real>) {
      if (H_in_Y_) return {Y_of(0, step), rows_.layer.y.row};
    }
    return buffers_[static_cast<std::size_t>((step + 1) % 2)];
  }

  /// After a step of so many rows: Ht becomes the state, and part of Y.
  void advance(std::int64_t step, std::int64_t rows) {
    const Rows next = next_H(step);
    H_ = {next.data, next.ld};
    is_zero_ = false;
    if (!H_in_Y_) write_Y(step, rows);
  }

  /// After the last step: writes 0 to Y beyond the lengths of rows, Y_h and Y_c.
  void finish();

 private:
  T* Y_of(std::int64_t k, std::int64_t step) const { return Y_ + rows_.offset_in_Y(k, rows_.time(k, step)); }
  void write_Y(std::int64_t step, std::int64_t rows);
  void clear_tails();
  void store_last(std::size_t state);
  ConstRows initial_H();
  void load_state(const Tensor* initial, Rows to);
  bool initial_state_is_zero() const;
  const T* initial_rows(const Tensor& initial) const {
    return initial.data<T>() + rows_.direction * rows_.layer.state.direction;
  }

  const DirectionRows& rows_;
  const DirectionWeights<Real>& weights_;
  T* const Y_;  // of this direction; nullptr: not wanted
  // Y itself holds H where its elements and the order of its rows are those of the states.
  const bool H_in_Y_;
  std::array<Part<Real>, 2> buffers_;  // of H, in turn
  Part<Real> C_;
  ConstRows H_{};
  bool is_zero_ = false;  // H, and R times it
};

}  // namespace grurun::engine::rnn
