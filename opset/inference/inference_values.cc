#include "opset/inference/inference_values.h"

#include "opset/inference/guarded_registry.h"

namespace grurun::opset {

using onnx::TensorProto;
using onnx::TypeProto;

namespace {

template <typename TensorType>
void clean_shape(TensorType& type) {
  if (!type.has_shape()) return;
  if (type.shape().dim_size() > max_inferred_rank) return type.clear_shape();
  for (auto& dim : *type.mutable_shape()->mutable_dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) dim.clear_dim_value();
  }
}

}  // namespace

bool is_left_out(const TensorProto& tensor) {
  return tensor.data_location() == TensorProto::EXTERNAL || tensor.ByteSizeLong() > max_copied_bytes;
}

TypeProto type_of(const TensorProto& tensor) {
  TypeProto type;
  type.mutable_tensor_type()->set_elem_type(tensor.data_type());
  auto* shape = type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t dim : tensor.dims()) shape->add_dim()->set_dim_value(dim);
  return type;
}

namespace {

// ONNX's inference ends at a type within another that lacks its elements.
bool lacks_elements(const TypeProto& type) {
  switch (type.value_case()) {
    case TypeProto::kTensorType:
      return type.tensor_type().elem_type() == TensorProto::UNDEFINED;
    case TypeProto::kSparseTensorType:
      return type.sparse_tensor_type().elem_type() == TensorProto::UNDEFINED;
    case TypeProto::kSequenceType:
      return lacks_elements(type.sequence_type().elem_type());
    case TypeProto::kOptionalType:
      return lacks_elements(type.optional_type().elem_type());
    case TypeProto::kMapType:
      return type.map_type().key_type() == TensorProto::UNDEFINED ||
             lacks_elements(type.map_type().value_type());
    case TypeProto::kOpaqueType:
      return false;
    default:
      return true;
  }
}

}  // namespace

void clean(TypeProto& type) {
  if (!type.has_tensor_type() && lacks_elements(type)) return type.Clear();
  switch (type.value_case()) {
    case TypeProto::kTensorType:
      return clean_shape(*type.mutable_tensor_type());
    case TypeProto::kSparseTensorType:
      return clean_shape(*type.mutable_sparse_tensor_type());
    case TypeProto::kSequenceType:
      return clean(*type.mutable_sequence_type()->mutable_elem_type());
    case TypeProto::kOptionalType:
      return clean(*type.mutable_optional_type()->mutable_elem_type());
    case TypeProto::kMapType:
      return clean(*type.mutable_map_type()->mutable_value_type());
    default:
      return;
  }
}

bool contradicts(const TypeProto& declared, const TensorProto& initializer) {
  if (!declared.has_tensor_type()) return declared.value_case() != TypeProto::VALUE_NOT_SET;
  const auto& type = declared.tensor_type();
  if (type.elem_type() != 0 && type.elem_type() != initializer.data_type()) return true;
  if (!type.has_shape()) return false;
  if (type.shape().dim_size() != initializer.dims_size()) return true;
  for (int i = 0; i < initializer.dims_size(); ++i) {
    const auto& dim = type.shape().dim(i);
    if (dim.has_dim_value() && dim.dim_value() != initializer.dims(i)) return true;
  }
  return false;
}

}  // namespace grurun::opset
