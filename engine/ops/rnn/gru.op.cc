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

namespace rnn {
namespace {

RunFunction prepare_gru(PrepareContext& node) {
  const int version = node.since_version();
  // Any value but 0 counts.
  const bool linear_before_reset = version >= 3 && node.int_attribute("linear_before_reset", 0) != 0;
  LayerForm form{.of = opset::find_recurrent_form("GRU", ""),
                 .blocks = {{kernels::gru_gates, kernels::CellKind::gru_reset_after}},
                 .own_bias_gate = kernels::hidden_gate};
  if (!linear_before_reset) {
    form.blocks = {{2, kernels::CellKind::gru_update_and_reset}, {1, kernels::CellKind::gru_candidate}};
    form.own_bias_gate = -1;
  }
  return layer_run_function(node, std::move(form));
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_gru() {
  return {{"", "GRU", {1, 3, 7, 14, 22}, rnn::prepare_gru}};
}

}  // namespace grurun::engine
