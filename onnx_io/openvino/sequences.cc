// GRUSequence-5, LSTMSequence-5 and RNNSequence-5: ONNX's GRU, LSTM and RNN with layout = 1, but for Y, which
// has its axes in another order.
//
// X [batch_size, seq_length, input_size], states [batch_size, num_directions, hidden_size], sequence_lengths
// [batch_size], W [num_directions, gates*hidden_size, input_size], R [num_directions, gates*hidden_size,
// hidden_size], B [num_directions, gates*hidden_size], or [num_directions, 4*hidden_size] for a GRU with
// linear_before_reset; Y [batch_size, num_directions, seq_length, hidden_size], Ho and Co as the states.
// Cells and gates are those of GRUCell-3, LSTMCell-4 and RNNCell-0.
#include <array>
#include <cstring>
#include <limits>

#include "onnx_io/openvino/recurrent.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

struct SequenceSizes {
  std::int64_t batch = unknown_size;
  std::int64_t steps = unknown_size;
  std::int64_t input = unknown_size;
  std::int64_t directions;
  std::int64_t hidden;
  std::int64_t gate_rows;
  std::int64_t bias_rows;
};

std::string read_direction(Conversion& layer) {
  const std::string direction = layer.attributes.text("direction");
  if (direction == "forward" || direction == "reverse" || direction == "bidirectional") return direction;
  fail_invalid("attribute direction is '{}'; it must be forward, reverse or bidirectional", direction);
}

void check_sequence(const Conversion& layer, const GateLayout& layout, std::int64_t directions,
                    std::int64_t hidden) {
  const std::size_t states = layout.states;
  SequenceSizes size{.directions = directions,
                     .hidden = hidden,
                     .gate_rows = layout.gates * hidden,
                     .bias_rows = layout.bias_blocks * hidden};
  const std::size_t lengths = 1 + states;
  check_types(layer, lengths);
  check_shape(layer, 0, "X",
              {{"batch_size", &size.batch}, {"seq_length", &size.steps}, {"input_size", &size.input}});
  const std::array<const char*, 2> names = {"initial_hidden_state", "initial_cell_state"};
  for (std::size_t i = 0; i < states; ++i) {
    check_shape(
        layer, 1 + i, names[i],
        {{"batch_size", &size.batch}, {"num_directions", &size.directions}, {"hidden_size", &size.hidden}});
  }
  check_shape(layer, lengths, "sequence_lengths", {{"batch_size", &size.batch}});
  const std::string rows = rows_text(layout.gates);
  check_shape(layer, lengths + 1, "W",
              {{"num_directions", &size.directions}, {rows, &size.gate_rows}, {"input_size", &size.input}});
  check_shape(layer, lengths + 2, "R",
              {{"num_directions", &size.directions}, {rows, &size.gate_rows}, {"hidden_size", &size.hidden}});
  check_shape(layer, lengths + 3, "B",
              {{"num_directions", &size.directions}, {rows_text(layout.bias_blocks), &size.bias_rows}},
              bias_of_other_reset(layer, lengths + 3, layout, hidden));
}

// int32, as ONNX wants it. A length that int32 does not hold stays one that is out of range.
Value lengths_for_onnx(Conversion& layer, std::size_t index) {
  const Value& lengths = layer.inputs[index];
  if (!is_integer(lengths.dtype)) {
    fail_invalid("input {} (sequence_lengths) has elements of type {}; it must have integers", index,
                 dtype_name(lengths.dtype));
  }
  if (lengths.dtype == DType::int32) return lengths;
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (lengths.constant != nullptr) {
    std::string bytes;
    for (const std::int64_t length : integers_of(*lengths.constant, "sequence_lengths")) {
      if (length < 0 || length > most) fail_invalid("sequence_lengths holds {}", length);
      const auto narrow = static_cast<std::int32_t>(length);
      bytes.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
    }
    return layer.graph.make_constant(lengths.name, DType::int32, lengths.constant->dims, std::move(bytes));
  }
  Value narrow = lengths;
  if (lengths.dtype == DType::uint64)
    fail_unsupported("sequence_lengths of type uint64 that are no constants");
  if (narrow.dtype != DType::int64) {
    narrow =
        layer.add_helper("Cast", {narrow}, {make_attribute("to", static_cast<std::int64_t>(DType::int64))});
    narrow.dtype = DType::int64;
  }
  const auto scalar = [&](std::int64_t value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return layer.graph.make_constant("bound", DType::int64, {}, std::move(bytes));
  };
  narrow = layer.add_helper("Clip", {narrow, scalar(-1), scalar(most)});
  return layer.add_helper("Cast", {narrow}, {make_attribute("to", static_cast<std::int64_t>(DType::int32))});
}

