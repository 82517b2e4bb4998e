#include "onnx_io/models/proto_convert.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

// A type may leave its element type open (0); a number the standard does not know is an error.
DType elem_from_proto(int number) {
  return number == 0 ? DType::undefined : dtype_from_proto(number);
}

template <typename TensorType>
ValueType tensor_type(const TensorType& proto, ValueType::Kind kind) {
  ValueType type = ValueType::tensor(elem_from_proto(proto.elem_type()));
  type.kind = kind;
  if (!proto.has_shape()) return type;
  SymbolicShape& shape = type.shape.emplace();
  shape.reserve(static_cast<std::size_t>(proto.shape().dim_size()));
  for (const auto& dim : proto.shape().dim()) {
    Dim& out = shape.emplace_back();
    if (dim.has_dim_value() && dim.dim_value() >= 0) out.value = dim.dim_value();
    // Exporters write "?" for each size that they do not know: it names none, or all would have to be one.
    if (dim.has_dim_param() && dim.dim_param() != "?") out.name = dim.dim_param();
  }
  return type;
}

void shape_to_proto(const ValueType& type, ::onnx::TensorShapeProto* proto) {
  for (const Dim& dim : *type.shape) {
    auto* const out = proto->add_dim();
    if (dim.value) {
      out->set_dim_value(*dim.value);
    } else if (!dim.name.empty()) {
      out->set_dim_param(dim.name);
    }
  }
}

template <typename TensorType>
void tensor_type_to_proto(const ValueType& type, TensorType* proto) {
  proto->set_elem_type(static_cast<int>(type.elem));
  if (type.shape) shape_to_proto(type, proto->mutable_shape());
}

}  // namespace

ValueType type_from_proto(const ::onnx::TypeProto& proto) {
  switch (proto.value_case()) {
    case ::onnx::TypeProto::kTensorType:
      return tensor_type(proto.tensor_type(), ValueType::Kind::tensor);
    case ::onnx::TypeProto::kSparseTensorType:
      return tensor_type(proto.sparse_tensor_type(), ValueType::Kind::sparse_tensor);
    case ::onnx::TypeProto::kSequenceType:
      return ValueType::sequence(type_from_proto(proto.sequence_type().elem_type()));
    case ::onnx::TypeProto::kOptionalType:
      return ValueType::optional(type_from_proto(proto.optional_type().elem_type()));
    case ::onnx::TypeProto::kMapType:
      return ValueType::map(elem_from_proto(proto.map_type().key_type()),
                            type_from_proto(proto.map_type().value_type()));
    default:
      return {};
  }
}

::onnx::TypeProto type_to_proto(const ValueType& type) {
  ::onnx::TypeProto proto;
  const auto element = [&type] { return type.element ? type_to_proto(*type.element) : ::onnx::TypeProto(); };
  switch (type.kind) {
    case ValueType::Kind::unknown:
      break;
    case ValueType::Kind::tensor:
      tensor_type_to_proto(type, proto.mutable_tensor_type());
      break;
    case ValueType::Kind::sparse_tensor:
      tensor_type_to_proto(type, proto.mutable_sparse_tensor_type());
      break;
    case ValueType::Kind::sequence:
      *proto.mutable_sequence_type()->mutable_elem_type() = element();
      break;
    case ValueType::Kind::optional:
      *proto.mutable_optional_type()->mutable_elem_type() = element();
      break;
    case ValueType::Kind::map:
      proto.mutable_map_type()->set_key_type(static_cast<int>(type.elem));
      *proto.mutable_map_type()->mutable_value_type() = element();
      break;
  }
  return proto;
}

}  // namespace grurun::onnx_io
