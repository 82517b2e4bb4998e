// The kernels of recurrent layers: the projection of inputs for many steps at once, and one step of a cell:
// the product with the previous state, the gates and the new state in one go, panel by panel of units.
#pragma once

#include <array>
#include <cstdint>

#include "engine/kernels/gates/activation.h"
#include "engine/kernels/gates/gate_order.h"
#include "engine/kernels/gates/gate_panels.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/kernels/machine/unroll.h"

namespace grurun::kernels {

/// Rows of a matrix in memory, `ld` elements apart.
template <class T>
struct Rows {
  T* data = nullptr;
  int64_t ld = 0;

  T* row(int64_t i) const { return data + i * ld; }
  /// Rows from i on; none of none.
  Rows from(int64_t i) const { return {data == nullptr ? nullptr : row(i), ld}; }
};

/// A run of panels, in rising order or in falling order. The order does not change results; going up and
/// down in turn finds the weights used last still in the cache.
struct PanelRange {
  int64_t begin, end;
  bool descending = false;
};

/// Whether products of the weights run on the tile registers if there are rows enough.
template <class T>
bool may_be_tiled(const GatePanels<T>& weights) {
  return weights.K() >= tuning::least_tiled_K && weights.width() >= tuning::least_tiled_columns &&
         weights.suits_tiles() && tile_registers();
}

/// So many rows, or more, are computed alike, each whatever the number of the others: on the tile registers,
/// or else in tiles of sums enough not to be split any further.
template <class T>
int64_t least_rows_alike(const GatePanels<T>& weights) {
  if (may_be_tiled(weights)) return tuning::least_tiled_rows;
  static_assert(tile_ways(4, 2) == 1 && tile_ways(8, 1) == 1);
  const bool two_vectors =
      weights.whole() && weights.padded_size() > gate_lanes<T>;  // of a unit's gate at a time
  return two_vectors ? 4 : 8;
}

/// to [rows, W.width()] = X [rows, W.K()] * W + W's bias, in panel order, for these panels.
template <class T>
struct Projection {
  int64_t rows;
  Rows<const T> X;
  const GatePanels<T>* W;
  Rows<T> to;

  /// Of `count` of the rows, from `first` on.
  Projection part(int64_t first, int64_t count) const { return {count, X.from(first), W, to.from(first)}; }
};
void project(const Projection<float>& p, const PanelRange& panels);
void project(const Projection<double>& p, const PanelRange& panels);

/// What becomes of the sums, one for each gate of a unit, in the order of gate_order.h.
enum class CellKind {
  rnn,                   // Ht
  lstm,                  // i, o, f, c -> Ct, Ht
  gru_reset_after,       // z, r, h -> Ht, when linear_before_reset is set
  gru_update_and_reset,  // z, r -> z, r (.) Ht-1: the first half when it is not
  gru_candidate,         // h -> Ht: the second half, for which A is r (.) Ht-1
};

/// What does not change from step to step.
template <class T>
struct Cell {
  CellKind kind;
  const GatePanels<T>* W;
  const GatePanels<T>* R;  // its bias: GRU's Rbh with linear_before_reset, in panel order; nullptr otherwise
  const T* P = nullptr;    // LSTM's peepholes i, o, f [3, padded_size]; nullptr: none
  std::array<Activation, 3> functions;  // f, g, h
  float clip = no_clip;
  bool clip_cell_state = true;  // LSTM: the clip bounds what h sees, too
  bool input_forget = false;
};

/// One step of `rows` rows, from the states at t-1 to those at t.
///
/// The sums of a gate are  start + A * R,  where start is `projected` or, if that is nullptr, X * W and W's
/// bias; but for the hidden gate of gru_reset_after it is R's bias, and r (.) sum is then added to its start.
/// `out` must not overlap A and H. Rows of C, z and reset are padded_size long at least, those of H and out
/// hidden_size. A panel's step reads all of A, and of the others its own units only.
template <class T>
struct CellStep {
  int64_t rows;
  Rows<const T> A;          // [rows, hidden_size]: Ht-1, or what gru_candidate says; nullptr: 0, R finite
  Rows<const T> projected;  // [rows, width] in panel order
  Rows<const T> X;          // [rows, W.K()], if projected is nullptr
  Rows<const T> H;          // [rows, hidden_size]: Ht-1; not for rnn, lstm
  Rows<T> out;              // [rows, hidden_size]: Ht; not for gru_update_and_reset
  Rows<T> C;                // LSTM: Ct-1 becomes Ct
  Rows<T> z;                // from gru_update_and_reset to gru_candidate
  Rows<T> reset;            // from gru_update_and_reset: r (.) Ht-1

  /// The step of `count` of the rows, from `first` on.
  CellStep part(int64_t first, int64_t count) const {
    return {count,           A.from(first), projected.from(first), X.from(first),    H.from(first),
            out.from(first), C.from(first), z.from(first),         reset.from(first)};
  }
};
void cell_step(const Cell<float>& cell, const CellStep<float>& step, const PanelRange& panels);
void cell_step(const Cell<double>& cell, const CellStep<double>& step, const PanelRange& panels);

}  // namespace grurun::kernels
