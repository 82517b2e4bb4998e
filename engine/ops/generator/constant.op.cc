// Constant (ai.onnx 1, 9, 11, 12, 13, 19, 21, 23, 24, 25).
//
// Exactly one attribute holds the value: value, sparse_value (held dense), value_float, value_int,
// value_string (shape []), value_floats, value_ints, value_strings (shape [n]). The value is known before any
// run.
#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

using onnx_io::AttributeType;

template <typename T>
Tensor list(const std::vector<T>& values) {
  return Tensor::from(Shape{static_cast<std::int64_t>(values.size())}, values);
}

RunFunction prepare_constant(PrepareContext& node) {
  std::vector<Tensor> found;
  if (auto value = node.tensor_attribute("value")) found.push_back(*value);
  if (const auto* sparse = node.attribute("sparse_value", AttributeType::sparse_tensor)) {
    found.push_back(sparse->tensors.at(0));
  }
  if (auto value = node.optional_float("value_float")) found.push_back(Tensor::scalar(*value));
  if (auto value = node.optional_int("value_int")) found.push_back(Tensor::scalar(*value));
  if (node.has_attribute("value_string"))
    found.push_back(Tensor::scalar(node.string_attribute("value_string")));
  if (node.has_attribute("value_floats")) found.push_back(list(node.floats_attribute("value_floats")));
  if (node.has_attribute("value_ints")) found.push_back(list(node.ints_attribute("value_ints")));
  if (node.has_attribute("value_strings")) found.push_back(list(node.strings_attribute("value_strings")));
  if (found.empty()) refuse();
  node.make_constant(found.front());
  return {};
}

}  // namespace

std::vector<OpRow> op_rows_constant() {
  return {{"", "Constant", {1, 9, 11, 12, 13, 19, 21, 23, 24, 25}, prepare_constant}};
}

}  // namespace grurun::engine
