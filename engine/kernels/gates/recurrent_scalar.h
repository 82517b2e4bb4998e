// The definition of cell_step (recurrent.h), element by element: what its vector code is tested against.
#pragma once

#include <vector>

#include "engine/kernels/gates/recurrent.h"

namespace grurun::kernels {

/// The panel that a unit belongs to.
template <class T>
int64_t panel_of(const GatePanels<T>& weights, int64_t unit) {
  int64_t panel = 0;
  while (unit >= weights.first_unit(panel) + weights.units(panel)) ++panel;
  return panel;
}

/// Column (gate, unit) of a row of W, R, a bias or a projection, in panel order.
template <class T>
int64_t panel_column(const GatePanels<T>& weights, int64_t gate, int64_t unit) {
  const int64_t panel = panel_of(weights, unit);
  return weights.first_column(panel) + gate * weights.units(panel) + unit - weights.first_unit(panel);
}

/// start + the sum of row[k] times element (k, gate, unit) of the matrix
template <class T>
T dot(T start, const T* row, const GatePanels<T>& weights, int64_t gate, int64_t unit) {
  const int64_t panel = panel_of(weights, unit), units = weights.units(panel);
  const int64_t columns = weights.columns(panel), column = unit - weights.first_unit(panel);
  const T* matrix = weights.panel(panel) + (gate * units + column / columns * columns) * weights.K();
  for (int64_t k = 0; k < weights.K(); ++k) start += row[k] * matrix[k * columns + column % columns];
  return start;
}

template <class T>
class ScalarStep {
 public:
  ScalarStep(const Cell<T>& cell, const CellStep<T>& step) : cell_(cell), step_(step) {}

  /// All units of one row; out must not be H.
  void row(int64_t row) const {
    for (int64_t unit = 0; unit < cell_.R->hidden_size(); ++unit) this->unit(row, unit);
  }

 private:
  // Xt*(W^T) + Wb + Rb
  T start(int64_t row, int64_t gate, int64_t unit) const {
    if (step_.projected.data != nullptr) return step_.projected.row(row)[panel_column(*cell_.R, gate, unit)];
    return dot(bias(*cell_.W, gate, unit), step_.X.row(row), *cell_.W, gate, unit);
  }

  static T bias(const GatePanels<T>& weights, int64_t gate, int64_t unit) {
    return weights.bias() == nullptr ? T{0} : weights.bias()[panel_column(weights, gate, unit)];
  }

  // Xt*(W^T) + A*(R^T) + Wb + Rb
  T sum(int64_t row, int64_t gate, int64_t unit) const {
    return plus_product(start(row, gate, unit), row, gate, unit);
  }

  T plus_product(T sum, int64_t row, int64_t gate, int64_t unit) const {
    return step_.A.data == nullptr ? sum : dot(sum, step_.A.row(row), *cell_.R, gate, unit);
  }

  T function(int index, T x) const {
    return activate_scalar(cell_.functions[static_cast<size_t>(index)], clipped(x, cell_.clip));
  }

  T peephole(int64_t gate, int64_t unit, T C) const {
    return cell_.P == nullptr ? T{0} : cell_.P[gate * cell_.R->padded_size() + unit] * C;
  }

  void unit(int64_t row, int64_t unit) const {
    enum { f, g, h };
    switch (cell_.kind) {
      case CellKind::rnn:
        step_.out.row(row)[unit] = function(f, sum(row, 0, unit));
        return;
      case CellKind::gru_reset_after: {
        const T z = function(f, sum(row, update_gate, unit));
        const T r = function(f, sum(row, reset_gate, unit));
        const T product = plus_product(bias(*cell_.R, hidden_gate, unit), row, hidden_gate, unit);
        blend(row, unit, z, function(g, start(row, hidden_gate, unit) + r * product));
        return;
      }
      case CellKind::gru_update_and_reset:
        step_.z.row(row)[unit] = function(f, sum(row, update_gate, unit));
        step_.reset.row(row)[unit] = function(f, sum(row, reset_gate, unit)) * step_.H.row(row)[unit];
        return;
      case CellKind::gru_candidate:
        blend(row, unit, step_.z.row(row)[unit], function(g, sum(row, 0, unit)));
        return;
      case CellKind::lstm:
        return lstm(row, unit);
    }
  }

  void blend(int64_t row, int64_t unit, T z, T candidate) const {
    step_.out.row(row)[unit] = (1 - z) * candidate + z * step_.H.row(row)[unit];
  }

  void lstm(int64_t row, int64_t unit) const {
    enum { f, g, h };
    T& C = step_.C.row(row)[unit];
    const T i = function(f, sum(row, input_gate, unit) + peephole(input_gate, unit, C));
    const T forget = cell_.input_forget
                         ? 1 - i
                         : function(f, sum(row, forget_gate, unit) + peephole(forget_gate, unit, C));
    const T c = function(g, sum(row, cell_gate, unit));
    C = forget * C + i * c;
    const T o =
        function(f, sum(row, output_gate, unit) + peephole(output_gate, unit, C));  // P's gates: i, o, f
    const T activated = cell_.clip_cell_state ? function(h, C) : activate_scalar(cell_.functions[h], C);
    step_.out.row(row)[unit] = o * activated;
  }

  const Cell<T>& cell_;
  const CellStep<T>& step_;
};

template <class T>
void cell_step_scalar(const Cell<T>& cell, const CellStep<T>& step) {
  for (int64_t row = 0; row < step.rows; ++row) ScalarStep<T>(cell, step).row(row);
}

}  // namespace grurun::kernels
