// What becomes of a panel's sums: gates and states of the cells, for every instruction set. Included by
// sources that compile per target, after hwy/foreach_target.h. recurrent_scalar.h is its definition.
#if defined(GRURUN_RECURRENT_CELLS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef GRURUN_RECURRENT_CELLS_INL
#undef GRURUN_RECURRENT_CELLS_INL
#else
#define GRURUN_RECURRENT_CELLS_INL
#endif

#include <cstddef>

#include "engine/kernels/gates/activation-inl.h"
#include "engine/kernels/gates/recurrent.h"
#include "engine/kernels/vec/vec_map-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace grurun::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Gates of panels and rows: what belongs to one of each, [gates, units], begins at data + panel *
/// panel_stride + row * row_stride.
template <class T>
struct GateBlock {
  T* data = nullptr;
  size_t panel_stride = 0, row_stride = 0;

  HWY_INLINE T* at(size_t panel, size_t row) const { return data + panel * panel_stride + row * row_stride; }
};

/// A * R of some rows and panels, the panels having the same number of units, and what is to be added.
template <class T>
struct Sums {
  size_t panels, rows;
  size_t units;       // of a panel, with the padding
  size_t first_row;   // of the step
  size_t first_unit;  // of the first panel
  size_t hidden_size;
  GateBlock<T> product;  // written over with gates on the way
  GateBlock<const T> start;
  GateBlock<const T> bias;  // R's, the same for all rows; nullptr: none
};

/// A vector of units of one row.
template <class T>
struct Place {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  T* product_;  // of gate 0
  const T *start_, *bias_;
  size_t units;  // from gate to gate
  int64_t row;   // of the step
  size_t unit;   // of the layer
  size_t valid;  // how many units from here on are no padding

  /// Xt*(W^T) + Wb, and where it belongs there Rb
  HWY_INLINE V start(size_t gate) const { return hn::LoadU(D(), start_ + gate * units); }
  /// A*(R^T), with R's own bias
  HWY_INLINE V product(size_t gate) const {
    const V sum = hn::LoadU(D(), product_ + gate * units);
    return bias_ == nullptr ? sum : hn::Add(sum, hn::LoadU(D(), bias_ + gate * units));
  }
  /// Xt*(W^T) + A*(R^T) + Wb + Rb
  HWY_INLINE V sum(size_t gate) const {
    return hn::Add(start(gate), hn::LoadU(D(), product_ + gate * units));
  }

  /// A gate in the place of its product.
  HWY_INLINE void keep(size_t gate, V v) const { hn::StoreU(v, D(), product_ + gate * units); }
  HWY_INLINE V kept(size_t gate) const { return hn::LoadU(D(), product_ + gate * units); }

  /// For rows as long as hidden_size.
  HWY_INLINE V load(Rows<const T> from) const { return load_first(D(), from.row(row) + unit, valid); }
  HWY_INLINE void store(V v, Rows<T> to) const { store_first(v, D(), to.row(row) + unit, valid); }
  /// For rows as long as padded_size.
  HWY_INLINE V load_padded(Rows<T> from) const { return hn::LoadU(D(), from.row(row) + unit); }
  HWY_INLINE void store_padded(V v, Rows<T> to) const { hn::StoreU(v, D(), to.row(row) + unit); }
};

/// Part of a row into cache level. The processor does not foresee projections, whose rows lie far apart.
template <int level, class T>
HWY_INLINE void fetch(const T* row, size_t count) {
  for (size_t i = 0; i < count; i += gate_lanes<T>) __builtin_prefetch(row + i, 0, 4 - level);
}

