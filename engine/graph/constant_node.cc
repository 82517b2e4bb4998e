#include "engine/graph/constant_node.h"

#include "tensor/error.h"

namespace grurun::engine {

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;

template <typename T>
Value list(const std::vector<T>& values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

Value value_of(const Attribute& attribute) {
  const auto is = [&](const char* name, AttributeType type) {
    return attribute.name == name && attribute.type == type;
  };
  if (is("value", AttributeType::tensor) || is("sparse_value", AttributeType::sparse_tensor)) {
    return attribute.tensors.at(0);
  }
  if (is("value_float", AttributeType::float_)) return Tensor::scalar(attribute.f);
  if (is("value_int", AttributeType::int_)) return Tensor::scalar(attribute.i);
  if (is("value_string", AttributeType::string)) return Tensor::scalar(attribute.s);
  if (is("value_floats", AttributeType::floats)) return list(attribute.floats);
  if (is("value_ints", AttributeType::ints)) return list(attribute.ints);
  if (is("value_strings", AttributeType::strings)) return list(attribute.strings);
  fail_invalid("Constant has no attribute '{}' of type {}", attribute.name,
               attribute_type_name(attribute.type));
}

}  // namespace

Value constant_node_value(const onnx_io::Node& node) {
  if (node.attributes.size() != 1) {
    fail_invalid("Constant needs exactly one attribute that holds its value, but has {}",
                 node.attributes.size());
  }
  if (!node.inputs.empty()) fail_invalid("Constant has no inputs, but {} are named", node.inputs.size());
  return value_of(node.attributes.front());
}

}  // namespace grurun::engine
