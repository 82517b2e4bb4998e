#include "opset/recurrent/recurrent_form.h"

#include <algorithm>
#include <array>

#include "onnx_io/openvino/openvino_ir.h"
#include "tensor/ascii_case.h"

namespace grurun::opset {

namespace {

constexpr std::array forms = {
    RecurrentForm{"GRU", 3, "zrh", 2, false, {"Sigmoid", "Tanh"}},
    RecurrentForm{"RNN", 1, "i", 1, false, {"Tanh"}},
    RecurrentForm{"LSTM", 4, "iofc", 3, true, {"Sigmoid", "Tanh", "Tanh"}},
};
constexpr RecurrentForm quantized_lstm{"LSTM", 4, "iofc", 3, true, {"Sigmoid", "Tanh", "Tanh"}, true};

constexpr RecurrentParameter required{.used = true};
constexpr RecurrentParameter defaults_to(float value) {
  return {.used = true, .fallback = value};
}

constexpr std::array functions = {
    RecurrentFunction{"Relu"},
    RecurrentFunction{"Tanh"},
    RecurrentFunction{"Sigmoid"},
    RecurrentFunction{"Affine", required, required},
    RecurrentFunction{"LeakyRelu", defaults_to(0.01F)},
    RecurrentFunction{"ThresholdedRelu", defaults_to(1.0F)},
    RecurrentFunction{"ScaledTanh", required, required},
    RecurrentFunction{"HardSigmoid", defaults_to(0.2F), defaults_to(0.5F)},
    RecurrentFunction{"Elu", defaults_to(1.0F)},
    RecurrentFunction{"Softsign"},
    RecurrentFunction{"Softplus"},
};

constexpr std::array<const char*, recurrent_inputs> inputs = {
    "X",         "W",           "R", "B",       "sequence_lens",
    "initial_h", "initial_c",   "P", "W_scale", "W_zero_point",
    "R_scale",   "R_zero_point"};
constexpr std::array outputs = {"Y", "Y_h", "Y_c"};

}  // namespace

const RecurrentForm* find_recurrent_form(std::string_view op_type, std::string_view domain) {
  if (!domain.empty()) return nullptr;
  const auto found = std::ranges::find(forms, op_type, &RecurrentForm::op_type);
  return found == forms.end() ? nullptr : &*found;
}

std::span<const RecurrentForm> recurrent_forms() {
  return forms;
}

const RecurrentForm& quantized_lstm_form() {
  return quantized_lstm;
}

const RecurrentForm* find_layer_form(std::string_view op_type, std::string_view domain) {
  if (domain == "com.microsoft" && op_type == "DynamicQuantizeLSTM") return &quantized_lstm;
  if (domain == onnx_io::openvino_domain && op_type == "LSTM") return find_recurrent_form(op_type, "");
  return find_recurrent_form(op_type, domain);
}

const char* recurrent_input_name(std::size_t index) {
  return inputs.at(index);
}

const char* recurrent_output_name(std::size_t index) {
  return outputs.at(index);
}

std::string RecurrentDim::text() const {
  constexpr std::array names = {"num_directions", "seq_length", "batch_size", "input_size"};
  if (size == RecurrentSize::hidden_size) return times_hidden_size(factor);
  return names.at(static_cast<std::size_t>(size));
}

RecurrentDims recurrent_input_dims(const RecurrentForm& form, std::size_t input, bool batch_first) {
  using enum RecurrentSize;
  const RecurrentDim rows{hidden_size, form.gates};
  switch (input) {
    case input_X:
      if (batch_first) return {{batch_size}, {seq_length}, {input_size}};
      return {{seq_length}, {batch_size}, {input_size}};
    case input_W:
      if (form.quantized) return {{num_directions}, {input_size}, rows};
      return {{num_directions}, rows, {input_size}};
    case input_R:
      if (form.quantized) return {{num_directions}, {hidden_size}, rows};
      return {{num_directions}, rows, {hidden_size}};
    case input_B:
      return {{num_directions}, {hidden_size, 2 * form.gates}};
    case input_sequence_lens:
      return {{batch_size}};
    case input_initial_h:
    case input_initial_c:
      if (batch_first) return {{batch_size}, {num_directions}, {hidden_size}};
      return {{num_directions}, {batch_size}, {hidden_size}};
    case input_P:
      return {{num_directions}, {hidden_size, 3}};
    default:
      return {{num_directions}, rows};
  }
}

const RecurrentFunction* find_recurrent_function(std::string_view name) {
  const auto found = std::ranges::find_if(functions, [&](const RecurrentFunction& function) {
    return std::ranges::equal(std::string_view(function.name), name, {}, ascii_lower_letter,
                              ascii_lower_letter);
  });
  return found == functions.end() ? nullptr : &*found;
}

std::span<const RecurrentFunction> recurrent_functions() {
  return functions;
}

std::string times_hidden_size(int factor) {
  return factor == 1 ? "hidden_size" : std::to_string(factor) + "*hidden_size";
}

}  // namespace grurun::opset
