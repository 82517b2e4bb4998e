#include "engine/ops/rnn/states.h"

#include <algorithm>

#include "tensor/dispatch.h"

namespace grurun::engine::rnn {
namespace {

// Of an output from an element on; nullptr: not wanted.
template <typename T>
T* elements_of(Tensor* output, std::int64_t begin) {
  return output == nullptr ? nullptr : output->mutable_data<T>() + begin;
}

}  // namespace

template <typename T, typename Real>
States<T, Real>::States(const DirectionRows& rows, const DirectionWeights<Real>& weights,
                        WorkspaceLayout<Real>& layout)
    : rows_(rows),
      weights_(weights),
      Y_(elements_of<T>(rows.layer.outputs.Y, rows.direction * rows.layer.y.direction)),
      H_in_Y_(std::is_same_v<T, Real> && Y_ != nullptr && rows.uniform()),
      buffers_{layout.assign_offsets(rows.count(), rows.layer.dims.hidden_size),
               layout.assign_offsets(H_in_Y_ ? 0 : rows.count(), rows.layer.dims.hidden_size)},
      C_(layout.assign_offsets(rows.layer.form.states() > 1 ? rows.count() : 0,
                               weights.blocks.front().R.padded_size())) {}

template <typename T, typename Real>
void States<T, Real>::load(Real* workspace) {
  for (Part<Real>* part : {&buffers_[0], &buffers_[1], &C_}) part->place_in(workspace);
  H_ = initial_H();
  is_zero_ = initial_state_is_zero();
  if (rows_.layer.form.states() == 1) return;
  std::fill_n(C_.data, rows_.count() * C_.ld, Real{0});
  load_state(rows_.layer.inputs[opset::input_initial_c], C_);
}

// As it is where its elements and the order of its rows are those of the states.
template <typename T, typename Real>
typename States<T, Real>::ConstRows States<T, Real>::initial_H() {
  const Tensor* initial = rows_.layer.inputs[opset::input_initial_h];
  if constexpr (std::is_same_v<T, Real>) {
    if (initial != nullptr && rows_.uniform() && !weights_.quantized)
      return {initial_rows(*initial) + rows_.offset_in_state(0), rows_.layer.state.row};
  }
  load_state(initial, buffers_[0]);
  return {buffers_[0].data, buffers_[0].ld};
}

template <typename T, typename Real>
void States<T, Real>::load_state(const Tensor* initial, Rows to) {
  if (initial == nullptr) {
    std::fill_n(to.data, rows_.count() * to.ld, Real{0});
    return;
  }
  const T* from = initial_rows(*initial);
  for (std::int64_t k = 0; k < rows_.count(); ++k)
    convert(from + rows_.offset_in_state(k), rows_.layer.dims.hidden_size, to.row(k));
}

// Whether the first step needs no product with R, which is much of a short sequence.
template <typename T, typename Real>
bool States<T, Real>::initial_state_is_zero() const {
  if (weights_.quantized) return false;
  const auto finite = [](const BlockWeights<Real>& block) { return block.R.finite(); };
  if (!std::ranges::all_of(weights_.blocks, finite)) return false;
  if (rows_.layer.inputs[opset::input_initial_h] == nullptr) return true;
  const auto is_zero = [](Real h) { return h == 0; };
  for (std::int64_t k = 0; k < rows_.count(); ++k) {
    if (!std::all_of(H_.row(k), H_.row(k) + rows_.layer.dims.hidden_size, is_zero)) return false;
  }
  return true;
}

template <typename T, typename Real>
void States<T, Real>::write_Y(std::int64_t step, std::int64_t rows) {
  if (Y_ == nullptr) return;
  for (std::int64_t k = 0; k < rows; ++k) convert(H_.row(k), rows_.layer.dims.hidden_size, Y_of(k, step));
}

template <typename T, typename Real>
void States<T, Real>::finish() {
  clear_tails();
  store_last(0);
  store_last(1);
}

template <typename T, typename Real>
void States<T, Real>::clear_tails() {
  if (Y_ == nullptr || rows_.uniform()) return;
  const Dimensions& dims = rows_.layer.dims;
  for (std::int64_t k = 0; k < rows_.count(); ++k) {
    for (std::int64_t time = rows_.length(k); time < dims.seq_length; ++time)
      std::fill_n(Y_ + rows_.offset_in_Y(k, time), dims.hidden_size, T{});
  }
}

// Y_h (0) or Y_c (1): the state after a row's last step, 0 for a row without steps.
template <typename T, typename Real>
void States<T, Real>::store_last(std::size_t state) {
  const std::int64_t hidden_size = rows_.layer.dims.hidden_size;
  T* last = elements_of<T>(rows_.layer.outputs.last[state], rows_.direction * rows_.layer.state.direction);
  if (last == nullptr) return;
  for (std::int64_t k = 0; k < rows_.count(); ++k) {
    T* to = last + rows_.offset_in_state(k);
    if (rows_.length(k) == 0) {
      std::fill_n(to, hidden_size, T{});
    } else {
      const Rows from = state == 0 ? next_H(rows_.length(k) - 1) : C_;
      convert<Real, T>(from.row(k), hidden_size, to);
    }
  }
}

template class States<float, float>;
template class States<double, double>;
template class States<Float16, float>;
template class States<BFloat16, float>;

}  // namespace grurun::engine::rnn