template <class T, class Body>
HWY_INLINE void each_place(Sums<T> sums, Body body) {
  const size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  for (size_t panel = 0; panel < sums.panels; ++panel) {
    const size_t first = sums.first_unit + panel * sums.units;
    const T* bias = sums.bias.data == nullptr ? nullptr : sums.bias.at(panel, 0);
    for (size_t row = 0; row < sums.rows; ++row) {
      T* product = sums.product.at(panel, row);
      const T* start = sums.start.at(panel, row);
      if (row + 1 < sums.rows) fetch<1>(sums.start.at(panel, row + 1), sums.product.row_stride);
      for (size_t i = 0; i < sums.units; i += lanes) {
        const size_t unit = first + i;
        body(Place<T>{product + i, start + i, bias == nullptr ? bias : bias + i, sums.units,
                      static_cast<int64_t>(sums.first_row + row), unit,
                      unit < sums.hidden_size ? sums.hidden_size - unit : 0});
      }
    }
  }
}

// What vectors are stored through is captured by value: it might else be a member of the step. Where a
// function is applied to what another one gave, there are two passes: each is then short enough for a core to
// work at several places at once.
template <class T, class F>
HWY_INLINE void finish_rnn(const CellStep<T>& step, const Sums<T>& sums, F f) {
  const hn::ScalableTag<T> d;
  each_place(sums, [=, out = step.out](const Place<T>& at) GRURUN_VECTOR_BODY {
    // Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)
    at.store(f(d, at.sum(0)), out);
  });
}

// Ht = (1 - zt) (.) ht + zt (.) Ht-1
template <class D, class V>
HWY_INLINE V blend(D d, V z, V candidate, V previous) {
  return hn::MulAdd(z, previous, hn::Mul(hn::Sub(hn::Set(d, hn::TFromD<D>{1}), z), candidate));
}

template <class T, class F, class G>
HWY_INLINE void finish_gru_reset_after(const CellStep<T>& step, const Sums<T>& sums, F f, G g) {
  const hn::ScalableTag<T> d;
  each_place(sums, [=](const Place<T>& at) GRURUN_VECTOR_BODY {
    // zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)
    at.keep(update_gate, f(d, at.sum(update_gate)));
    // rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr)
    const auto r = f(d, at.sum(reset_gate));
    at.keep(reset_gate, hn::MulAdd(r, at.product(hidden_gate), at.start(hidden_gate)));
  });
  each_place(sums, [=, H = step.H, out = step.out](const Place<T>& at) GRURUN_VECTOR_BODY {
    // ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh)
    const auto candidate = g(d, at.kept(reset_gate));
    at.store(blend(d, at.kept(update_gate), candidate, at.load(H)), out);
  });
}

template <class T, class F>
HWY_INLINE void finish_gru_update_and_reset(const CellStep<T>& step, const Sums<T>& sums, F f) {
  const hn::ScalableTag<T> d;
  each_place(sums, [=, H = step.H, z = step.z, reset = step.reset](const Place<T>& at) GRURUN_VECTOR_BODY {
    // zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)
    at.store_padded(f(d, at.sum(update_gate)), z);
    // rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr), kept as rt (.) Ht-1
    at.store_padded(hn::Mul(f(d, at.sum(reset_gate)), at.load(H)), reset);
  });
}

template <class T, class G>
HWY_INLINE void finish_gru_candidate(const CellStep<T>& step, const Sums<T>& sums, G g) {
  const hn::ScalableTag<T> d;
  each_place(sums, [=, H = step.H, out = step.out, z = step.z](const Place<T>& at) GRURUN_VECTOR_BODY {
    // ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh)
    const auto candidate = g(d, at.sum(0));
    at.store(blend(d, at.load_padded(z), candidate, at.load(H)), out);
  });
}

