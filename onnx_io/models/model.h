// A model in plain types: what ModelProto says, without protobuf. The rooms above see nothing else of a model
// file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/value_type.h"

namespace onnx {
class ModelProto;
}

namespace grurun::onnx_io {

struct Graph;

/// Numbered as AttributeProto.AttributeType.
enum class AttributeType {
  undefined = 0,
  float_ = 1,
  int_ = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  floats = 6,
  ints = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type_proto = 13,
  type_protos = 14,
};

/// "FLOAT", "INTS", ...: AttributeProto's spelling.
const char* attribute_type_name(AttributeType type);

struct Attribute {
  std::string name;
  AttributeType type = AttributeType::undefined;
  std::string ref_attr_name;  // not empty inside a function: the value is that attribute of the calling node

  float f = 0;
  std::int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::vector<Tensor> tensors;                       // tensor: one; sparse ones are held dense
  std::vector<std::shared_ptr<const Graph>> graphs;  // graph: one
  std::vector<ValueType> types;                      // type_proto: one
};

struct Node {
  std::string op_type;
  std::string domain;  // "" is ai.onnx
  std::string overload;
  std::string name;                  // may be empty
  std::vector<std::string> inputs;   // "" is an omitted optional input
  std::vector<std::string> outputs;  // "" is an output nobody wants
  std::vector<Attribute> attributes;

  const Attribute* find_attribute(const std::string& attribute_name) const;
};

struct ValueInfo {
  std::string name;
  ValueType type;
};

struct Initializer {
  std::string name;
  Tensor tensor;  // sparse ones are held dense
};

struct Graph {
  std::string name;
  std::vector<ValueInfo> inputs;  // below IR version 4 initializers are listed here too
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_info;
  std::vector<Initializer> initializers;
  std::vector<Node> nodes;
};

/// Initializers by name; of several of one name the first. It refers to the graph, which must outlive it.
using InitializerIndex = std::unordered_map<std::string_view, const Tensor*>;
InitializerIndex index_initializers(const Graph& graph);

/// Domain to imported opset version; "ai.onnx" is stored as "".
using OpsetImports = std::map<std::string, std::int64_t>;

/// A model-local function, or the body of an operator's schema.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;        // names without a default
  std::vector<Attribute> attribute_defaults;  // attribute_proto: names with one
  OpsetImports opset_imports;
  std::vector<Node> nodes;
};

struct Model {
  std::string path;                         // as the user named it; empty for a model built in memory
  std::vector<std::string> external_files;  // that external data, or an IR's weights, were read from
  std::int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  bool from_openvino_ir = false;  // the nodes are what its reader made of the layers in the file
  OpsetImports opset_imports;
  Graph graph;
  std::vector<Function> functions;

  /// The message this was read from, for the rooms that see ONNX's own API (checker, shape inference).
  /// Tensors with external data stay external in it.
  std::shared_ptr<const ::onnx::ModelProto> proto;
};

/// Reads a model file in any of its forms (model_text.h), with external data resolved inside the model's
/// folder only. Throws Error(invalid_model) for what is no model, breaks the format, or names data outside;
/// Error(usage) when the file is missing or cannot be read.
Model load_model(const std::string& path);

/// The same from bytes; base_folder is where external data may lie (empty: external data is refused).
Model parse_model(const void* data, std::size_t size, const std::string& base_folder);

/// A domain as it is compared: "ai.onnx" becomes "".
std::string canonical_domain(const std::string& domain);

/// "ai.onnx" for "", else the domain: as it is shown.
std::string shown_domain(const std::string& domain);

/// "GRU", "com.microsoft.DynamicQuantizeLSTM": an operator as it is shown.
std::string qualified_name(const std::string& domain, const std::string& op_type);

}  // namespace grurun::onnx_io
