// What RNN, GRU and LSTM are made of, as the text of every version states it alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grurun::opset {

struct RecurrentForm {
  const char* op_type;
  int gates;                            // W is [num_directions, gates*hidden_size, input_size]
  const char* gate_order;               // of W, R and B: "zrh"
  int functions;                        // activations of one direction
  bool has_cell;                        // LSTM: initial_c, P and Y_c
  std::array<const char*, 3> defaults;  // of these functions, f, g, h; nullptr: there are fewer

  /// The functions of one direction where activations is left out.
  std::vector<std::string> default_functions() const {
    return {defaults.begin(), defaults.begin() + functions};
  }
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

/// alpha or beta of a function; without a value it has the default of the operator of the function's name.
/// There is no operator Affine or ScaledTanh to take one from.
struct RecurrentParameter {
  bool used = false;
  std::optional<float> fallback = std::nullopt;
};

/// One of the eleven functions that the text lists.
struct RecurrentFunction {
  const char* name;
  RecurrentParameter alpha{}, beta{};

  bool has_defaults() const { return (!alpha.used || alpha.fallback) && (!beta.used || beta.fallback); }
};

/// Letter case does not count. nullptr for an unknown name.
const RecurrentFunction* find_recurrent_function(std::string_view name);
/// In the order of the text.
std::span<const RecurrentFunction> recurrent_functions();

/// "3*hidden_size", "hidden_size": how the text writes a multiple.
std::string times_hidden_size(int factor);

}  // namespace grurun::opset
