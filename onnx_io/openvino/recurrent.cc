#include "onnx_io/openvino/recurrent.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx_io/openvino/openvino_ir.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

std::vector<int> followed_by_zeros(std::vector<int> blocks, std::size_t count) {
  blocks.insert(blocks.end(), count, no_block);
  return blocks;
}

std::string onnx_activation(const std::string& name) {
  if (name == "relu") return "Relu";
  if (name == "sigmoid") return "Sigmoid";
  if (name == "tanh") return "Tanh";
  fail_invalid("attribute activations names '{}'; it must be relu, sigmoid or tanh", name);
}

// What is converted from ONNX has a list for each direction, and two functions for an RNN: a list may repeat
// itself, since then it can mean only one thing.
std::vector<std::string> read_activations(Conversion& layer, const GateLayout& layout) {
  std::vector<std::string> names;
  for (const std::string& name : layer.attributes.words("activations"))
    names.push_back(onnx_activation(name));
  if (names.empty()) return layout.default_activations;
  const std::size_t wanted = layout.default_activations.size();
  bool right = names.size() % wanted == 0;
  for (std::size_t i = wanted; right && i < names.size(); ++i) right = names[i] == names[i - wanted];
  if (!right) {
    fail_invalid(
        "attribute activations names {} functions ({}); it must name {}, which may be repeated, or none for "
        "the defaults",
        names.size(), fmt::join(names, ", "), wanted);
  }
  names.resize(wanted);
  return names;
}

std::optional<float> read_clip(Conversion& layer) {
  const double clip = layer.attributes.number("clip", 0);
  if (std::isnan(clip) || clip < 0) {
    fail_invalid("attribute clip is {}; it must be positive, or 0 for none", clip);
  }
  if (clip == 0 || clip > static_cast<double>(std::numeric_limits<float>::max())) return std::nullopt;
  return static_cast<float>(clip);
}

bool in_order(const std::vector<int>& blocks, int source_blocks) {
  if (blocks.size() != static_cast<std::size_t>(source_blocks)) return false;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i] != static_cast<int>(i)) return false;
  }
  return true;
}

// A block of zeros for each direction, made when the model runs: a file may claim any hidden_size.
Value zero_block(Conversion& layer, DType dtype, const Arrangement& arrangement) {
  const Value shape = layer.graph.make_integers({arrangement.directions, arrangement.hidden_size});
  Value zero = layer.add_helper("ConstantOfShape", {shape});
  if (dtype != DType::float32) {
    zero = layer.add_helper("Cast", {zero}, {make_attribute("to", static_cast<std::int64_t>(dtype))});
  }
  zero.dtype = dtype;
  return zero;
}

}  // namespace

// B = Wbz + Rbz, Wbr + Rbr, and Wbh + Rbh in one or, with linear_before_reset, Wbh and Rbh apart. ONNX adds
// Wb and Rb up, so that a sum may stand in Wb.
GateLayout gru_layout(bool linear_before_reset) {
  const std::vector<int> bias = linear_before_reset ? std::vector<int>{0, 1, 2, no_block, no_block, 3}
                                                    : followed_by_zeros({0, 1, 2}, 3);
  return {.onnx_op = "GRU",
          .states = 1,
          .gates = 3,
          .weights = {0, 1, 2},
          .bias_blocks = linear_before_reset ? 4 : 3,
          .bias = bias,
          .default_activations = {"Sigmoid", "Tanh"}};
}

// f, i, c, o become i, o, f, c.
GateLayout lstm_layout() {
  return {.onnx_op = "LSTM",
          .states = 2,
          .gates = 4,
          .weights = {1, 3, 0, 2},
          .bias_blocks = 4,
          .bias = followed_by_zeros({1, 3, 0, 2}, 4),
          .default_activations = {"Sigmoid", "Tanh", "Tanh"}};
}

GateLayout rnn_layout() {
  return {.onnx_op = "RNN",
          .states = 1,
          .gates = 1,
          .weights = {0},
          .bias_blocks = 1,
          .bias = followed_by_zeros({0}, 1),
          .default_activations = {"Tanh"}};
}

RecurrentAttributes read_recurrent_attributes(Conversion& layer, const GateLayout& layout) {
  RecurrentAttributes out;
  out.hidden_size = layer.attributes.integer("hidden_size");
  if (out.hidden_size < 1 || out.hidden_size > std::numeric_limits<std::int32_t>::max()) {
    fail_invalid("attribute hidden_size is {}; it must be a positive integer", out.hidden_size);
  }
  out.activations = read_activations(layer, layout);
  // None of the three functions has a parameter: whatever the lists hold has no effect.
  layer.attributes.numbers("activations_alpha");
  layer.attributes.numbers("activations_beta");
  out.clip = read_clip(layer);
  return out;
}

