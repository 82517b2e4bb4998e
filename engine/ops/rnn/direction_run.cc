#include "engine/ops/rnn/direction_run.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "engine/kernels/gates/recurrent.h"
#include "engine/ops/rnn/convert.h"
#include "engine/ops/rnn/shares.h"
#include "tensor/dispatch.h"

namespace grurun::engine::rnn {
namespace {

// What a projected chunk may take, so that it is still in a core's cache when its steps run.
constexpr std::int64_t chunk_bytes = 768 * 1024;

/// Moves sums that lie gate by gate, hidden_size each, to panel order with its padding, for a single panel.
template <typename Real>
void spread(std::int64_t gates, const kernels::GatePanels<Real>& W, std::int64_t rows,
            kernels::Rows<Real> sums) {
  const std::int64_t hidden = W.hidden_size(), units = W.units(0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t gate = gates - 1; gate >= 0; --gate) {
      const Real* from = sums.row(i) + gate * hidden;
      Real* to = sums.row(i) + gate * units;
      if (gate > 0) std::copy_backward(from, from + hidden, to + hidden);
      std::fill(to + hidden, to + units, Real{0});
    }
  }
}

}  // namespace

template <typename T, typename Real>
DirectionRun<T, Real>::DirectionRun(const LayerRun& layer, std::int64_t direction,
                                    const DirectionWeights<Real>& weights, Places places)
    : layer_(layer),
      schedule_(layer.schedule),
      dims_(layer.dims),
      places_(places),
      direction_(direction),
      reversed_(layer.attributes.reversed(direction)),
      weights_(weights),
      padded_(weights.blocks.front().R.padded_size()),
      Y_(elements_of(layer.outputs.Y, direction * layer.y.direction)),
      states_in_Y_(std::is_same_v<T, Real> && Y_ != nullptr && schedule_.uniform()) {
  const std::span<const Activation> functions = layer.attributes.functions(direction);
  for (std::size_t i = 0; i < weights.blocks.size(); ++i) {
    kernels::Cell<Real>& cell = cells_[i];
    cell.kind = layer.form.blocks[i].kind;
    cell.W = &weights.blocks[i].W;
    cell.R = &weights.blocks[i].R;
    cell.P = weights.P.empty() ? nullptr : weights.P.data();
    for (std::size_t f = 0; f < functions.size(); ++f) cell.functions[f] = functions[f];
    cell.clip = layer.attributes.clip;
    cell.clip_cell_state = layer.form.clip_cell_state;
    cell.input_forget = layer.form.input_forget;
    width_ += cell.W->width();
  }
  lay_out();
}

template <typename T, typename Real>
void DirectionRun<T, Real>::lay_out() {
  std::int64_t steps = 1;
  if (schedule_.steps() > 1) {
    const std::int64_t fitting = chunk_bytes / checked_mul(width_, sizeof(Real));
    steps = std::clamp(fitting / places_.count, std::int64_t{1}, schedule_.steps());
  }
  chunk_rows_ = checked_mul(steps, places_.count);
  const std::int64_t batch = places_.count;
  const bool two_passes = weights_.blocks.size() > 1;
  std::int64_t total = 0;
  const auto add = [&](Part& part, std::int64_t rows, std::int64_t ld) {
    constexpr std::int64_t line = kLine / static_cast<std::int64_t>(sizeof(Real));
    part.begin = total;
    part.ld = ld;
    if (rows > 0) total = checked_add(total, checked_add(checked_mul(rows, ld), line - 1) / line * line);
  };
  add(H_[0], batch, dims_.hidden_size);
  add(H_[1], states_in_Y_ ? 0 : batch, dims_.hidden_size);
  add(C_, layer_.form.states() > 1 ? batch : 0, padded_);
  add(z_, two_passes ? batch : 0, padded_);
  add(reset_, two_passes ? batch : 0, padded_);
  add(gathered_, in_step_order() ? 0 : chunk_rows_, dims_.input_size);
  add(projected_, projects_ahead() ? chunk_rows_ : 0, width_);
  workspace_bytes_ = static_cast<std::size_t>(checked_mul(total, sizeof(Real)));
}

