// What RNN, GRU and LSTM are made of, as the text of every version states it alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace grurun::opset {

struct RecurrentForm {
  const char* op_type;
  int gates;               // W is [num_directions, gates*hidden_size, input_size]
  const char* gate_order;  // of W, R and B: "zrh"
  int functions;           // activations of one direction
  bool has_cell;           // LSTM: initial_c, P and Y_c
};

/// nullptr for any other operator.
const RecurrentForm* find_recurrent_form(std::string_view op_type, std::string_view domain);
std::span<const RecurrentForm> recurrent_forms();

/// Positions of inputs and outputs, the same in every version.
enum RecurrentInput {
  input_X,
  input_W,
  input_R,
  input_B,
  input_sequence_lens,
  input_initial_h,
  input_initial_c,
  input_P
};
enum RecurrentOutput { output_Y, output_Y_h, output_Y_c };

/// "X", "W", ...; the name in the text.
const char* recurrent_input_name(std::size_t index);
const char* recurrent_output_name(std::size_t index);

/// One of the eleven functions that the text lists.
struct RecurrentFunction {
  const char* name;
  bool uses_alpha;
  bool uses_beta;
  bool has_defaults;  // those of the operator of that name; there is none for Affine and ScaledTanh
};

/// Letter case does not count. nullptr for an unknown name.
const RecurrentFunction* find_recurrent_function(std::string_view name);
std::span<const RecurrentFunction> recurrent_functions();

/// "3*hidden_size", "hidden_size": how the text writes a multiple.
std::string times_hidden_size(int factor);

}  // namespace grurun::opset
