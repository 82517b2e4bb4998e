// What the recurrent operators of an IR have in common: the attributes, the shapes, and the way to ONNX's
// GRU, LSTM and RNN.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx_io/openvino/conversion.h"

namespace grurun::onnx_io::openvino {

/// How an operator of the IR lays out its gates, and how ONNX wants them: numbers of blocks of hidden_size
/// rows, no_block for zeros.
struct GateLayout {
  const char* onnx_op;
  std::size_t states;                            // 1: H; 2: H and C
  int gates;                                     // blocks of W and R
  std::vector<int> weights;                      // W and R for ONNX
  int bias_blocks;                               // of B in the IR
  std::vector<int> bias;                         // B for ONNX: Wb, then Rb
  std::vector<std::string> default_activations;  // ONNX's names
};

GateLayout gru_layout(bool linear_before_reset);
GateLayout lstm_layout();
GateLayout rnn_layout();

/// hidden_size, activations, activations_alpha, activations_beta and clip.
struct RecurrentAttributes {
  std::int64_t hidden_size;
  std::vector<std::string> activations;  // of one direction, ONNX's names
  std::optional<float> clip;
};

/// Throws Error(invalid_model) for values that the pages do not allow.
RecurrentAttributes read_recurrent_attributes(Conversion& layer, const GateLayout& layout);

/// One axis of an input as the page names it; size unknown_size while no input has told it.
struct Axis {
  std::string text;    // "3*hidden_size"
  std::int64_t* size;  // set by the first input that knows it
};

/// Throws Error(invalid_model) naming the input where its rank or a size is known and is not what the page
/// says; `why` is added to the message.
void check_shape(const Conversion& layer, std::size_t index, const char* name, const std::vector<Axis>& axes,
                 const std::string& why = {});

/// " (4*hidden_size belongs to linear_before_reset, which is not set)" and the reverse, for check_shape of a
/// GRU's B [..., rows]; else nothing.
std::string bias_of_other_reset(const Conversion& layer, std::size_t index, const GateLayout& layout,
                                std::int64_t hidden_size);

/// Throws Error(invalid_model) unless the inputs (but for `except`) have one floating-point type.
void check_types(const Conversion& layer, std::optional<std::size_t> except = std::nullopt);

/// "hidden_size", "3*hidden_size": rows of that many blocks.
std::string rows_text(int blocks);

/// [num_directions, source_blocks*hidden_size, ...] with the blocks as ONNX wants them.
struct Arrangement {
  int source_blocks;
  const std::vector<int>& blocks;
  std::int64_t hidden_size;
  std::int64_t directions;
};
Value arranged(Conversion& layer, const Value& value, const Arrangement& arrangement);

/// The node of ONNX's operator, by which the layer is known. directions are those of attribute direction.
struct RecurrentNode {
  std::vector<Value> inputs;         // as ONNX orders them
  std::vector<std::string> outputs;  // Y, Y_h, Y_c
  std::string direction = "forward";
  bool batch_first = false;
  bool linear_before_reset = false;
};
void add_recurrent_node(Conversion& layer, const GateLayout& layout, const RecurrentAttributes& attributes,
                        const RecurrentNode& node);

}  // namespace grurun::onnx_io::openvino
