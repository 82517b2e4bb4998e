// RNN, GRU and LSTM in double precision, straight from the equations of the operator pages: scalar loops, no
// shared code with the engine. It is what the engine's results are compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace oracle {

/// A layer with its parameters as the standard lays them out. Empty vectors are omitted inputs or attributes.
struct Layer {
  std::string op;  // "RNN", "GRU", "LSTM"
  int seq_length = 0, batch_size = 0, input_size = 0, hidden_size = 0;

  std::string direction = "forward";
  int layout = 0;
  bool linear_before_reset = false;
  bool input_forget = false;
  std::optional<float> clip;
  std::vector<std::string> activations;  // empty: the defaults
  std::vector<float> activation_alpha, activation_beta;

  std::vector<double> X, W, R, B, initial_h, initial_c, P;
  std::vector<int> sequence_lens;
  bool has_sequence_lens = false;

  int directions() const { return direction == "bidirectional" ? 2 : 1; }
  int gates() const { return op == "GRU" ? 3 : op == "LSTM" ? 4 : 1; }
};

struct Result {
  std::vector<double> Y, Y_h, Y_c;  // in the layout of the layer
  /// How near the argument of a function came to a jump of it (ThresholdedRelu at alpha): a result this near
  /// may rightly fall on either side in lower precision.
  double nearest_jump;
};

Result compute(const Layer& layer);

}  // namespace oracle
