// LSTM (1, 7, 14, 22)
//
//   it = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Pi (.) Ct-1 + Wbi + Rbi)
//   ft = f(Xt*(Wf^T) + Ht-1*(Rf^T) + Pf (.) Ct-1 + Wbf + Rbf)
//   ct = g(Xt*(Wc^T) + Ht-1*(Rc^T) + Wbc + Rbc)
//   Ct = ft (.) Ct-1 + it (.) ct
//   ot = f(Xt*(Wo^T) + Ht-1*(Ro^T) + Po (.) Ct + Wbo + Rbo)
//   Ht = ot (.) h(Ct)
//
// Defaults f = Sigmoid, g = Tanh, h = Tanh. X [seq_length, batch_size, input_size], W [num_directions,
// 4*hidden_size, input_size], R [num_directions, 4*hidden_size, hidden_size], B [num_directions,
// 8*hidden_size] = Wb[iofc], Rb[iofc], sequence_lens [batch_size], initial_h and initial_c [num_directions,
// batch_size, hidden_size], P [num_directions, 3*hidden_size] = P[iof]; outputs Y [seq_length,
// num_directions, batch_size, hidden_size], Y_h and Y_c as initial_h. input_forget = 1 couples the gates: ft
// = 1 - it. Version 1 prints Ht-1*R without the transpose, in the same shapes; it means what 7 says.
// output_sequence is in version 1 only; layout begins with 14, bfloat16 with 22.
#include <algorithm>

#include "engine/graph/op_registry.h"
#include "engine/ops/rnn/layer.h"
#include "tensor/error.h"

namespace grurun::engine {

std::vector<OpRow> op_rows_lstm();

namespace rnn {
namespace {

enum Gate { input_gate, output_gate, forget_gate, cell_gate, gate_count };  // P's i, o, f are the first three
enum Function { f, g, h };

struct LstmOptions {
  bool input_forget;
};

template <typename Real>
class LstmCell final : public Cell<Real> {
 public:
  LstmCell(const CellParts<Real>& parts, const LstmOptions& options)
      : parts_(parts), options_(options), hidden_size_(parts.hidden_size) {}

  void step(std::int64_t rows, Real* projected, const States<Real>& states) override {
    const std::int64_t width = gate_count * hidden_size_;
    // Xt*(W^T) + Ht-1*(R^T) + Wb + Rb of all gates
    kernels::gemm_packed<Real>(rows, {.data = states[0], .ld = hidden_size_}, parts_.weights.R.front(),
                               projected, width, kernels::Start::c_plus_bias);
    for (std::int64_t row = 0; row < rows; ++row) {
      update(projected + row * width, states[0] + row * hidden_size_, states[1] + row * hidden_size_);
    }
  }

 private:
  // gates [4*hidden_size]: what the functions see but for the peepholes' terms.
  void update(Real* gates, Real* H, Real* C) const {
    Real* i = gates + input_gate * hidden_size_;
    Real* o = gates + output_gate * hidden_size_;
    Real* forget = gates + forget_gate * hidden_size_;
    Real* c = gates + cell_gate * hidden_size_;

    // it = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Pi (.) Ct-1 + Wbi + Rbi)
    add_peephole(input_gate, C, i);
    apply(f, i);
    if (options_.input_forget) {
      // ft = 1 - it
      for (std::int64_t k = 0; k < hidden_size_; ++k) forget[k] = 1 - i[k];
    } else {
      // ft = f(Xt*(Wf^T) + Ht-1*(Rf^T) + Pf (.) Ct-1 + Wbf + Rbf)
      add_peephole(forget_gate, C, forget);
      apply(f, forget);
    }
    // ct = g(Xt*(Wc^T) + Ht-1*(Rc^T) + Wbc + Rbc)
    apply(g, c);
    // Ct = ft (.) Ct-1 + it (.) ct
    for (std::int64_t k = 0; k < hidden_size_; ++k) C[k] = forget[k] * C[k] + i[k] * c[k];
    // ot = f(Xt*(Wo^T) + Ht-1*(Ro^T) + Po (.) Ct + Wbo + Rbo)
    add_peephole(output_gate, C, o);
    apply(f, o);
    // Ht = ot (.) h(Ct); the clip bounds what h sees, Ct itself is carried on as it is
    Real* activated = c;
    std::copy_n(C, hidden_size_, activated);
    apply(h, activated);
    for (std::int64_t k = 0; k < hidden_size_; ++k) H[k] = o[k] * activated[k];
  }

  void add_peephole(Gate gate, const Real* C, Real* to) const {
    if (parts_.weights.P.empty()) return;
    const Real* P = parts_.weights.P.data() + gate * hidden_size_;
    for (std::int64_t k = 0; k < hidden_size_; ++k) to[k] += P[k] * C[k];
  }

  void apply(Function function, Real* x) const {
    activate(parts_.functions[function], parts_.clip, x, hidden_size_);
  }

  const CellParts<Real> parts_;
  const LstmOptions options_;
  const std::int64_t hidden_size_;
};

RunFunction prepare_lstm(PrepareContext& node) {
  const std::int64_t input_forget = node.int_attribute("input_forget", 0);
  if (input_forget != 0 && input_forget != 1) {
    fail_invalid("attribute input_forget is {}; it must be 0 or 1", input_forget);
  }
  LayerForm form{.gates = gate_count,
                 .states = 2,
                 .default_activations = {"Sigmoid", "Tanh", "Tanh"},
                 .recurrent_blocks = {gate_count}};
  LayerAttributes attributes = read_layer_attributes(node, form);
  return layer_run_function<LstmCell>(make_layer(node, std::move(form), std::move(attributes)),
                                      LstmOptions{input_forget == 1});
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_lstm() {
  return {{"", "LSTM", {1, 7, 14, 22}, rnn::prepare_lstm}};
}

}  // namespace grurun::engine
