#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <new>
#include <streambuf>
#include <utility>

#include "onnx/checker.h"
#include "opset/check/check_parts.h"
#include "opset/schema/added/experimental.h"

namespace grurun::opset {

namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

// The checker looks for external data under the working folder, does not know "ai.onnx" for "", and
// multiplies the sizes of an empty tensor: it gets a copy where a model has one of these.
constexpr const char* long_name = "ai.onnx";

bool stored_outside(const TensorProto& tensor) {
  return tensor.data_location() == TensorProto::EXTERNAL;
}

// Beside a size of 0 any other may stand.
bool has_huge_axes(const TensorProto& tensor) {
  if (std::ranges::count(tensor.dims(), 0) == 0) return false;
  std::int64_t product = 1;
  return std::ranges::any_of(tensor.dims(), [&](std::int64_t size) {
    return size != 0 && __builtin_mul_overflow(product, size, &product);
  });
}

// ONNX's checker wants each size of a sparse tensor to be positive.
bool is_empty(const onnx::SparseTensorProto& sparse) {
  return std::ranges::count(sparse.dims(), 0) != 0;
}

bool is_hollowed(const TensorProto& tensor) {
  return stored_outside(tensor) || has_huge_axes(tensor);
}

bool needs_copy(const GraphProto& graph);

bool needs_copy(const AttributeProto& attribute) {
  return is_hollowed(attribute.t()) || std::ranges::any_of(attribute.tensors(), is_hollowed) ||
         (attribute.has_g() && needs_copy(attribute.g())) ||
         std::ranges::any_of(attribute.graphs(), [](const GraphProto& graph) { return needs_copy(graph); }) ||
         is_empty(attribute.sparse_tensor()) || stored_outside(attribute.sparse_tensor().values()) ||
         stored_outside(attribute.sparse_tensor().indices());
}

template <typename Nodes>
bool nodes_need_copy(const Nodes& nodes) {
  return std::ranges::any_of(nodes, [](const NodeProto& node) {
    return node.domain() == long_name ||
           std::ranges::any_of(node.attribute(), [](const AttributeProto& a) { return needs_copy(a); });
  });
}

bool needs_copy(const GraphProto& graph) {
  return std::ranges::any_of(graph.initializer(), is_hollowed) ||
         std::ranges::any_of(graph.sparse_initializer(),
                             [](const onnx::SparseTensorProto& sparse) {
                               return is_empty(sparse) || stored_outside(sparse.values()) ||
                                      stored_outside(sparse.indices());
                             }) ||
         nodes_need_copy(graph.node());
}

// An empty tensor [0] of the same type and name: its data was read and judged elsewhere.
void hollow(TensorProto& tensor) {
  if (!is_hollowed(tensor)) return;
  tensor.clear_data_location();
  tensor.clear_external_data();
  tensor.clear_dims();
  tensor.add_dims(0);
}

void simplify(GraphProto& graph);

void simplify(NodeProto& node) {
  if (node.domain() == long_name) node.clear_domain();
  for (int i = node.attribute_size() - 1; i >= 0; --i) {
    AttributeProto& attribute = *node.mutable_attribute(i);
    if (attribute.has_t()) hollow(*attribute.mutable_t());
    for (TensorProto& tensor : *attribute.mutable_tensors()) hollow(tensor);
    if (attribute.has_sparse_tensor() && needs_copy(attribute)) {
      attribute.mutable_sparse_tensor()->Clear();
      attribute.mutable_sparse_tensor()->add_dims(1);
      attribute.mutable_sparse_tensor()->mutable_values()->set_data_type(TensorProto::FLOAT);
      attribute.mutable_sparse_tensor()->mutable_values()->add_dims(0);
    }
    if (attribute.has_g()) simplify(*attribute.mutable_g());
    for (GraphProto& inner : *attribute.mutable_graphs()) simplify(inner);
  }
}

void simplify(GraphProto& graph) {
  for (TensorProto& tensor : *graph.mutable_initializer()) hollow(tensor);
  for (onnx::SparseTensorProto& sparse : *graph.mutable_sparse_initializer()) {
    if (!is_empty(sparse) && !stored_outside(sparse.values()) && !stored_outside(sparse.indices())) continue;
    if (is_empty(sparse)) {
      sparse.clear_dims();
      sparse.add_dims(1);
    }
    hollow(*sparse.mutable_values());
    sparse.clear_indices();
    sparse.mutable_values()->clear_dims();
    sparse.mutable_values()->clear_raw_data();
    sparse.mutable_values()->add_dims(0);
  }
  for (NodeProto& node : *graph.mutable_node()) simplify(node);
}

template <typename Imports>
void simplify_imports(Imports& imports) {
  for (auto& import : imports) {
    if (import.domain() == long_name) import.set_domain("");
  }
}

onnx::ModelProto simplified(const onnx::ModelProto& proto) {
  onnx::ModelProto copy = proto;
  simplify(*copy.mutable_graph());
  simplify_imports(*copy.mutable_opset_import());
  for (onnx::FunctionProto& function : *copy.mutable_functions()) {
    if (function.domain() == long_name) function.set_domain("");
    simplify_imports(*function.mutable_opset_import());
    for (NodeProto& node : *function.mutable_node()) simplify(node);
  }
  return copy;
}

// "text\n\n==> Context: Bad node spec for node. Name: x OpType: y" on one line.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

// ONNX's checker says which field of an input's or output's type is missing, but not whose.
std::string with_name(std::string message, const onnx::GraphProto& graph) {
  const auto lacks = [&](const onnx::ValueInfoProto& value) {
    if (message.starts_with("Field 'type' of 'value_info'")) return !value.has_type();
    if (!message.starts_with("Field 'shape' of 'type'")) return false;
    return value.type().has_tensor_type() && !value.type().tensor_type().has_shape();
  };
  const std::pair<const char*, const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>&> sides[] = {
      {"input", graph.input()}, {"output", graph.output()}};
  for (const auto& [side, values] : sides) {
    const auto found = std::ranges::find_if(values, lacks);
    if (found == values.end()) continue;
    return fmt::format("{} '{}' declares no {}; give it one, dimensions that vary by names: {}", side,
                       found->name(), found->has_type() ? "shape" : "type", message);
  }
  return message;
}

// ONNX's checker prints to standard output which experimental operators a model has.
class SilentOutput {
 public:
  SilentOutput() : buffer_(std::cout.rdbuf(nullptr)) {}
  ~SilentOutput() { std::cout.rdbuf(buffer_); }
  SilentOutput(const SilentOutput&) = delete;
  SilentOutput& operator=(const SilentOutput&) = delete;

 private:
  std::streambuf* buffer_;
};

}  // namespace

void run_onnx_checker(const onnx::ModelProto& proto, CheckReport& report) {
  register_experimental_operators();
  const SilentOutput silent;
  const Rule rule = report.has_errors() || report.has_form() ? Rule::onnx_checker_too : Rule::onnx_checker;
  try {
    const bool copy = needs_copy(proto.graph()) ||
                      std::ranges::any_of(proto.functions(), [](const onnx::FunctionProto& function) {
                        return function.domain() == long_name || nodes_need_copy(function.node());
                      });
    if (copy) {
      onnx::checker::check_model(simplified(proto));
    } else {
      onnx::checker::check_model(proto);
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    report.add(rule, "", "", with_name(on_one_line(error.what()), proto.graph()));
  }
}

}  // namespace grurun::opset
