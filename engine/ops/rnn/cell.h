// One time step: the part in which RNN, GRU and LSTM differ, and the place of a faster kernel for one of
// them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/ops/rnn/activation.h"
#include "engine/ops/rnn/weights.h"

namespace grurun::engine::rnn {

/// H and, for LSTM, C; each [rows, hidden_size], row-major.
template <typename Real>
using States = std::array<Real*, 2>;

/// What a cell is made from; outlives it.
template <typename Real>
struct CellParts {
  const DirectionWeights<Real>& weights;
  std::span<const Activation> functions;  // f, g, h of this direction
  float clip;
  std::int64_t batch_size;
  std::int64_t hidden_size;
};

/// The equations of one direction.
template <typename Real>
class Cell {
 public:
  Cell() = default;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  virtual ~Cell() = default;

  /// From the states at t-1 to those at t, in place, for the first `rows` <= batch_size rows; the others
  /// stay. projected [rows, gates*hidden_size] holds X_t W^T plus the bias of weights.W; it may be
  /// overwritten.
  virtual void step(std::int64_t rows, Real* projected, const States<Real>& states) = 0;
};

}  // namespace grurun::engine::rnn
