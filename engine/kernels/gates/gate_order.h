// Gates in the order of the standard, which is that of W, R and B.
#pragma once

namespace grurun::kernels {

enum GruGate { update_gate, reset_gate, hidden_gate, gru_gates };
enum LstmGate { input_gate, output_gate, forget_gate, cell_gate, lstm_gates };

}  // namespace grurun::kernels