template <typename T, typename Real>
void DirectionRun<T, Real>::run(void* workspace) {
  for (Part* part : {&H_[0], &H_[1], &C_, &z_, &reset_, &gathered_, &projected_})
    part->data = static_cast<Real*>(workspace) + part->begin;
  load_states();
  const std::int64_t steps = schedule_.steps();
  if (steps == 1 && !projects_ahead()) {
    step(0, {}, inputs_of(0, 1, active(0)));
  }
  for (std::int64_t step = 0; projects_ahead() && step < steps;) {
    const Chunk chunk = project(step);
    Rows block = chunk.block;
    for (; step < chunk.end_step; ++step) {
      // Steps count once, however many threads take rows of them.
      places_.first == 0 ? layer_.context.check_limits() : layer_.context.check_limits_uncounted();
      const std::int64_t rows = active(step);
      this->step(step, block, {});
      block.data += (chunk.descending ? -rows : rows) * width_;
    }
  }
  clear_tails();
  store_state(0);
  store_state(1);
}

// True when the rows of X lie in memory as the steps take them, forwards or backwards, in the type of the
// computation.
template <typename T, typename Real>
bool DirectionRun<T, Real>::in_step_order() const {
  return std::is_same_v<T, Real> && schedule_.uniform() &&
         (schedule_.steps() == 1 || dims_.batch_size == 1 ||
          (places_.count == dims_.batch_size && !layer_.attributes.batch_first));
}

template <typename T, typename Real>
typename DirectionRun<T, Real>::Chunk DirectionRun<T, Real>::project(std::int64_t first_step) {
  std::int64_t end_step = first_step;
  std::int64_t rows = 0;
  while (end_step < schedule_.steps() && rows + active(end_step) <= chunk_rows_) {
    rows += active(end_step++);
  }
  const ConstRows X = inputs_of(first_step, end_step, rows);
  Rows to = projected_;
  const auto multiply = [&](const kernels::GatePanels<Real>& W) {
    const kernels::Projection<Real> projection{.rows = rows, .X = X, .W = &W, .to = to};
    const std::int64_t parts = projection_parts(W, rows, step_parts<Real>(weights_.blocks, places_.count));
    each_share(W, rows, parts, kernels::least_rows_alike(W), false, [&](const Share& share) {
      kernels::project(projection.part(share.first_row, share.rows), share.panels);
    });
  };
  if (weights_.dense_W) {
    multiply(*weights_.dense_W);
    spread(layer_.form.gates(), weights_.blocks.front().W, rows, to);
  } else {
    for (const BlockWeights<Real>& block : weights_.blocks) {
      multiply(block.W);
      to.data += block.W.width();
    }
  }
  if constexpr (std::is_same_v<Real, float>) {
    if (weights_.quantized) {
      // Over X as far as the longest row goes, whatever it holds behind the ends of others.
      if (!range_of_X_) {
        range_of_X_ = dynamic_range(layer_.inputs[opset::input_X]->template data<float>(),
                                    schedule_.steps() * layer_.x.time);
      }
      weights_.quantized->W.add_product(rows, X, *range_of_X_, projected_);
    }
  }
  // Rows that were not gathered are in the order of time.
  const bool descending = reversed_ && in_step_order();
  const std::int64_t last_block = (end_step - first_step - 1) * places_.count;
  return {end_step, {projected_.row(descending ? last_block : 0), width_}, descending};
}

// All rows of X of consecutive steps, in the order of steps, or that of time where in_step_order().
template <typename T, typename Real>
typename DirectionRun<T, Real>::ConstRows DirectionRun<T, Real>::inputs_of(std::int64_t first_step,
                                                                           std::int64_t end_step,
                                                                           std::int64_t rows) {
  const T* X = layer_.inputs[opset::input_X]->template data<T>();
  if constexpr (std::is_same_v<T, Real>) {
    if (in_step_order()) {
      const std::int64_t first_time = reversed_ ? dims_.seq_length - end_step : first_step;
      // A batch of one, or a single step, is in step order whatever the layout; rows are input_size apart
      // either way.
      return {X + first_time * layer_.x.time + places_.first * layer_.x.row, dims_.input_size};
    }
  }
  // By the thread that multiplies them, where threads share rows.
  constexpr std::int64_t enough = 1 << 13;  // elements for a thread to be worth waking
  const std::int64_t parts =
      std::clamp<std::int64_t>(rows * dims_.input_size / enough, 1, kernels::threads_here());
  kernels::parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    gather(first_step, rows * begin / parts, rows * end / parts);
  });
  return {gathered_.data, gathered_.ld};
}

