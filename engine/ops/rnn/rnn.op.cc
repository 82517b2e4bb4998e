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
#include "engine/graph/op_registry.h"
#include "engine/ops/rnn/layer.h"

namespace grurun::engine {

namespace rnn {
namespace {

RunFunction prepare_rnn(PrepareContext& node) {
  return layer_run_function(
      node, {.of = opset::find_recurrent_form("RNN", ""), .blocks = {{1, kernels::CellKind::rnn}}});
}

}  // namespace
}  // namespace rnn

std::vector<OpRow> op_rows_rnn() {
  return {{"", "RNN", {1, 7, 14, 22}, rnn::prepare_rnn}};
}

}  // namespace grurun::engine
