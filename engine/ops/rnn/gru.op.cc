// GRU (1, 3, 7, 14, 22)
//
//   zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)
//   rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr)
//   ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh)     when linear_before_reset = 0
//   ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh)   when linear_before_reset != 0
//   Ht = (1 - zt) (.) ht + zt (.) Ht-1
//
// Defaults f = Sigmoid, g = Tanh. X [seq_length, batch_size, input_size], W [num_directions, 3*hidden_size,
// input_size], R [num_directions, 3*hidden_size, hidden_size], B [num_directions, 6*hidden_size] = Wb[zrh],
// Rb[zrh], sequence_lens [batch_size], initial_h [num_directions, batch_size, hidden_size]; outputs Y
// [seq_length, num_directions, batch_size, hidden_size], Y_h as initial_h. Versions 1 and 3 print Ht-1*R
// without the transpose, in the same shapes; they mean what 7 says. Version 1 has no linear_before_reset and
// requires Y_h; output_sequence ends with 3; layout begins with 14, bfloat16 with 22.
#include "engine/graph/op_registry.h"
#include "engine/ops/rnn/layer.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_gru();

namespace rnn {
namespace {

enum Gate { update_gate, reset_gate, hidden_gate, gate_count };
enum Function { f, g };
enum RecurrentBlock { update_and_reset_block, hidden_block };

struct GruOptions {
  bool linear_before_reset;
};

template <typename Real>
class GruCell final : public Cell<Real> {
 public:
  GruCell(const CellParts<Real>& parts, const GruOptions& options)
      : parts_(parts),
        options_(options),
        hidden_size_(parts.hidden_size),
        scratch_(dtype_of<Real>, {parts.batch_size, parts.hidden_size}) {}

  void step(std::int64_t rows, Real* projected, const States<Real>& states) override {
    Real* H = states[0];
    const kernels::Matrix<Real> previous{.data = H, .ld = hidden_size_};
    const std::int64_t width = gate_count * hidden_size_;

    // zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)
    // rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr)
    kernels::gemm_packed<Real>(rows, previous, parts_.weights.R[update_and_reset_block], projected, width,
                               kernels::Start::c_plus_bias);
    for (std::int64_t row = 0; row < rows; ++row) {
      activate(parts_.functions[f], parts_.clip, projected + row * width, 2 * hidden_size_);
    }
    if (options_.linear_before_reset) {
      add_reset_of_product(rows, previous, projected);
    } else {
      add_product_of_reset(rows, H, projected);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      Real* gates = projected + row * width;
      activate(parts_.functions[g], parts_.clip, gates + hidden_gate * hidden_size_, hidden_size_);
      blend(gates, H + row * hidden_size_);
    }
  }

 private:
  // Xt*(Wh^T) + Wbh, to which this adds rt (.) (Ht-1*(Rh^T) + Rbh)
  void add_reset_of_product(std::int64_t rows, const kernels::Matrix<Real>& previous, Real* projected) {
    Real* product = scratch_.template mutable_data<Real>();
    kernels::gemm_packed<Real>(rows, previous, parts_.weights.R[hidden_block], product, hidden_size_);
    for (std::int64_t row = 0; row < rows; ++row, product += hidden_size_) {
      Real* gates = projected + row * gate_count * hidden_size_;
      const Real* r = gates + reset_gate * hidden_size_;
      Real* h = gates + hidden_gate * hidden_size_;
      for (std::int64_t i = 0; i < hidden_size_; ++i) h[i] += r[i] * product[i];
    }
  }

  // Xt*(Wh^T) + Rbh + Wbh, to which this adds (rt (.) Ht-1)*(Rh^T)
  void add_product_of_reset(std::int64_t rows, const Real* H, Real* projected) {
    const std::int64_t width = gate_count * hidden_size_;
    Real* reset = scratch_.template mutable_data<Real>();
    for (std::int64_t row = 0; row < rows; ++row) {
      const Real* r = projected + row * width + reset_gate * hidden_size_;
      for (std::int64_t i = 0; i < hidden_size_; ++i) {
        reset[row * hidden_size_ + i] = r[i] * H[row * hidden_size_ + i];
      }
    }
    kernels::gemm_packed<Real>(rows, {.data = reset, .ld = hidden_size_}, parts_.weights.R[hidden_block],
                               projected + hidden_gate * hidden_size_, width, kernels::Start::c_plus_bias);
  }

  void blend(const Real* gates, Real* H) const {
    const Real* z = gates + update_gate * hidden_size_;
    const Real* h = gates + hidden_gate * hidden_size_;
    // Ht = (1 - zt) (.) ht + zt (.) Ht-1
    for (std::int64_t i = 0; i < hidden_size_; ++i) H[i] = (1 - z[i]) * h[i] + z[i] * H[i];
  }

  const CellParts<Real> parts_;
  const GruOptions options_;
  const std::int64_t hidden_size_;
  Tensor scratch_;  // [batch_size, hidden_size]
};

RunFunction prepare_gru(PrepareContext& node) {
  const int version = node.since_version();
  // Any value but 0 counts.
  const bool linear_before_reset = version >= 3 && node.int_attribute("linear_before_reset", 0) != 0;
  LayerForm form{.gates = gate_count,
                 .states = 1,
                 .default_activations = {"Sigmoid", "Tanh"},
                 .recurrent_blocks = {2, 1},
                 .own_bias_block = linear_before_reset ? hidden_block : -1};
  LayerAttributes attributes = read_layer_attributes(node, form);
  return layer_run_function<GruCell>(make_layer(node, std::move(form), std::move(attributes)),
                                     GruOptions{linear_before_reset});
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_gru() {
  return {{"", "GRU", {1, 3, 7, 14, 22}, rnn::prepare_gru}};
}

}  // namespace grurun::engine