template <typename T, typename Real>
void DirectionRun<T, Real>::gather(std::int64_t first_step, std::int64_t begin, std::int64_t end) {
  const T* X = layer_.inputs[opset::input_X]->template data<T>();
  for (std::int64_t step = first_step, first = 0; first < end; first += active(step++)) {
    const std::int64_t last = std::min(active(step), end - first);
    for (std::int64_t k = std::max<std::int64_t>(begin - first, 0); k < last; ++k) {
      const std::int64_t time = schedule_.time(place(k), step, reversed_);
      convert(X + time * layer_.x.time + schedule_.row(place(k)) * layer_.x.row, dims_.input_size,
              gathered_.row(first + k));
    }
  }
}

// Whether a step takes some microseconds at most, so that what threads tell each other may be too much of it.
template <typename T, typename Real>
bool DirectionRun<T, Real>::is_short(std::int64_t rows) const {
  constexpr std::int64_t operations = 1 << 20;
  return 2 * rows * width_ * dims_.hidden_size < operations;
}

template <typename T, typename Real>
void DirectionRun<T, Real>::step(std::int64_t step, Rows projected, ConstRows X) {
  const std::int64_t rows = active(step);
  if constexpr (std::is_same_v<Real, float>) {
    if (weights_.quantized) {
      // Over the rows that had a step before this one: a row that has just ended still counts.
      const std::int64_t seen = step == 0 ? places_.count : active(step - 1);
      weights_.quantized->R.add_product(rows, state_, dynamic_range(state_.data, seen * state_.ld),
                                        projected);
    }
  }
  const Rows next = next_state(step);
  const bool descending = layer_.descending == (step % 2 == 0);
  kernels::CellStep<Real> cell_step{.rows = rows,
                                    .A = at_rest_ ? ConstRows{} : state_,
                                    .projected = {projected.data, projected.ld},
                                    .X = X,
                                    .H = state_,
                                    .out = next,
                                    .C = C_,
                                    .z = z_,
                                    .reset = reset_};
  const auto compute = [&](std::int64_t parts) {
    for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
      const kernels::Cell<Real>& cell = cells_[i];
      if (cell.kind == kernels::CellKind::gru_candidate) cell_step.A = {reset_.data, reset_.ld};
      const std::int64_t least_rows = parts == 1 ? rows : least_rows_alike(weights_.blocks[i]);
      each_share(*cell.R, rows, parts, least_rows, descending, [&](const Share& share) {
        if (share.rows == rows) return kernels::cell_step(cell, cell_step, share.panels);
        kernels::cell_step(cell, cell_step.part(share.first_row, share.rows), share.panels);
      });
      if (projected.data != nullptr) cell_step.projected.data += cell.W->width();
    }
  };
  const std::int64_t parts = step_parts<Real>(weights_.blocks, rows);
  if (parts > 1 && layer_.trials != nullptr && is_short(rows)) {
    layer_.trials[direction_].step([&](bool shared) { compute(shared ? parts : 1); });
  } else {
    compute(parts);
  }
  state_ = {next.data, next.ld};
  at_rest_ = false;
  if (!states_in_Y_) write_step(step, rows);
}

// Where the state after a step belongs.
template <typename T, typename Real>
typename DirectionRun<T, Real>::Rows DirectionRun<T, Real>::next_state(std::int64_t step) {
  if constexpr (std::is_same_v<T, Real>) {
    if (states_in_Y_) return {Y_of(step, 0), layer_.y.row};
  }
  return H_[static_cast<std::size_t>((step + 1) % 2)];
}