template <class T, class F, class G, class H>
HWY_INLINE void finish_lstm(const Cell<T>& cell, const CellStep<T>& step, const Sums<T>& sums, F f, G g,
                            H h) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto padded = static_cast<size_t>(cell.R->padded_size());
  const T* const P = cell.P;
  const bool input_forget = cell.input_forget;
  const auto with_peephole = [=](const Place<T>& at, LstmGate gate, V C) GRURUN_VECTOR_BODY {
    if (P == nullptr) return at.sum(gate);
    return hn::MulAdd(hn::LoadU(d, P + gate * padded + at.unit), C, at.sum(gate));
  };
  each_place(sums, [=, states = step.C](const Place<T>& at) GRURUN_VECTOR_BODY {
    const V previous = at.load_padded(states);
    // it = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Pi (.) Ct-1 + Wbi + Rbi)
    const V i = f(d, with_peephole(at, input_gate, previous));
    // ft = f(Xt*(Wf^T) + Ht-1*(Rf^T) + Pf (.) Ct-1 + Wbf + Rbf), or coupled: ft = 1 - it
    const V forget =
        input_forget ? hn::Sub(hn::Set(d, T{1}), i) : f(d, with_peephole(at, forget_gate, previous));
    // ct = g(Xt*(Wc^T) + Ht-1*(Rc^T) + Wbc + Rbc)
    const V c = g(d, at.sum(cell_gate));
    // Ct = ft (.) Ct-1 + it (.) ct
    const V C = hn::MulAdd(forget, previous, hn::Mul(i, c));
    at.store_padded(C, states);
  });
  each_place(sums, [=, states = step.C, out = step.out](const Place<T>& at) GRURUN_VECTOR_BODY {
    const V C = at.load_padded(states);
    // ot = f(Xt*(Wo^T) + Ht-1*(Ro^T) + Po (.) Ct + Wbo + Rbo)
    const V o = f(d, with_peephole(at, output_gate, C));
    // Ht = ot (.) h(Ct); the clip bounds what h sees, Ct itself is carried on as it is
    at.store(hn::Mul(o, h(d, C)), out);
  });
}

/// The gates and the new state. f, g, h: the functions of the cell.
template <class T, class F, class G, class H>
HWY_INLINE void finish(const Cell<T>& cell, const CellStep<T>& step, const Sums<T>& sums, F f, G g, H h) {
  switch (cell.kind) {
    case CellKind::rnn:
      return finish_rnn(step, sums, f);
    case CellKind::lstm:
      return finish_lstm(cell, step, sums, f, g, h);
    case CellKind::gru_reset_after:
      return finish_gru_reset_after(step, sums, f, g);
    case CellKind::gru_update_and_reset:
      return finish_gru_update_and_reset(step, sums, f);
    case CellKind::gru_candidate:
      return finish_gru_candidate(step, sums, g);
  }
}

template <class T>
bool has_usual_functions(const Cell<T>& cell) {
  const auto is = [&](size_t i, ActivationKind kind) { return cell.functions[i].kind == kind; };
  if (cell.kind == CellKind::rnn) return is(0, ActivationKind::tanh);
  return is(0, ActivationKind::sigmoid) && is(1, ActivationKind::tanh) &&
         (cell.kind != CellKind::lstm || is(2, ActivationKind::tanh));
}

template <class T>
void finish(const Cell<T>& cell, const CellStep<T>& step, const Sums<T>& sums) {
  const bool clips = cell.clip != no_clip;
  const float clip_of_f = cell.clip, clip_of_g = cell.clip;
  const float clip_of_h = cell.clip_cell_state ? cell.clip : no_clip;
  if (!has_usual_functions(cell)) {
    const auto& [f, g, h] = cell.functions;
    finish(cell, step, sums, AnyFunction{f, clip_of_f}, AnyFunction{g, clip_of_g}, AnyFunction{h, clip_of_h});
  } else if (cell.kind == CellKind::rnn) {
    if (!clips) return finish_rnn(step, sums, Tanh());
    finish_rnn(step, sums, Clipped<Tanh>{clip_of_f});
  } else {
    if (!clips) return finish(cell, step, sums, Sigmoid(), Tanh(), Tanh());
    finish(cell, step, sums, Clipped<Sigmoid>{clip_of_f}, Clipped<Tanh>{clip_of_g}, Clipped<Tanh>{clip_of_h});
  }
}

}  // namespace grurun::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
