// Between the recurrent nodes of a graph and its values: which nodes lie on the way.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx_io/models/model.h"
#include "onnx_io/models/walk.h"
#include "trial/diagnosis/layer.h"

namespace grurun::trial::diagnosis {

/// What a node computes, if it is recurrent; one of OpenVINO's counts.
std::optional<Op> op_of(const onnx_io::Node& node);

/// "node 'gru_1' (GRU-14)".
std::string label_of(const onnx_io::OpsetImports& imports, const onnx_io::Node& node);

/// A node by the name of a value.
using NodeByValue = std::unordered_map<std::string_view, const onnx_io::Node*>;

/// By value: the last recurrent node in the graph's order on which it depends, through whatever operators.
NodeByValue recurrent_sources(const onnx_io::Graph& graph);

/// The nodes from a value back to a recurrent node's output, the last one first.
struct PathToOutput {
  const onnx_io::Node* from;
  std::size_t output;
  std::vector<const onnx_io::Node*> between;
};

/// nullopt where other nodes lie between than those that keep the elements or transpose them.
std::optional<PathToOutput> find_path_to_output(const onnx_io::Producers& producers, std::string value);

/// Where the way back from a value ends; nullptr: at what no node makes.
const onnx_io::Node* first_not_followed(const onnx_io::Producers& producers, const std::string& value);

/// An output of the graph that depends on a recurrent node, but not as one of its outputs turned around.
struct Untraced {
  std::size_t graph_output;
  std::string label;  // of the nearest recurrent node
  std::string why;    // "it comes out behind Concat, through which nothing is traced back"
  bool in_body;       // the nearest one stands in a body
};
/// Of a model whose calls and branches are written out as far as that goes.
std::vector<Untraced> find_untraced(const onnx_io::Model& model);

/// The node itself where it is recurrent, else the first one in its bodies; nullptr: none.
const onnx_io::Node* first_recurrent(const onnx_io::Node& node);
/// True when the main graph has a recurrent node, a body in it, or one of the model's functions.
bool has_recurrent_node(const onnx_io::Model& model);

}  // namespace grurun::trial::diagnosis