// Y of a row at a step.
template <typename T, typename Real>
T* DirectionRun<T, Real>::Y_of(std::int64_t step, std::int64_t k) {
  return Y_ + schedule_.time(place(k), step, reversed_) * layer_.y.time +
         schedule_.row(place(k)) * layer_.y.row;
}

template <typename T, typename Real>
void DirectionRun<T, Real>::load_states() {
  state_ = first_state();
  at_rest_ = starts_at_rest();
  if (layer_.form.states() == 1) return;
  std::fill_n(C_.data, places_.count * C_.ld, Real{0});
  load_state(layer_.inputs[opset::input_initial_c], C_);
}

// H0: as it is where its elements and the order of its rows are those of the states.
template <typename T, typename Real>
typename DirectionRun<T, Real>::ConstRows DirectionRun<T, Real>::first_state() {
  const Tensor* initial = layer_.inputs[opset::input_initial_h];
  if constexpr (std::is_same_v<T, Real>) {
    if (initial != nullptr && schedule_.uniform() && !weights_.quantized) {
      const T* H = initial->data<T>() + direction_ * layer_.state.direction;
      return {H + places_.first * layer_.state.row, layer_.state.row};
    }
  }
  load_state(initial, H_[0]);
  return {H_[0].data, H_[0].ld};
}

template <typename T, typename Real>
void DirectionRun<T, Real>::load_state(const Tensor* initial, Rows to) {
  if (initial == nullptr) {
    std::fill_n(to.data, places_.count * to.ld, Real{0});
    return;
  }
  const T* from = initial->data<T>() + direction_ * layer_.state.direction;
  for (std::int64_t k = 0; k < places_.count; ++k) {
    convert(from + schedule_.row(place(k)) * layer_.state.row, dims_.hidden_size, to.row(k));
  }
}

// Whether the first step needs no product with R, as is usual: that is much of a short sequence.
template <typename T, typename Real>
bool DirectionRun<T, Real>::starts_at_rest() const {
  if (weights_.quantized) return false;
  const auto finite = [](const BlockWeights<Real>& block) { return block.R.finite(); };
  if (!std::ranges::all_of(weights_.blocks, finite)) return false;
  if (layer_.inputs[opset::input_initial_h] == nullptr) return true;
  const auto is_zero = [](Real h) { return h == 0; };
  for (std::int64_t k = 0; k < places_.count; ++k) {
    if (!std::all_of(state_.row(k), state_.row(k) + dims_.hidden_size, is_zero)) return false;
  }
  return true;
}

template <typename T, typename Real>
void DirectionRun<T, Real>::write_step(std::int64_t step, std::int64_t rows) {
  if (Y_ == nullptr) return;
  for (std::int64_t k = 0; k < rows; ++k) convert(state_.row(k), dims_.hidden_size, Y_of(step, k));
}

template <typename T, typename Real>
void DirectionRun<T, Real>::clear_tails() {
  if (Y_ == nullptr || schedule_.uniform()) return;
  for (std::int64_t k = 0; k < places_.count; ++k) {
    for (std::int64_t time = schedule_.length(place(k)); time < dims_.seq_length; ++time) {
      std::fill_n(Y_ + time * layer_.y.time + schedule_.row(place(k)) * layer_.y.row, dims_.hidden_size, T{});
    }
  }
}

template <typename T, typename Real>
void DirectionRun<T, Real>::store_state(std::size_t index) {
  T* last = elements_of(layer_.outputs.last[index], direction_ * layer_.state.direction);
  if (last == nullptr) return;
  for (std::int64_t k = 0; k < places_.count; ++k) {
    T* to = last + schedule_.row(place(k)) * layer_.state.row;
    if (schedule_.length(place(k)) == 0) {
      std::fill_n(to, dims_.hidden_size, T{});
    } else {
      const Rows state = index == 0 ? next_state(schedule_.length(place(k)) - 1) : C_;
      convert<Real, T>(state.row(k), dims_.hidden_size, to);
    }
  }
}

template class DirectionRun<float, float>;
template class DirectionRun<double, double>;
template class DirectionRun<Float16, float>;
template class DirectionRun<BFloat16, float>;

}  // namespace grurun::engine::rnn
