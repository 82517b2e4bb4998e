#include "engine/ops/rnn/weights.h"

#include <algorithm>
#include <type_traits>

#include "engine/kernels/machine/tuning.h"
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

// B of one direction is [Wb, Rb], each [gates*hidden_size]. Both may be added to X W^T, but for the gate
// whose Rb belongs to its own product.
template <typename Real>
struct Biases {
  std::vector<Real> input;      // empty: no B
  std::vector<Real> recurrent;  // empty: none
};

template <typename Real>
Biases<Real> split_bias(const Real* B, std::int64_t hidden_size, const LayerForm& form) {
  Biases<Real> biases;
  if (B == nullptr) return biases;
  const std::int64_t rows = form.gates() * hidden_size;
  biases.input.assign(B, B + rows);
  const Real* Rb = B + rows;
  const std::int64_t own_begin = form.own_bias_gate < 0 ? rows : form.own_bias_gate * hidden_size;
  const std::int64_t own_end = form.own_bias_gate < 0 ? rows : own_begin + hidden_size;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (i < own_begin || i >= own_end) biases.input[static_cast<std::size_t>(i)] += Rb[i];
  }
  if (own_begin < own_end) {
    biases.recurrent.assign(static_cast<std::size_t>(rows), Real{0});
    std::copy(Rb + own_begin, Rb + own_end, biases.recurrent.begin() + own_begin);
  }
  return biases;
}

template <typename Real>
const Real* from_row(const std::vector<Real>& bias, std::int64_t row) {
  return bias.empty() ? nullptr : bias.data() + row;
}

// P [3, hidden_size], each gate padded to `padded`.
template <typename Real>
std::vector<Real> pad_peepholes(const Real* P, std::int64_t hidden_size, std::int64_t padded) {
  std::vector<Real> out(static_cast<std::size_t>(3 * padded), Real{0});
  for (std::int64_t gate = 0; gate < 3; ++gate) {
    std::copy_n(P + gate * hidden_size, hidden_size, out.begin() + gate * padded);
  }
  return out;
}

// True where products with W without the padding between gates, and moving their results to where they
// belong, is less work. Results move within their row, which a single panel makes easy.
template <typename Real>
bool wastes_on_padding(const std::vector<BlockWeights<Real>>& blocks) {
  constexpr std::int64_t lanes = kernels::gate_lanes<Real>;
  std::int64_t columns = 0, width = 0;
  for (const BlockWeights<Real>& block : blocks) {
    if (block.W.panels() != 1 || block.W.K() < kernels::tuning::dense_W_least_K) return false;
    columns += block.W.gates() * block.W.hidden_size();
    width += block.W.width();
  }
  const std::int64_t dense = (columns + lanes - 1) / lanes * lanes;
  constexpr kernels::tuning::Ratio ratio = kernels::tuning::dense_W_columns;
  return ratio.whole * dense <= ratio.part * width;
}

struct Sizes {
  std::int64_t num_directions, hidden_size;
  std::int64_t K_of_W, K_of_R;  // 0 where there is no such tensor
};

template <typename T, typename Real>
LayerWeights<Real> pack(const LayerInputs& inputs, const LayerForm& form, const Sizes& sizes) {
  const std::int64_t hidden_size = sizes.hidden_size;
  const std::int64_t rows = form.gates() * hidden_size;
  const Elements<T, Real> W(inputs[opset::input_W]), R(inputs[opset::input_R]), B(inputs[opset::input_B]),
      P(inputs[opset::input_P]);

  LayerWeights<Real> layer(static_cast<std::size_t>(sizes.num_directions));
  for (std::size_t d = 0; d < layer.size(); ++d) {
    const auto index = static_cast<std::int64_t>(d);
    const Biases<Real> biases = split_bias(B.slice(index, 2 * rows), hidden_size, form);
    const Real* W_rows = W.slice(index, rows * sizes.K_of_W);
    const Real* R_rows = R.slice(index, rows * sizes.K_of_R);
    std::int64_t row = 0;
    for (const RecurrentBlock& block : form.blocks) {
      layer[d].blocks.push_back(
          {kernels::pack_gates<Real>(block.gates, hidden_size, sizes.K_of_W, W_rows + row * sizes.K_of_W,
                                     from_row(biases.input, row)),
           kernels::pack_gates<Real>(block.gates, hidden_size, sizes.K_of_R, R_rows + row * sizes.K_of_R,
                                     from_row(biases.recurrent, row))});
      row += block.gates * hidden_size;
    }
    if (wastes_on_padding(layer[d].blocks))
      layer[d].dense_W = kernels::pack_gates<Real>(1, rows, sizes.K_of_W, W_rows, from_row(biases.input, 0));
    if (const Real* peepholes = P.slice(index, 3 * hidden_size)) {
      layer[d].P = pad_peepholes(peepholes, hidden_size, layer[d].blocks.front().R.padded_size());
    }
  }
  return layer;
}

// B and P as floats, in blocks whose W and R have no rows (K = 0): those are 8-bit.
LayerWeights<float> pack_quantized(const LayerInputs& inputs, const LayerForm& form) {
  LayerInputs floats = inputs;
  floats[opset::input_W] = floats[opset::input_R] = nullptr;
  const Tensor& R = *inputs[opset::input_R];
  LayerWeights<float> layer = pack<float, float>(floats, form, {R.dim(0), R.dim(1), 0, 0});
  for (std::size_t d = 0; d < layer.size(); ++d) {
    const auto gates = [&](std::size_t which, std::size_t scale) {
      return QuantizedWeights(*inputs[which], *inputs[scale], *inputs[scale + 1],
                              static_cast<std::int64_t>(d), layer[d].blocks.front().R);
    };
    layer[d].quantized.emplace(QuantizedGates{gates(opset::input_W, opset::input_W_scale),
                                              gates(opset::input_R, opset::input_R_scale)});
  }
  return layer;
}

}  // namespace

template <typename T, typename Real>
LayerWeights<Real> pack_weights(const LayerInputs& inputs, const LayerForm& form) {
  if constexpr (std::is_same_v<T, float>) {
    if (form.of->quantized) return pack_quantized(inputs, form);
  }
  const Shape& W = inputs[opset::input_W]->shape();
  const std::int64_t hidden_size = inputs[opset::input_R]->dim(2);
  return pack<T, Real>(inputs, form, {W[0], hidden_size, W[2], hidden_size});
}

template LayerWeights<float> pack_weights<float, float>(const LayerInputs&, const LayerForm&);
template LayerWeights<double> pack_weights<double, double>(const LayerInputs&, const LayerForm&);
template LayerWeights<float> pack_weights<Float16, float>(const LayerInputs&, const LayerForm&);
template LayerWeights<float> pack_weights<BFloat16, float>(const LayerInputs&, const LayerForm&);

}  // namespace grurun::engine::rnn
