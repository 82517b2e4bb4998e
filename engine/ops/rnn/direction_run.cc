#include "engine/ops/rnn/direction_run.h"

#include <span>
#include <type_traits>

#include "engine/ops/rnn/shares.h"
#include "tensor/dispatch.h"

namespace grurun::engine::rnn {
namespace {

template <typename Real>
std::array<kernels::Cell<Real>, 2> cells_of(const DirectionRows& rows,
                                            const DirectionWeights<Real>& weights) {
  const LayerRun& layer = rows.layer;
  const std::span<const Activation> functions = layer.attributes.functions(rows.direction);
  std::array<kernels::Cell<Real>, 2> cells;
  for (std::size_t i = 0; i < weights.blocks.size(); ++i) {
    kernels::Cell<Real>& cell = cells[i];
    cell.kind = layer.form.blocks[i].kind;
    cell.W = &weights.blocks[i].W;
    cell.R = &weights.blocks[i].R;
    cell.P = weights.P.empty() ? nullptr : weights.P.data();
    for (std::size_t f = 0; f < functions.size(); ++f) cell.functions[f] = functions[f];
    cell.clip = layer.attributes.clip;
    cell.clip_cell_state = layer.form.clip_cell_state;
    cell.input_forget = layer.form.input_forget;
  }
  return cells;
}

// Rows of what the first of two blocks leaves for the second.
template <typename Real>
Part<Real> part_between(const DirectionRows& rows, const DirectionWeights<Real>& weights,
                        WorkspaceLayout<Real>& layout) {
  const bool two_blocks = weights.blocks.size() > 1;
  return layout.assign_offsets(two_blocks ? rows.count() : 0, weights.blocks.front().R.padded_size());
}

}  // namespace

template <typename T, typename Real>
DirectionRun<T, Real>::DirectionRun(const LayerRun& layer, std::int64_t direction,
                                    const DirectionWeights<Real>& weights, Places places)
    : rows_{layer, direction, places},
      weights_(weights),
      cells_(cells_of(rows_, weights)),
      states_(rows_, weights, layout_),
      z_(part_between(rows_, weights, layout_)),
      reset_(part_between(rows_, weights, layout_)),
      projection_(rows_, weights, layout_),
      sums_(layout_.assign_offsets(weights.quantized ? rows_.count() : 0, projection_.width())),
      quantized_H_(
          layout_.assign_bytes(weights.quantized ? weights.quantized->R.bytes_of(rows_.count()) : 0)) {}

template <typename T, typename Real>
void DirectionRun<T, Real>::run(void* workspace) {
  auto* const memory = static_cast<Real*>(workspace);
  z_.place_in(memory);
  reset_.place_in(memory);
  projection_.place_in(memory);
  sums_.place_in(memory);
  quantized_H_.place_in(memory);
  states_.load(memory);
  const std::int64_t steps = rows_.steps();
  if (!projection_.projects_all_steps()) {
    if (steps == 1) step(0, {}, projection_.inputs_of(0, 1, rows_.active(0)));
    return states_.finish();
  }
  for (std::int64_t step = 0; step < steps;) {
    ProjectedSteps<Real> projected = projection_.project(step);
    for (; step < projected.end_step; ++step) {
      // Steps count once, however many threads take rows of them.
      RunContext& context = rows_.layer.context;
      rows_.places.first == 0 ? context.check_limits() : context.check_limits_uncounted();
      this->step(step, projected.take(rows_.active(step)), {});
    }
  }
  states_.finish();
}

template <typename T, typename Real>
void DirectionRun<T, Real>::step(std::int64_t step, Rows projected, ConstRows X) {
  const LayerRun& layer = rows_.layer;
  const std::int64_t rows = rows_.active(step);
  if (weights_.quantized) projected = add_quantized(step, rows, projected);
  kernels::CellStep<Real> cell_step{.rows = rows,
                                    .A = states_.factor(),
                                    .projected = {projected.data, projected.ld},
                                    .X = X,
                                    .H = states_.H(),
                                    .out = states_.next_H(step),
                                    .C = states_.C(),
                                    .z = z_,
                                    .reset = reset_};
  const bool descending = layer.descending == (step % 2 == 0);
  const std::int64_t parts = step_parts<Real>(weights_.blocks, rows);
  if (parts > 1 && is_short(rows)) {
    layer.trials[rows_.direction].step(
        [&](bool shared) { compute(cell_step, shared ? parts : 1, descending); });
  } else {
    compute(cell_step, parts, descending);
  }
  states_.advance(step, rows);
}

// All blocks of a step, each on up to `parts` threads.
template <typename T, typename Real>
void DirectionRun<T, Real>::compute(kernels::CellStep<Real>& step, std::int64_t parts, bool descending) {
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    const kernels::Cell<Real>& cell = cells_[i];
    if (cell.kind == kernels::CellKind::gru_candidate) step.A = {reset_.data, reset_.ld};
    const std::int64_t least_rows = parts == 1 ? step.rows : least_rows_alike(weights_.blocks[i]);
    each_share(*cell.R, step.rows, parts, least_rows, descending, [&](const Share& share) {
      if (share.rows == step.rows) return kernels::cell_step(cell, step, share.panels);
      kernels::cell_step(cell, step.part(share.first_row, share.rows), share.panels);
    });
    if (step.projected.data != nullptr) step.projected.data += cell.W->width();
  }
}

// projected + Ht-1*(R^T). The range is that of the rows that had a step before this one: a row that has just
// ended still counts.
template <typename T, typename Real>
typename DirectionRun<T, Real>::Rows DirectionRun<T, Real>::add_quantized(std::int64_t step,
                                                                          std::int64_t rows, Rows projected) {
  if constexpr (std::is_same_v<Real, float>) {
    const ConstRows H = states_.H();
    const std::int64_t seen = step == 0 ? rows_.count() : rows_.active(step - 1);
    weights_.quantized->R.multiply({.rows = rows,
                                    .A = H,
                                    .range = dynamic_range(H.data, seen * H.ld),
                                    .start = {projected.data, projected.ld},
                                    .to = sums_,
                                    .memory = quantized_H_.data});
  }
  return sums_;
}

// Whether a step takes some microseconds at most, so that what threads tell each other may be too much of it.
template <typename T, typename Real>
bool DirectionRun<T, Real>::is_short(std::int64_t rows) const {
  return 2 * rows * projection_.width() * rows_.layer.dims.hidden_size < tuning::operations_of_short_step;
}

template class DirectionRun<float, float>;
template class DirectionRun<double, double>;
template class DirectionRun<Float16, float>;
template class DirectionRun<BFloat16, float>;

}  // namespace grurun::engine::rnn
