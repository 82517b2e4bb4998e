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
//
// LSTM of domain openvino (22), made by the reader of OpenVINO IR: LSTM-22, but clip does not bound what h
// sees.
#include "engine/graph/op_registry.h"
#include "engine/ops/rnn/layer.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "tensor/error.h"

namespace grurun::engine {

namespace rnn {
namespace {

RunFunction prepare_lstm(PrepareContext& node) {
  const bool of_openvino = node.domain() == onnx_io::openvino_domain;
  return layer_run_function(node, lstm_form(node, *opset::find_recurrent_form("LSTM", ""), !of_openvino));
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_lstm() {
  return {{"", "LSTM", {1, 7, 14, 22}, rnn::prepare_lstm},
          {onnx_io::openvino_domain, "LSTM", {onnx_io::openvino_opset}, rnn::prepare_lstm}};
}

}  // namespace grurun::engine
