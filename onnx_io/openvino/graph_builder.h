// The ONNX model that an IR is turned into, built node by node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/onnx_pb.h"
#include "onnx_io/bytes.h"
#include "onnx_io/models/model.h"
#include "onnx_io/openvino/network.h"
#include "tensor/dtype.h"

namespace grurun::onnx_io::openvino {

/// Operators are those of this version of ONNX's standard domain: the first whose GRU, LSTM and RNN take
/// every floating-point type of an IR.
inline constexpr std::int64_t onnx_opset = 22;

/// A tensor that is known while the model is read: in the weights file, or made from what lies there.
struct Constant {
  DType dtype;
  Dims dims;                            // each >= 0
  Bytes bytes;                          // row-major, as raw_data has them
  std::optional<std::uint64_t> offset;  // in the weights file; nullopt: made
};

/// What an output port carries. Without dtype: an omitted optional input.
struct Value {
  std::string name;  // in the ONNX graph; of a constant only what its name begins with
  DType dtype = DType::undefined;
  std::optional<Dims> dims;  // as the IR declares them; nullopt where it declares none
  std::shared_ptr<const Constant> constant;

  bool omitted() const { return dtype == DType::undefined; }
};

using Attributes = std::vector<Attribute>;
Attribute make_attribute(const std::string& name, std::int64_t value);
Attribute make_attribute(const std::string& name, float value);
Attribute make_attribute(const std::string& name, const std::string& value);
Attribute make_attribute(const std::string& name, std::vector<std::int64_t> values);
Attribute make_attribute(const std::string& name, std::vector<std::string> values);

struct NodeDraft {
  std::string op_type;
  std::string name;
  std::vector<Value> inputs;
  std::vector<std::string> outputs;  // "": not wanted
  Attributes attributes;
  std::string domain;
};

class GraphBuilder {
 public:
  /// weights: the file's name, beside the model. At most this many bytes of constants may be made, so that
  /// a small file cannot stand for more memory than it is worth.
  GraphBuilder(std::string weights, std::uint64_t max_made_bytes)
      : weights_(std::move(weights)), made_bytes_left_(max_made_bytes) {}
  void allow_made_bytes(std::uint64_t bytes) { made_bytes_left_ = bytes; }

  /// The name if it is free, else one that begins so. It is not given again.
  std::string unique_name(const std::string& wanted);

  void add_node(const NodeDraft& node);
  /// A node with one output, an intermediate value. Both have the draft's name if it is free.
  Value add_helper(NodeDraft node, DType dtype, std::optional<Dims> dims = std::nullopt);

  void add_input(const Value& value);
  void add_output(const Value& value);
  /// What the IR declares of a value between nodes.
  void declare(const Value& value);

  /// A constant of these bytes. Throws Error(limit) when too many are made.
  Value make_constant(const std::string& name, DType dtype, Dims dims, std::string bytes);
  Value make_integers(const std::vector<std::int64_t>& values);  // int64 [n]

  ::onnx::ModelProto& model() { return model_; }
  /// The model with the opsets that its nodes need. Nothing may be added after that.
  std::shared_ptr<::onnx::ModelProto> finish();

 private:
  ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  /// The name of a value as an input; a constant becomes an initializer when it is first used.
  std::string use(const Value& value);

  ::onnx::ModelProto model_;
  std::string weights_;
  std::uint64_t made_bytes_left_;
  std::set<std::string> domains_{""};
  std::unordered_map<std::string, std::size_t> names_;  // with the next number to try behind each
  std::unordered_map<const Constant*, std::string> initializers_;
  std::vector<std::shared_ptr<const Constant>> used_;  // keeps the keys above alive
};

}  // namespace grurun::onnx_io::openvino
