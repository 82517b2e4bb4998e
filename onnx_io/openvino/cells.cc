// GRUCell-3, LSTMCell-1, LSTMCell-4 and RNNCell-0: one step of ONNX's GRU, LSTM and RNN.
//
// GRUCell-3:  zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)
//             rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr)
//             ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh)     when linear_before_reset = false
//             ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh)   when linear_before_reset = true
//             Ht = (1 - zt) (.) ht + zt (.) Ht-1
// LSTMCell:   as ONNX's LSTM without peepholes; RNNCell: as ONNX's RNN.
//
// X [batch_size, input_size], states [batch_size, hidden_size], W [gates*hidden_size, input_size], R
// [gates*hidden_size, hidden_size], B [gates*hidden_size], or [4*hidden_size] for a GRU with
// linear_before_reset: z, r, h of W, h of R. Gates of a GRU are in the order z, r, h, as in ONNX; of an LSTM
// f, i, c, o. A B that is left out is 0.
#include <array>

#include "onnx_io/openvino/recurrent.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

/// The sizes of a cell; unknown_size where no input tells.
struct CellSizes {
  std::int64_t batch = unknown_size;
  std::int64_t input = unknown_size;
  std::int64_t hidden;
  std::int64_t gate_rows;
  std::int64_t bias_rows;
};

// The page of GRUCell-3 prints an example whose B has 6*hidden_size elements.
std::string why_not_six(const Conversion& layer, std::size_t index, std::int64_t hidden) {
  const auto& dims = layer.inputs[index].dims;
  if (layer.layer.type != "GRUCell" || !dims || dims->size() != 1 || (*dims)[0] != 6 * hidden) return {};
  return " (the example on the page of GRUCell-3 has 6*hidden_size, which the page's text contradicts)";
}

void check_cell(const Conversion& layer, const GateLayout& layout, std::int64_t hidden) {
  const std::size_t states = layout.states;
  CellSizes size{
      .hidden = hidden, .gate_rows = layout.gates * hidden, .bias_rows = layout.bias_blocks * hidden};
  check_types(layer);
  check_shape(layer, 0, "X", {{"batch_size", &size.batch}, {"input_size", &size.input}});
  const std::array<const char*, 2> names = {"initial_hidden_state", "initial_cell_state"};
  for (std::size_t i = 0; i < states; ++i) {
    check_shape(layer, 1 + i, names[i], {{"batch_size", &size.batch}, {"hidden_size", &size.hidden}});
  }
  const std::string rows = rows_text(layout.gates);
  const std::size_t W = 1 + states;
  check_shape(layer, W, "W", {{rows, &size.gate_rows}, {"input_size", &size.input}});
  check_shape(layer, W + 1, "R", {{rows, &size.gate_rows}, {"hidden_size", &size.hidden}});
  if (layer.inputs.size() <= W + 2) return;
  check_shape(layer, W + 2, "B", {{rows_text(layout.bias_blocks), &size.bias_rows}},
              why_not_six(layer, W + 2, hidden) + bias_of_other_reset(layer, W + 2, layout, hidden));
}

// With a first axis of size 1: time for X, directions for all else.
Value with_first_axis(Conversion& layer, const Value& value) {
  if (value.omitted()) return value;
  std::optional<Dims> dims = value.dims;
  if (dims) dims->insert(dims->begin(), 1);
  if (value.constant != nullptr) return layer.constants.with_dims(value, *dims);
  return layer.add_helper("Unsqueeze", {value, layer.graph.make_integers({0})});
}

std::vector<Value> convert_cell(Conversion& layer, const GateLayout& layout, bool linear_before_reset) {
  const std::size_t states = layout.states;
  const RecurrentAttributes attributes = read_recurrent_attributes(layer, layout);
  const std::int64_t hidden = attributes.hidden_size;
  check_cell(layer, layout, hidden);
  std::vector<Value> in;
  for (std::size_t i = 0; i < 4 + states; ++i)
    in.push_back(with_first_axis(layer, layer.input_or_omitted(i)));
  const Value W = arranged(layer, in[1 + states], {layout.gates, layout.weights, hidden, 1});
  const Value R = arranged(layer, in[2 + states], {layout.gates, layout.weights, hidden, 1});
  const Value B = arranged(layer, in[3 + states], {layout.bias_blocks, layout.bias, hidden, 1});

  RecurrentNode node;
  node.linear_before_reset = linear_before_reset;
  node.inputs = {in[0], W, R, B, Value{}, in[1]};
  if (states == 2) node.inputs.push_back(in[2]);
  node.outputs = {""};
  for (std::size_t i = 0; i < states; ++i)
    node.outputs.push_back(layer.graph.unique_name(layer.layer.name + (i == 0 ? "/Y_h" : "/Y_c")));
  add_recurrent_node(layer, layout, attributes, node);

  std::vector<Value> out;
  for (std::size_t i = 0; i < states; ++i) {
    const Value last{
        .name = node.outputs[1 + i], .dtype = in[0].dtype, .dims = std::nullopt, .constant = nullptr};
    layer.graph.add_node({.op_type = "Squeeze",
                          .name = layer.layer.name + (i == 0 ? "/Ho" : "/Co"),
                          .inputs = {last, layer.graph.make_integers({0})},
                          .outputs = {layer.output_names[i]},
                          .attributes = {},
                          .domain = {}});
    out.push_back(layer.output(i, in[0].dtype));
  }
  return out;
}

std::vector<Value> convert_gru_cell(Conversion& layer) {
  const bool linear_before_reset = layer.attributes.boolean("linear_before_reset", false);
  return convert_cell(layer, gru_layout(linear_before_reset), linear_before_reset);
}

std::vector<Value> convert_lstm_cell(Conversion& layer) {
  return convert_cell(layer, lstm_layout(), false);
}

// The operator of opset1 to opset3 as far as its page describes it.
std::vector<Value> convert_lstm_cell_1(Conversion& layer) {
  const std::string format = layer.attributes.text("weights_format", "fico");
  if (format != "fico") fail_unsupported("attribute weights_format is '{}'; only fico is read", format);
  if (layer.attributes.boolean("input_forget", false)) fail_unsupported("attribute input_forget is set");
  if (layer.inputs.size() > 6) fail_unsupported("input 6, peepholes, which its page does not describe");
  return convert_lstm_cell(layer);
}

std::vector<Value> convert_rnn_cell(Conversion& layer) {
  return convert_cell(layer, rnn_layout(), false);
}

constexpr std::array<OperatorRow, 4> cell_table = {{
    {"GRUCell", 3, newest_opset, "GRUCell-3", 4, 5, 1, convert_gru_cell},
    {"LSTMCell", 1, 3, "LSTMCell-1", 5, 7, 2, convert_lstm_cell_1},
    {"LSTMCell", 4, newest_opset, "LSTMCell-4", 5, 6, 2, convert_lstm_cell},
    {"RNNCell", 1, newest_opset, "RNNCell-0", 4, 5, 1, convert_rnn_cell},
}};

}  // namespace

std::span<const OperatorRow> cell_rows() {
  return cell_table;
}

}  // namespace grurun::onnx_io::openvino