std::vector<Value> convert_sequence(Conversion& layer, const GateLayout& layout, bool linear_before_reset) {
  const std::size_t states = layout.states;
  const RecurrentAttributes attributes = read_recurrent_attributes(layer, layout);
  const std::string direction = read_direction(layer);
  const std::int64_t hidden = attributes.hidden_size;
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  check_sequence(layer, layout, directions, hidden);
  const std::size_t lengths = 1 + states;
  const auto weights = [&](std::size_t index, int source_blocks, const std::vector<int>& blocks) {
    return arranged(layer, layer.inputs[index], {source_blocks, blocks, hidden, directions});
  };
  RecurrentNode node;
  node.direction = direction;
  node.batch_first = true;
  node.linear_before_reset = linear_before_reset;
  node.inputs = {layer.inputs[0],
                 weights(lengths + 1, layout.gates, layout.weights),
                 weights(lengths + 2, layout.gates, layout.weights),
                 weights(lengths + 3, layout.bias_blocks, layout.bias),
                 lengths_for_onnx(layer, lengths),
                 layer.inputs[1]};
  if (states == 2) node.inputs.push_back(layer.inputs[2]);
  const DType dtype = layer.inputs[0].dtype;
  const Value Y{.name = layer.output_used[0] ? layer.graph.unique_name(layer.layer.name + "/Y") : "",
                .dtype = dtype,
                .dims = std::nullopt,
                .constant = nullptr};
  node.outputs = {Y.name};
  for (std::size_t i = 1; i <= states; ++i) node.outputs.push_back(layer.output_names[i]);
  add_recurrent_node(layer, layout, attributes, node);
  if (layer.output_used[0]) {
    // [batch_size, seq_length, num_directions, hidden_size]
    layer.graph.add_node({.op_type = "Transpose",
                          .name = layer.layer.name + "/Transpose",
                          .inputs = {Y},
                          .outputs = {layer.output_names[0]},
                          .attributes = {make_attribute("perm", std::vector<std::int64_t>{0, 2, 1, 3})},
                          .domain = {}});
  }
  std::vector<Value> out;
  for (std::size_t i = 0; i <= states; ++i) out.push_back(layer.output(i, dtype));
  return out;
}

std::vector<Value> convert_gru_sequence(Conversion& layer) {
  const bool linear_before_reset = layer.attributes.boolean("linear_before_reset", false);
  return convert_sequence(layer, gru_layout(linear_before_reset), linear_before_reset);
}

std::vector<Value> convert_lstm_sequence(Conversion& layer) {
  return convert_sequence(layer, lstm_layout(), false);
}

std::vector<Value> convert_rnn_sequence(Conversion& layer) {
  return convert_sequence(layer, rnn_layout(), false);
}

constexpr std::array<OperatorRow, 3> sequence_table = {{
    {"GRUSequence", 5, newest_opset, "GRUSequence-5", 6, 6, 2, convert_gru_sequence},
    {"LSTMSequence", 5, newest_opset, "LSTMSequence-5", 7, 7, 3, convert_lstm_sequence},
    {"RNNSequence", 5, newest_opset, "RNNSequence-5", 6, 6, 2, convert_rnn_sequence},
}};

}  // namespace

std::span<const OperatorRow> sequence_rows() {
  return sequence_table;
}

}  // namespace grurun::onnx_io::openvino
