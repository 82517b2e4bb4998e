#include "engine/ops/rnn/recurrence.h"

#include <algorithm>
#include <type_traits>

#include "engine/ops/rnn/convert.h"

namespace grurun::engine::rnn {
namespace {

// What a projected chunk may take, so that it is still in a core's cache when its steps run.
constexpr std::int64_t chunk_bytes = 768 * 1024;

// Checked, since an X without elements may have any size in its other dimensions.
Strides x_strides(const Dimensions& dims, bool batch_first) {
  const std::int64_t size = dims.input_size;
  if (batch_first) return {.time = size, .row = checked_mul(dims.seq_length, size)};
  return {.time = checked_mul(dims.batch_size, size), .row = size};
}

Strides y_strides(const Dimensions& dims, bool batch_first) {
  const std::int64_t size = dims.hidden_size;
  if (batch_first) {
    const std::int64_t time = checked_mul(dims.num_directions, size);
    return {.time = time, .row = checked_mul(dims.seq_length, time), .direction = size};
  }
  const std::int64_t direction = checked_mul(dims.batch_size, size);
  return {.time = checked_mul(dims.num_directions, direction), .row = size, .direction = direction};
}

Strides state_strides(const Dimensions& dims, bool batch_first) {
  const std::int64_t size = dims.hidden_size;
  if (batch_first) return {.row = checked_mul(dims.num_directions, size), .direction = size};
  return {.row = size, .direction = checked_mul(dims.batch_size, size)};
}

}  // namespace

LayerOutputs make_outputs(RunContext& run, const LayerInputs& inputs, const LayerForm& form,
                          const Dimensions& dims, bool batch_first) {
  const auto [time, batch, input_size, hidden, directions] = dims;
  const Shape all =
      batch_first ? Shape{batch, time, directions, hidden} : Shape{time, directions, batch, hidden};
  const Shape last = batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  const DType dtype = inputs.X->dtype();
  LayerOutputs outputs;
  if (run.has_output(0)) outputs.Y = &run.output(0, dtype, all);
  for (int state = 0; state < form.states; ++state) {
    const auto index = static_cast<std::size_t>(state);
    if (run.has_output(index + 1)) outputs.last[index] = &run.output(index + 1, dtype, last);
  }
  return outputs;
}

template <typename T, typename Real>
Recurrence<T, Real>::Recurrence(RunContext& run, const LayerInputs& inputs, const LayerOutputs& outputs,
                                const LayerForm& form, const Dimensions& dims,
                                const LayerAttributes& attributes)
    : run_(run),
      inputs_(inputs),
      outputs_(outputs),
      dims_(dims),
      attributes_(attributes),
      schedule_(inputs.sequence_lens, dims),
      x_(x_strides(dims, attributes.batch_first)),
      y_(y_strides(dims, attributes.batch_first)),
      state_(state_strides(dims, attributes.batch_first)) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(form.states); ++i) {
    storage_[i] = Tensor(dtype_of<Real>, {dims.batch_size, dims.hidden_size});
    states_[i] = storage_[i].template mutable_data<Real>();
  }
}

template <typename T, typename Real>
void Recurrence<T, Real>::run_direction(std::int64_t direction, const kernels::PackedB<Real>& W,
                                        Cell<Real>& cell) {
  const bool reversed = attributes_.reversed(direction);
  allocate_chunk(W.N());
  load_state(0, inputs_.initial_h, direction);
  load_state(1, inputs_.initial_c, direction);
  for (std::int64_t step = 0; step < schedule_.steps();) {
    const Chunk chunk = project(step, reversed, W);
    Real* block = chunk.block;
    for (; step < chunk.end_step; ++step) {
      run_.check_limits();
      const std::int64_t rows = schedule_.active(step);
      cell.step(rows, block, states_);
      write_step(direction, step, rows, reversed);
      block += (chunk.descending ? -rows : rows) * W.N();
    }
  }
  clear_tails(direction);
  store_state(0, direction);
  store_state(1, direction);
}

// True when the rows of X lie in memory as the steps take them, forwards or backwards, in the type of the
// computation.
template <typename T, typename Real>
bool Recurrence<T, Real>::in_step_order() const {
  return std::is_same_v<T, Real> && schedule_.uniform() &&
         (!attributes_.batch_first || dims_.batch_size == 1);
}

template <typename T, typename Real>
void Recurrence<T, Real>::allocate_chunk(std::int64_t columns) {
  if (chunk_rows_ != 0) return;  // both directions need the same
  const std::int64_t fitting = chunk_bytes / checked_mul(columns, sizeof(Real));
  const std::int64_t steps =
      std::clamp(fitting / dims_.batch_size, std::int64_t{1}, std::max<std::int64_t>(schedule_.steps(), 1));
  chunk_rows_ = checked_mul(steps, dims_.batch_size);
  projected_ = Tensor(dtype_of<Real>, {chunk_rows_, columns});
  if (!in_step_order()) gathered_ = Tensor(dtype_of<Real>, {chunk_rows_, dims_.input_size});
}

