#include "engine/ops/rnn/weights.h"

#include "engine/ops/rnn/convert.h"
#include "tensor/element_types.h"

namespace grurun::engine::rnn {
namespace {

// The elements of a tensor as Real: its own buffer where that is its type, else a copy.
template <typename T, typename Real>
class Elements {
 public:
  explicit Elements(const Tensor* tensor) {
    if (tensor == nullptr) return;
    if constexpr (std::is_same_v<T, Real>) {
      data_ = tensor->data<T>();
    } else {
      copy_ = Tensor(dtype_of<Real>, tensor->shape());
      Real* copied = copy_.mutable_data<Real>();
      convert(tensor->data<T>(), tensor->size(), copied);
      data_ = copied;
    }
  }

  /// Slice `index` of those of `size` elements each; nullptr when there is no tensor.
  const Real* slice(std::int64_t index, std::int64_t size) const {
    return data_ == nullptr ? nullptr : data_ + index * size;
  }

 private:
  Tensor copy_;
  const Real* data_ = nullptr;
};

// B of one direction is [Wb, Rb], each [gates*hidden_size]. Both may be added to X W^T, but for a block whose
// Rb belongs to its own product.
template <typename Real>
struct Biases {
  std::vector<Real> input;      // empty: no B
  std::vector<Real> own_block;  // empty: none
};

template <typename Real>
Biases<Real> split_bias(const Real* B, std::int64_t hidden_size, const LayerForm& form) {
  Biases<Real> biases;
  if (B == nullptr) return biases;
  const std::int64_t rows = form.gates * hidden_size;
  biases.input.assign(B, B + rows);
  const Real* Rb = B + rows;
  std::int64_t row = 0;
  for (std::size_t block = 0; block < form.recurrent_blocks.size(); ++block) {
    const std::int64_t end = row + form.recurrent_blocks[block] * hidden_size;
    if (static_cast<int>(block) == form.own_bias_block) {
      biases.own_block.assign(Rb + row, Rb + end);
    } else {
      for (std::int64_t i = row; i < end; ++i) biases.input[static_cast<std::size_t>(i)] += Rb[i];
    }
    row = end;
  }
  return biases;
}

template <typename Real>
kernels::PackedB<Real> pack_transposed(const Real* rows, std::int64_t row_count, std::int64_t row_length,
                                       const std::vector<Real>& bias) {
  return kernels::pack_b<Real>(row_length, row_count, {.data = rows, .ld = row_length, .transposed = true},
                               bias.empty() ? nullptr : bias.data());
}

}  // namespace

template <typename T, typename Real>
LayerWeights<Real> pack_weights(const LayerInputs& inputs, const LayerForm& form) {
  const std::int64_t hidden_size = inputs.R->dim(2);
  const std::int64_t input_size = inputs.W->dim(2);
  const std::int64_t rows = form.gates * hidden_size;
  const Elements<T, Real> W(inputs.W), R(inputs.R), B(inputs.B), P(inputs.P);

  LayerWeights<Real> layer(static_cast<std::size_t>(inputs.W->dim(0)));
  for (std::size_t d = 0; d < layer.size(); ++d) {
    const auto index = static_cast<std::int64_t>(d);
    const Biases<Real> biases = split_bias(B.slice(index, 2 * rows), hidden_size, form);
    layer[d].W = pack_transposed(W.slice(index, rows * input_size), rows, input_size, biases.input);

    const Real* block_rows = R.slice(index, rows * hidden_size);
    for (std::size_t block = 0; block < form.recurrent_blocks.size(); ++block) {
      const std::int64_t count = form.recurrent_blocks[block] * hidden_size;
      const bool own_bias = static_cast<int>(block) == form.own_bias_block;
      layer[d].R.push_back(
          pack_transposed(block_rows, count, hidden_size, own_bias ? biases.own_block : std::vector<Real>{}));
      block_rows += count * hidden_size;
    }
    if (const Real* peepholes = P.slice(index, 3 * hidden_size)) {
      layer[d].P.assign(peepholes, peepholes + 3 * hidden_size);
    }
  }
  return layer;
}

template LayerWeights<float> pack_weights<float, float>(const LayerInputs&, const LayerForm&);
template LayerWeights<double> pack_weights<double, double>(const LayerInputs&, const LayerForm&);
template LayerWeights<float> pack_weights<Float16, float>(const LayerInputs&, const LayerForm&);
template LayerWeights<float> pack_weights<BFloat16, float>(const LayerInputs&, const LayerForm&);

}  // namespace grurun::engine::rnn