void check_shape(const Conversion& layer, std::size_t index, const char* name, const std::vector<Axis>& axes,
                 const std::string& why) {
  const std::optional<Dims>& dims = layer.inputs[index].dims;
  if (!dims) return;
  bool right = dims->size() == axes.size();
  for (std::size_t i = 0; right && i < axes.size(); ++i) {
    std::int64_t& size = *axes[i].size;
    if (size == unknown_size) size = (*dims)[i];
    right = (*dims)[i] == unknown_size || (*dims)[i] == size;
  }
  if (right) return;
  std::string rule;
  std::string here;
  for (const Axis& axis : axes) {
    rule += (rule.empty() ? "" : ", ") + axis.text;
    here += (here.empty() ? "" : ",") + (*axis.size >= 0 ? std::to_string(*axis.size) : "?");
  }
  fail_invalid("input {} ({}) is {}; it must be [{}], here [{}]{}", index, name, shape_text(dims), rule, here,
               why);
}

std::string bias_of_other_reset(const Conversion& layer, std::size_t index, const GateLayout& layout,
                                std::int64_t hidden_size) {
  const std::optional<Dims>& dims = layer.inputs[index].dims;
  if (layout.onnx_op != std::string_view("GRU") || !dims || dims->empty()) return {};
  const bool is_set = layout.bias_blocks == 4;
  if (dims->back() != (is_set ? 3 : 4) * hidden_size) return {};
  return is_set ? " (3*hidden_size belongs to a layer without linear_before_reset, which is set)"
                : " (4*hidden_size belongs to linear_before_reset, which is not set)";
}

void check_types(const Conversion& layer, std::optional<std::size_t> except) {
  const DType type = layer.inputs[0].dtype;
  const bool computed =
      type == DType::float32 || type == DType::float64 || type == DType::float16 || type == DType::bfloat16;
  if (!computed)
    fail_invalid("input 0 (X) is of type {}; it must be a floating-point type", dtype_name(type));
  for (std::size_t i = 1; i < layer.inputs.size(); ++i) {
    if (i == except || layer.inputs[i].dtype == type) continue;
    fail_invalid("input {} is of type {}; it must have the type of X, {}", i,
                 dtype_name(layer.inputs[i].dtype), dtype_name(type));
  }
}

std::string rows_text(int blocks) {
  return blocks == 1 ? "hidden_size" : fmt::format("{}*hidden_size", blocks);
}

Value arranged(Conversion& layer, const Value& value, const Arrangement& arrangement) {
  const auto& [source_blocks, blocks, hidden_size, directions] = arrangement;
  if (value.omitted() || in_order(blocks, source_blocks)) return value;
  if (value.constant != nullptr) return layer.constants.arranged(value, blocks, hidden_size);
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(source_blocks), hidden_size);
  NodeDraft split{.op_type = "Split",
                  .name = layer.layer.name + "/Split",
                  .inputs = {value, layer.graph.make_integers(sizes)},
                  .outputs = {},
                  .attributes = {make_attribute("axis", std::int64_t{1})},
                  .domain = {}};
  std::vector<Value> parts;
  for (int i = 0; i < source_blocks; ++i) {
    Value part = value;
    part.name = layer.graph.unique_name(split.name);
    part.dims.reset();
    split.outputs.push_back(part.name);
    parts.push_back(std::move(part));
  }
  split.name = split.outputs.front();
  layer.graph.add_node(split);
  const bool needs_zeros = std::ranges::find(blocks, no_block) != blocks.end();
  const Value zeros = needs_zeros ? zero_block(layer, value.dtype, arrangement) : Value{};
  std::vector<Value> joined;
  for (const int block : blocks)
    joined.push_back(block == no_block ? zeros : parts[static_cast<std::size_t>(block)]);
  return layer.add_helper("Concat", joined, {make_attribute("axis", std::int64_t{1})});
}

void add_recurrent_node(Conversion& layer, const GateLayout& layout, const RecurrentAttributes& attributes,
                        const RecurrentNode& node) {
  std::vector<std::string> activations = attributes.activations;
  if (node.direction == "bidirectional") {
    const std::vector<std::string> forward = activations;
    activations.insert(activations.end(), forward.begin(), forward.end());
  }
  NodeDraft draft{
      .op_type = layout.onnx_op,
      .name = layer.layer.name,
      .inputs = node.inputs,
      .outputs = node.outputs,
      .attributes = {make_attribute("hidden_size", attributes.hidden_size),
                     make_attribute("activations", activations), make_attribute("direction", node.direction)},
      .domain = {}};
  if (attributes.clip) draft.attributes.push_back(make_attribute("clip", *attributes.clip));
  if (node.batch_first) draft.attributes.push_back(make_attribute("layout", std::int64_t{1}));
  if (node.linear_before_reset)
    draft.attributes.push_back(make_attribute("linear_before_reset", std::int64_t{1}));
  // Without clip the operators agree, and ONNX's own is better known.
  if (layout.states == 2 && attributes.clip) draft.domain = openvino_domain;
  layer.graph.add_node(draft);
}

}  // namespace grurun::onnx_io::openvino