template <typename T, typename Real>
typename Recurrence<T, Real>::Chunk Recurrence<T, Real>::project(std::int64_t first_step, bool reversed,
                                                                 const kernels::PackedB<Real>& W) {
  std::int64_t end_step = first_step;
  std::int64_t rows = 0;
  while (end_step < schedule_.steps() && rows + schedule_.active(end_step) <= chunk_rows_) {
    rows += schedule_.active(end_step++);
  }
  Real* projected = projected_.template mutable_data<Real>();
  if constexpr (std::is_same_v<T, Real>) {
    if (in_step_order()) {
      const std::int64_t first_time = reversed ? dims_.seq_length - end_step : first_step;
      const Real* X = inputs_.X->template data<Real>() + first_time * x_.time;
      // A batch of one is in step order whatever the layout; its rows are input_size apart either way.
      kernels::gemm_packed<Real>(rows, {.data = X, .ld = dims_.input_size}, W, projected, W.N());
      const std::int64_t last_block = (end_step - first_step - 1) * dims_.batch_size * W.N();
      return {end_step, reversed ? projected + last_block : projected, reversed};
    }
  }
  gather(first_step, end_step, reversed);
  kernels::gemm_packed<Real>(rows, {.data = gathered_.template data<Real>(), .ld = dims_.input_size}, W,
                             projected, W.N());
  return {end_step, projected, false};
}

template <typename T, typename Real>
void Recurrence<T, Real>::gather(std::int64_t first_step, std::int64_t end_step, bool reversed) {
  const T* X = inputs_.X->template data<T>();
  Real* to = gathered_.template mutable_data<Real>();
  for (std::int64_t step = first_step; step < end_step; ++step) {
    const std::int64_t rows = schedule_.active(step);
    for (std::int64_t k = 0; k < rows; ++k, to += dims_.input_size) {
      const std::int64_t time = schedule_.time(k, step, reversed);
      convert(X + time * x_.time + schedule_.row(k) * x_.row, dims_.input_size, to);
    }
  }
}

template <typename T, typename Real>
void Recurrence<T, Real>::load_state(std::size_t index, const Tensor* initial, std::int64_t direction) {
  Real* to = states_[index];
  if (to == nullptr) return;
  if (initial == nullptr) {
    std::fill_n(to, dims_.batch_size * dims_.hidden_size, Real{0});
    return;
  }
  const T* from = initial->data<T>() + direction * state_.direction;
  for (std::int64_t k = 0; k < dims_.batch_size; ++k) {
    convert(from + schedule_.row(k) * state_.row, dims_.hidden_size, to + k * dims_.hidden_size);
  }
}

template <typename T, typename Real>
void Recurrence<T, Real>::write_step(std::int64_t direction, std::int64_t step, std::int64_t rows,
                                     bool reversed) {
  if (outputs_.Y == nullptr) return;
  T* Y = outputs_.Y->template mutable_data<T>() + direction * y_.direction;
  for (std::int64_t k = 0; k < rows; ++k) {
    T* to = Y + schedule_.time(k, step, reversed) * y_.time + schedule_.row(k) * y_.row;
    convert(states_[0] + k * dims_.hidden_size, dims_.hidden_size, to);
  }
}

template <typename T, typename Real>
void Recurrence<T, Real>::clear_tails(std::int64_t direction) {
  if (outputs_.Y == nullptr) return;
  T* Y = outputs_.Y->template mutable_data<T>() + direction * y_.direction;
  for (std::int64_t k = 0; k < dims_.batch_size; ++k) {
    for (std::int64_t time = schedule_.length(k); time < dims_.seq_length; ++time) {
      std::fill_n(Y + time * y_.time + schedule_.row(k) * y_.row, dims_.hidden_size, T{});
    }
  }
}

template <typename T, typename Real>
void Recurrence<T, Real>::store_state(std::size_t index, std::int64_t direction) {
  if (outputs_.last[index] == nullptr) return;
  T* last = outputs_.last[index]->template mutable_data<T>() + direction * state_.direction;
  for (std::int64_t k = 0; k < dims_.batch_size; ++k) {
    T* to = last + schedule_.row(k) * state_.row;
    if (schedule_.length(k) == 0) {
      std::fill_n(to, dims_.hidden_size, T{});
    } else {
      convert(states_[index] + k * dims_.hidden_size, dims_.hidden_size, to);
    }
  }
}

template class Recurrence<float, float>;
template class Recurrence<double, double>;
template class Recurrence<Float16, float>;
template class Recurrence<BFloat16, float>;

}  // namespace grurun::engine::rnn
