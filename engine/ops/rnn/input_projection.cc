#include "engine/ops/rnn/input_projection.h"

#include <algorithm>
#include <type_traits>

#include "engine/kernels/machine/parallel.h"
#include "engine/ops/rnn/convert.h"
#include "engine/ops/rnn/shares.h"
#include "tensor/dispatch.h"

namespace grurun::engine::rnn {
namespace {

template <typename Real>
std::int64_t width_of(const DirectionWeights<Real>& weights) {
  std::int64_t width = 0;
  for (const BlockWeights<Real>& block : weights.blocks) width += block.W.width();
  return width;
}

template <typename Real>
std::int64_t rows_at_once(const DirectionRows& rows, std::int64_t width) {
  std::int64_t steps = 1;
  if (rows.steps() > 1) {
    const std::int64_t fitting = tuning::projected_bytes / checked_mul(width, sizeof(Real));
    steps = std::clamp(fitting / rows.count(), std::int64_t{1}, rows.steps());
  }
  return checked_mul(steps, rows.count());
}

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
InputProjection<T, Real>::InputProjection(const DirectionRows& rows, const DirectionWeights<Real>& weights,
                                          WorkspaceLayout<Real>& layout)
    : rows_(rows),
      weights_(weights),
      width_(width_of(weights)),
      most_rows_(rows_at_once<Real>(rows, width_)),
      gathered_(layout.assign_offsets(in_step_order() ? 0 : most_rows_, rows.layer.dims.input_size)),
      projected_(layout.assign_offsets(projects_all_steps() ? most_rows_ : 0, width_)),
      quantized_(layout.assign_bytes(weights.quantized ? weights.quantized->W.bytes_of(most_rows_) : 0)) {}

template <typename T, typename Real>
void InputProjection<T, Real>::place_in(Real* workspace) {
  gathered_.place_in(workspace);
  projected_.place_in(workspace);
  quantized_.place_in(workspace);
}

template <typename T, typename Real>
ProjectedSteps<Real> InputProjection<T, Real>::project(std::int64_t first_step) {
  std::int64_t end_step = first_step;
  std::int64_t rows = 0;
  while (end_step < rows_.steps() && rows + rows_.active(end_step) <= most_rows_)
    rows += rows_.active(end_step++);
  const ConstRows X = inputs_of(first_step, end_step, rows);
  weights_.quantized ? multiply_quantized(rows, X) : multiply(rows, X);
  // Rows that were not gathered are in the order of time.
  const bool descending = rows_.reversed && in_step_order();
  const std::int64_t last_block = (end_step - first_step - 1) * rows_.count();
  return {end_step, {projected_.row(descending ? last_block : 0), width_}, descending};
}

template <typename T, typename Real>
void InputProjection<T, Real>::multiply(std::int64_t rows, ConstRows X) {
  const std::int64_t threads_of_step = step_parts<Real>(weights_.blocks, rows_.count());
  const auto multiply_by = [&](const kernels::GatePanels<Real>& W, Rows to) {
    const kernels::Projection<Real> projection{.rows = rows, .X = X, .W = &W, .to = to};
    const std::int64_t parts = projection_parts(W, rows, threads_of_step);
    each_share(W, rows, parts, kernels::least_rows_alike(W), false, [&](const Share& share) {
      kernels::project(projection.part(share.first_row, share.rows), share.panels);
    });
  };
  if (weights_.dense_W) {
    multiply_by(*weights_.dense_W, projected_);
    spread<Real>(rows_.layer.form.gates(), weights_.blocks.front().W, rows, projected_);
    return;
  }
  Rows to = projected_;
  for (const BlockWeights<Real>& block : weights_.blocks) {
    multiply_by(block.W, to);
    to.data += block.W.width();
  }
}

// The range is that of X as far as the longest row goes, whatever it holds behind the ends of others.
template <typename T, typename Real>
void InputProjection<T, Real>::multiply_quantized(std::int64_t rows, ConstRows X) {
  if constexpr (std::is_same_v<Real, float>) {
    if (!range_of_X_) {
      const float* all = rows_.layer.inputs[opset::input_X]->template data<float>();
      range_of_X_ = dynamic_range(all, rows_.steps() * rows_.layer.x.time);
    }
    weights_.quantized->W.multiply({.rows = rows,
                                    .A = X,
                                    .range = *range_of_X_,
                                    .start = {weights_.blocks.front().W.bias(), 0},
                                    .to = projected_,
                                    .memory = quantized_.data});
  }
}

// True when the rows of X lie in memory as the steps take them, forwards or backwards, in the type of the
// computation.
template <typename T, typename Real>
bool InputProjection<T, Real>::in_step_order() const {
  const std::int64_t batch_size = rows_.layer.dims.batch_size;
  return std::is_same_v<T, Real> && rows_.uniform() &&
         (rows_.steps() == 1 || batch_size == 1 ||
          (rows_.count() == batch_size && !rows_.layer.attributes.batch_first));
}

template <typename T, typename Real>
typename InputProjection<T, Real>::ConstRows InputProjection<T, Real>::inputs_of(std::int64_t first_step,
                                                                                 std::int64_t end_step,
                                                                                 std::int64_t rows) {
  const Dimensions& dims = rows_.layer.dims;
  if constexpr (std::is_same_v<T, Real>) {
    if (in_step_order()) {
      const std::int64_t first_time = rows_.reversed ? dims.seq_length - end_step : first_step;
      // A batch of one, or a single step, is in step order whatever the layout; rows are input_size apart
      // either way.
      return {rows_.X<T>(0, first_time), dims.input_size};
    }
  }
  // By the thread that multiplies them, where threads share rows.
  const std::int64_t parts = std::clamp<std::int64_t>(
      rows * dims.input_size / tuning::gathered_elements_of_thread, 1, kernels::threads_here());
  kernels::parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    gather(first_step, rows * begin / parts, rows * end / parts);
  });
  return {gathered_.data, gathered_.ld};
}

// Rows [begin, end) of those of the steps from first_step on.
template <typename T, typename Real>
void InputProjection<T, Real>::gather(std::int64_t first_step, std::int64_t begin, std::int64_t end) {
  for (std::int64_t step = first_step, first = 0; first < end; first += rows_.active(step++)) {
    const std::int64_t last = std::min(rows_.active(step), end - first);
    for (std::int64_t k = std::max<std::int64_t>(begin - first, 0); k < last; ++k)
      convert(rows_.X<T>(k, rows_.time(k, step)), rows_.layer.dims.input_size, gathered_.row(first + k));
  }
}

template class InputProjection<float, float>;
template class InputProjection<double, double>;
template class InputProjection<Float16, float>;
template class InputProjection<BFloat16, float>;

}  // namespace grurun::engine::rnn
