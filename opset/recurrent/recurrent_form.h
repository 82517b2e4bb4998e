// What RNN, GRU and LSTM are made of, as the text of every version states it alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace grurun::opset {

struct RecurrentForm {
  const char* op_type;
  int gates;                            // W is [num_directions, gates*hidden_size, input_size]
  const char* gate_order;               // of W, R and B: "zrh"
  int functions;                        // activations of one direction
  bool has_cell;                        // LSTM: initial_c, P and Y_c
  std::array<const char*, 3> defaults;  // of these functions, f, g, h; nullptr: there are fewer
  bool quantized = false;               // W and R are of 8 bits, transposed, with scales and zero points

  /// The functions of one direction where activations is left out.
  std::vector<std::string> default_functions() const {
    return {defaults.begin(), defaults.begin() + functions};
  }
};

/// nullptr for any other operator.
const RecurrentForm* find_recurrent_form(std::string_view op_type, std::string_view domain);
std::span<const RecurrentForm> recurrent_forms();
/// LSTM as DynamicQuantizeLSTM of com.microsoft has it. Source: onnxruntime's page of the operator.
const RecurrentForm& quantized_lstm_form();

/// The form of GRU, RNN or LSTM, and of what added schemas have of them: DynamicQuantizeLSTM, OpenVINO's
/// LSTM.
const RecurrentForm* find_layer_form(std::string_view op_type, std::string_view domain);

/// Positions of inputs and outputs, the same in every version; the last four are DynamicQuantizeLSTM's.
enum RecurrentInput {
  input_X,
  input_W,
  input_R,
  input_B,
  input_sequence_lens,
  input_initial_h,
  input_initial_c,
  input_P,
  input_W_scale,
  input_W_zero_point,
  input_R_scale,
  input_R_zero_point
};
constexpr std::size_t recurrent_inputs = 12;
enum RecurrentOutput { output_Y, output_Y_h, output_Y_c };

/// "X", "W", ...; the name in the text.
const char* recurrent_input_name(std::size_t index);
const char* recurrent_output_name(std::size_t index);

/// What a dimension is a multiple of.
enum class RecurrentSize { num_directions, seq_length, batch_size, input_size, hidden_size };

struct RecurrentDim {
  RecurrentSize size{};
  int factor = 1;

  /// "batch_size", "3*hidden_size": as the text writes it.
  std::string text() const;
};

/// A list of at most three, in place, since layers look at them in every run.
class RecurrentDims {
 public:
  RecurrentDims() = default;
  RecurrentDims(std::initializer_list<RecurrentDim> dims) : size_(dims.size()) {
    std::ranges::copy(dims, dims_.begin());
  }

  std::size_t size() const { return size_; }
  const RecurrentDim* begin() const { return dims_.data(); }
  const RecurrentDim* end() const { return dims_.data() + size_; }
  const RecurrentDim& operator[](std::size_t i) const { return dims_[i]; }

 private:
  std::size_t size_ = 0;
  std::array<RecurrentDim, 3> dims_{};
};

/// The shape that the text states for an input, batch_first under layout 1. W [num_directions,
/// gates*hidden_size, input_size] and R [num_directions, gates*hidden_size, hidden_size], if quantized with
/// their last two axes swapped; B [num_directions, 2*gates*hidden_size], P [num_directions, 3*hidden_size].
/// Scales and zero points [num_directions, 4*hidden_size]; they may be [num_directions] as well.
RecurrentDims recurrent_input_dims(const RecurrentForm& form, std::size_t input, bool batch_first);

/// The member of that name.
template <typename Sizes>
auto& size_of(Sizes& sizes, RecurrentSize size) {
  using S = std::remove_const_t<Sizes>;
  static constexpr std::array members = {&S::num_directions, &S::seq_length, &S::batch_size, &S::input_size,
                                         &S::hidden_size};
  return sizes.*members[static_cast<std::size_t>(size)];
}

/// Y [seq_length, num_directions, batch_size, hidden_size], Y_h and Y_c [num_directions, batch_size,
/// hidden_size], or under layout 1 [batch_size, seq_length, num_directions, hidden_size] and [batch_size,
/// num_directions, hidden_size].
template <typename List, typename Sizes>
List recurrent_output_shape(std::size_t output, bool batch_first, const Sizes& sizes) {
  const auto& [D, T, N, H] =
      std::tie(sizes.num_directions, sizes.seq_length, sizes.batch_size, sizes.hidden_size);
  if (output == output_Y) return batch_first ? List{N, T, D, H} : List{T, D, N, H};
  return batch_first ? List{N, D, H} : List{D, N, H};
}

/// Whether sequence_lens may hold it.
constexpr bool is_sequence_length(std::int64_t length, std::int64_t seq_length) {
  return length >= 0 && length <= seq_length;
}

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
