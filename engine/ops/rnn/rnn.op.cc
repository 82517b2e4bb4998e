// RNN (1, 7, 14, 22)
//
//   Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)
//
// Default f = Tanh. X [seq_length, batch_size, input_size], W [num_directions, hidden_size, input_size],
// R [num_directions, hidden_size, hidden_size], B [num_directions, 2*hidden_size] = Wbi, Rbi, sequence_lens
// [batch_size], initial_h [num_directions, batch_size, hidden_size]; outputs Y [seq_length, num_directions,
// batch_size, hidden_size], Y_h as initial_h. Version 1 prints Ht-1*Ri without the transpose, in the same
// shapes; it means what 7 says. output_sequence is in version 1 only; layout begins with 14, bfloat16
// with 22.
#include <algorithm>

#include "engine/graph/op_registry.h"
#include "engine/ops/rnn/layer.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_rnn();

namespace rnn {
namespace {

struct RnnOptions {};

template <typename Real>
class RnnCell final : public Cell<Real> {
 public:
  RnnCell(const CellParts<Real>& parts, const RnnOptions&) : parts_(parts) {}

  void step(std::int64_t rows, Real* projected, const States<Real>& states) override {
    Real* H = states[0];
    const std::int64_t hidden_size = parts_.hidden_size;
    // Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)
    kernels::gemm_packed<Real>(rows, {.data = H, .ld = hidden_size}, parts_.weights.R.front(), projected,
                               hidden_size, kernels::Start::c_plus_bias);
    activate(parts_.functions.front(), parts_.clip, projected, rows * hidden_size);
    std::copy_n(projected, rows * hidden_size, H);
  }

 private:
  const CellParts<Real> parts_;
};

RunFunction prepare_rnn(PrepareContext& node) {
  LayerForm form{.gates = 1, .states = 1, .default_activations = {"Tanh"}, .recurrent_blocks = {1}};
  LayerAttributes attributes = read_layer_attributes(node, form);
  return layer_run_function<RnnCell>(make_layer(node, std::move(form), std::move(attributes)), RnnOptions{});
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_rnn() {
  return {{"", "RNN", {1, 7, 14, 22}, rnn::prepare_rnn}};
}

}  // namespace grurun::engine
