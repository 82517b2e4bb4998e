// What an inference context knows of a node's inputs and attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "onnx/defs/shape_inference.h"

namespace grurun::opset {

/// nullptr where it is not known, and for what is no tensor.
inline const onnx::TensorShapeProto* input_shape(const onnx::InferenceContext& context, std::size_t i) {
  if (i >= context.getNumInputs()) return nullptr;
  const onnx::TypeProto* type = context.getInputType(i);
  if (type == nullptr || !type->has_tensor_type() || !type->tensor_type().has_shape()) return nullptr;
  return &type->tensor_type().shape();
}

inline bool knows_size(const onnx::TensorShapeProto* shape, int axis) {
  return shape != nullptr && axis < shape->dim_size() && shape->dim(axis).has_dim_value();
}

/// Of a shape that may be null; nullopt too for an axis that it does not have.
inline std::optional<std::int64_t> size_of(const onnx::TensorShapeProto* shape, int axis) {
  return axis >= 0 && knows_size(shape, axis) ? std::optional(shape->dim(axis).dim_value()) : std::nullopt;
}

inline std::int64_t int_attribute(const onnx::InferenceContext& context, const char* name,
                                  std::int64_t otherwise) {
  const onnx::AttributeProto* attribute = context.getAttribute(name);
  return attribute != nullptr && attribute->has_i() ? attribute->i() : otherwise;
}

/// nullopt where the list is left out, or ends before.
inline std::optional<std::int64_t> list_entry(const onnx::InferenceContext& context, const char* name,
                                              int i) {
  const onnx::AttributeProto* list = context.getAttribute(name);
  return list != nullptr && i < list->ints_size() ? std::optional(list->ints(i)) : std::nullopt;
}

}  // namespace grurun::opset
