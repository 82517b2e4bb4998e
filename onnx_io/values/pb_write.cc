// Writes values as messages of onnx-ml.proto and onnx-data.proto: TensorProto, SequenceProto, OptionalProto,
// MapProto.
#include <limits>
#include <utility>

#include "onnx/onnx-data.pb.h"
#include "onnx_io/values/proto_tensor.h"
#include "onnx_io/values/value_formats.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

using ::onnx::MapProto;
using ::onnx::OptionalProto;
using ::onnx::SequenceProto;
using ::onnx::TensorProto;

TensorProto to_proto(const Tensor& tensor) {
  return tensor_to_proto(tensor);
}
SequenceProto to_proto(const Sequence& sequence);
OptionalProto to_proto(const Optional& optional);
MapProto to_proto(const Map& map);

int tag_of(const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::tensor:
      return SequenceProto::TENSOR;
    case ValueType::Kind::sparse_tensor:
      return SequenceProto::SPARSE_TENSOR;
    case ValueType::Kind::sequence:
      return SequenceProto::SEQUENCE;
    case ValueType::Kind::optional:
      return SequenceProto::OPTIONAL;
    case ValueType::Kind::map:
      return SequenceProto::MAP;
    case ValueType::Kind::unknown:
      break;
  }
  return SequenceProto::UNDEFINED;
}

SequenceProto to_proto(const std::vector<Value>& items, const ValueType& element) {
  SequenceProto proto;
  proto.set_elem_type(items.empty() ? tag_of(element) : tag_of(items.front().type()));
  for (const Value& item : items) {
    if (item.is_tensor()) *proto.add_tensor_values() = to_proto(item.tensor());
    if (item.is_sequence()) *proto.add_sequence_values() = to_proto(item.sequence());
    if (item.is_optional()) *proto.add_optional_values() = to_proto(item.optional());
    if (item.is_map()) *proto.add_map_values() = to_proto(item.map());
  }
  return proto;
}

SequenceProto to_proto(const Sequence& sequence) {
  return to_proto(sequence.items, sequence.element);
}

OptionalProto to_proto(const Optional& optional) {
  OptionalProto proto;
  if (!optional.item) {
    proto.set_elem_type(tag_of(optional.element));
    return proto;
  }
  const Value& item = *optional.item;
  proto.set_elem_type(tag_of(item.type()));
  if (item.is_tensor()) *proto.mutable_tensor_value() = to_proto(item.tensor());
  if (item.is_sequence()) *proto.mutable_sequence_value() = to_proto(item.sequence());
  if (item.is_optional()) *proto.mutable_optional_value() = to_proto(item.optional());
  if (item.is_map()) *proto.mutable_map_value() = to_proto(item.map());
  return proto;
}

void keys_to_proto(const Tensor& keys, MapProto* proto) {
  proto->set_key_type(static_cast<int>(keys.dtype()));
  if (keys.dtype() == DType::string) {
    for (const std::string& key : keys.span<std::string>()) proto->add_string_keys(key);
    return;
  }
  dispatch(Integers{}, keys.dtype(), [&]<typename Key>() {
    for (const Key key : keys.span<Key>()) {
      if (!std::in_range<std::int64_t>(key))
        fail_unsupported("map key {} is beyond what MapProto can hold", key);
      proto->add_keys(static_cast<std::int64_t>(key));
    }
  });
}

MapProto to_proto(const Map& map) {
  MapProto proto;
  keys_to_proto(map.keys, &proto);
  *proto.mutable_values() = to_proto(map.values, map.value_type);
  return proto;
}

template <typename Proto>
std::string serialized(Proto proto, const std::string& name) {
  proto.set_name(name);
  std::string out;
  // Protobuf's own limit; it writes nothing beyond it.
  if (proto.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail_unsupported("a value of more than 2 GiB cannot be a .pb file; write .npy or .npz");
  }
  proto.SerializeToString(&out);
  return out;
}

}  // namespace

std::string pb_content(const std::string& name, const Value& value) {
  if (value.is_tensor()) return serialized(to_proto(value.tensor()), name);
  if (value.is_sequence()) return serialized(to_proto(value.sequence()), name);
  if (value.is_optional()) return serialized(to_proto(value.optional()), name);
  if (value.is_map()) return serialized(to_proto(value.map()), name);
  fail_usage("'{}' holds nothing that could be written", name);
}

}  // namespace grurun::onnx_io
