// From a layer of an IR to nodes of an ONNX graph.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "onnx_io/openvino/constants.h"
#include "onnx_io/openvino/graph_builder.h"
#include "onnx_io/openvino/layer_attributes.h"
#include "onnx_io/openvino/network.h"

namespace grurun::onnx_io::openvino {

/// One layer, while it is converted.
struct Conversion {
  const Layer& layer;
  LayerAttributes attributes;
  std::vector<Value> inputs;
  std::vector<std::string> output_names;  // of the values to make, by port
  std::vector<bool> output_used;          // by port: another layer takes it
  GraphBuilder& graph;
  Constants& constants;

  /// The value of an output port, under the name it must have and with what the IR declares of it.
  Value output(std::size_t port, DType dtype) const;

  /// The layer as one node whose output is the layer's.
  Value add(const std::string& op_type, std::vector<Value> node_inputs, Attributes node_attributes = {});

  /// A node before or behind the layer's main one.
  Value add_helper(const std::string& op_type, std::vector<Value> node_inputs,
                   Attributes node_attributes = {});

  Value input_or_omitted(std::size_t index) const { return index < inputs.size() ? inputs[index] : Value{}; }

  /// Integers that ONNX wants as int64 [n]; the IR allows every integer type, and a scalar for one.
  Value int64_list(std::size_t index);
  /// The elements of an input that must be constant, since ONNX has an attribute in its place.
  std::vector<std::int64_t> constant_integers(std::size_t index, const char* what) const;

  bool rank_is_known() const;
};

/// The values of the output ports. Throws Error(invalid_model) for what the operator's page does not allow,
/// Error(unsupported) for what ONNX cannot say.
using Converter = std::vector<Value> (*)(Conversion&);

/// An operator of the opsets first_opset to last_opset, by the name that its page has.
struct OperatorRow {
  const char* type;
  int first_opset;
  int last_opset;
  const char* versioned_name;
  std::size_t min_inputs;
  std::size_t max_inputs;
  std::size_t outputs;  // any_count: as many as the layer has
  Converter convert;
};

inline constexpr int newest_opset = 99;
inline constexpr std::size_t any_count = 1u << 20;

std::span<const OperatorRow> elementwise_rows();
std::span<const OperatorRow> shape_rows();
std::span<const OperatorRow> cell_rows();
std::span<const OperatorRow> sequence_rows();

/// "[2,?]"; "of unknown rank".
std::string shape_text(const std::optional<Dims>& dims);

}  // namespace grurun::onnx_io::openvino
