// DynamicQuantizeLSTM (com.microsoft 1): the LSTM of ONNX whose products are those of 8-bit integers.
//
//   q(A) * w = A_scale * w_scale * ((quantized(A) - A_zero_point) * (w - w_zero_point))
//   it, ot, ft, ct, Ct, Ht as in LSTM-22, with q(Xt) * W for Xt*(W^T) and q(Ht-1) * R for Ht-1*(R^T)
//
// A is quantized to uint8 as DynamicQuantizeLinear does it. X [seq_length, batch_size, input_size], W
// [num_directions, input_size, 4*hidden_size], R [num_directions, hidden_size, 4*hidden_size], gates in the
// order i, o, f, c; B, sequence_lens, initial_h, initial_c, P and the outputs as LSTM has them; W_scale,
// W_zero_point, R_scale, R_zero_point [num_directions] or [num_directions, 4*hidden_size]. float32 only,
// weights int8 or uint8.
//
// The operator's page leaves open what is quantized together. Here it is what onnxruntime does with one
// thread: X as far as the longest row goes, whatever it holds beyond the others, and Ht-1 of the whole batch.
// The clip bounds what the functions of the gates see and not the argument of h, as there.
#include "engine/graph/op_registry.h"
#include "engine/ops/rnn/layer.h"

namespace grurun::engine {

namespace rnn {
namespace {

RunFunction prepare_dynamic_quantize_lstm(PrepareContext& node) {
  return layer_run_function(node, lstm_form(node, opset::quantized_lstm_form(), false));
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_dynamic_quantize_lstm() {
  return {{"com.microsoft", "DynamicQuantizeLSTM", {1}, rnn::prepare_dynamic_quantize_lstm}};
}

}  // namespace grurun::engine
