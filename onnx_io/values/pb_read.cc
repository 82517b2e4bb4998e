// Reads values as messages of onnx-ml.proto and onnx-data.proto: TensorProto, SequenceProto, OptionalProto,
// MapProto.
#include <google/protobuf/io/coded_stream.h>

#include <limits>
#include <optional>
#include <utility>

#include "onnx/onnx-data.pb.h"
#include "onnx_io/models/message_budget.h"
#include "onnx_io/values/map_keys.h"
#include "onnx_io/values/proto_tensor.h"
#include "onnx_io/values/value_formats.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

using ::onnx::MapProto;
using ::onnx::OptionalProto;
using ::onnx::SequenceProto;
using ::onnx::TensorProto;

Value from_proto(const SequenceProto& proto, const ValueType* expected, const TensorSource& source);
Value from_proto(const OptionalProto& proto, const ValueType* expected, const TensorSource& source);
Value from_proto(const MapProto& proto, const ValueType* expected, const TensorSource& source);

Value from_proto(const TensorProto& proto, const ValueType*, const TensorSource& source) {
  return tensor_from_proto(proto, source);
}

Value from_proto(const ::onnx::SparseTensorProto& proto, const ValueType*, const TensorSource& source) {
  return dense_from_proto(proto, source);
}

// The type an empty sequence or optional has: the expected one, or as much as its elem_type says.
ValueType fallback_type(int elem_type, const ValueType* expected) {
  if (expected != nullptr) return *expected;
  switch (elem_type) {
    case SequenceProto::TENSOR:
      return ValueType::tensor(DType::undefined);
    case SequenceProto::SEQUENCE:
      return ValueType::sequence({});
    case SequenceProto::OPTIONAL:
      return ValueType::optional({});
    case SequenceProto::MAP:
      return ValueType::map(DType::undefined, {});
    default:
      return {};
  }
}

template <typename List>
void append(const List& list, int tag, int elem_type, const ValueType* expected, const TensorSource& source,
            std::vector<Value>* items) {
  if (list.empty()) return;
  if (tag != elem_type) fail_invalid("elem_type is {}, but items of kind {} are there", elem_type, tag);
  items->reserve(static_cast<std::size_t>(list.size()));
  for (const auto& proto : list) items->push_back(from_proto(proto, expected, source));
}

Value from_proto(const SequenceProto& proto, const ValueType* expected, const TensorSource& source) {
  const ValueType* const element = expected != nullptr ? expected->element.get() : nullptr;
  const int tag = proto.elem_type();
  std::vector<Value> items;
  append(proto.tensor_values(), SequenceProto::TENSOR, tag, element, source, &items);
  append(proto.sparse_tensor_values(), SequenceProto::SPARSE_TENSOR, tag, element, source, &items);
  append(proto.sequence_values(), SequenceProto::SEQUENCE, tag, element, source, &items);
  append(proto.map_values(), SequenceProto::MAP, tag, element, source, &items);
  append(proto.optional_values(), SequenceProto::OPTIONAL, tag, element, source, &items);
  Sequence sequence;
  sequence.element = common_type(items, fallback_type(tag, element), "a sequence");
  sequence.items = std::move(items);
  return sequence;
}

template <typename Proto>
void set_if(bool present, const Proto& proto, int tag, int elem_type, const ValueType* expected,
            const TensorSource& source, std::vector<Value>* items) {
  if (!present) return;
  if (tag != elem_type) fail_invalid("elem_type is {}, but a value of kind {} is there", elem_type, tag);
  items->push_back(from_proto(proto, expected, source));
}

Value from_proto(const OptionalProto& proto, const ValueType* expected, const TensorSource& source) {
  const ValueType* const element = expected != nullptr ? expected->element.get() : nullptr;
  const int tag = proto.elem_type();
  std::vector<Value> items;
  set_if(proto.has_tensor_value(), proto.tensor_value(), OptionalProto::TENSOR, tag, element, source, &items);
  set_if(proto.has_sparse_tensor_value(), proto.sparse_tensor_value(), OptionalProto::SPARSE_TENSOR, tag,
         element, source, &items);
  set_if(proto.has_sequence_value(), proto.sequence_value(), OptionalProto::SEQUENCE, tag, element, source,
         &items);
  set_if(proto.has_map_value(), proto.map_value(), OptionalProto::MAP, tag, element, source, &items);
  set_if(proto.has_optional_value(), proto.optional_value(), OptionalProto::OPTIONAL, tag, element, source,
         &items);
  Optional optional;
  optional.element = common_type(items, fallback_type(tag, element), "an optional");
  if (!items.empty()) optional.item = std::make_shared<const Value>(std::move(items.front()));
  return optional;
}

Tensor map_keys(const MapProto& proto, DType dtype) {
  if (dtype == DType::string ? proto.keys_size() > 0 : proto.string_keys_size() > 0) {
    fail_invalid("the map's keys are not of its key type, {}", dtype_name(dtype));
  }
  if (dtype == DType::string) {
    return Tensor::from<std::string>(
        Shape{proto.string_keys_size()},
        std::vector<std::string>(proto.string_keys().begin(), proto.string_keys().end()));
  }
  require_key_type(dtype);
  return dispatch(Integers{}, dtype, [&]<typename Key>() {
    Tensor keys(dtype_of<Key>, Shape{proto.keys_size()});
    Key* to = keys.mutable_data<Key>();
    for (const std::int64_t key : proto.keys()) {
      if (!std::in_range<Key>(key)) fail_invalid("map key {} is beyond {}", key, dtype_name(dtype_of<Key>));
      *to++ = static_cast<Key>(key);
    }
    return keys;
  });
}

Value from_proto(const MapProto& proto, const ValueType* expected, const TensorSource& source) {
  Map map;
  map.keys = map_keys(proto, dtype_from_proto(proto.key_type()));
  require_distinct_keys(map.keys);
  std::optional<ValueType> values_type;
  if (expected != nullptr && expected->element) values_type = ValueType::sequence(*expected->element);
  const Value values = from_proto(proto.values(), values_type ? &*values_type : nullptr, source);
  map.value_type = values.sequence().element;
  map.values = values.sequence().items;
  if (static_cast<std::size_t>(map.keys.size()) != map.values.size()) {
    fail_invalid("a map of {} keys and {} values", map.keys.size(), map.values.size());
  }
  return map;
}

bool has_type(const TensorProto& proto) {
  return proto.has_data_type();
}
bool has_type(const MapProto& proto) {
  return proto.has_key_type();
}
template <typename Proto>
bool has_type(const Proto& proto) {
  return proto.has_elem_type();
}

// Where a tensor has its segment a sequence has its tensors, an optional its value.
bool is_another(const TensorProto& proto) {
  return proto.has_segment() && !proto.segment().unknown_fields().empty();
}
template <typename Proto>
bool is_another(const Proto&) {
  return false;
}

template <typename Proto>
constexpr MessageRoot root_of() {
  if (std::is_same_v<Proto, SequenceProto>) return MessageRoot::sequence;
  if (std::is_same_v<Proto, OptionalProto>) return MessageRoot::optional;
  return std::is_same_v<Proto, MapProto> ? MessageRoot::map : MessageRoot::tensor;
}

// A message of one kind often parses as another: fields that are unknown, or a type that is missing, tell.
template <typename Proto>
NamedValue parse_as(const Bytes& file, const char* kind, const ValueType* expected, TensorSource source) {
  google::protobuf::io::CodedInputStream walked(reinterpret_cast<const std::uint8_t*>(file.data),
                                                static_cast<int>(file.size));
  require_affordable(walked, root_of<Proto>(), file.size);
  const auto proto = std::make_shared<Proto>();
  const bool whole = proto->ParseFromArray(file.data, static_cast<int>(file.size));
  if (!whole || !has_type(*proto)) fail_invalid("truncated, damaged, or no {}", kind);
  if (!proto->unknown_fields().empty() || is_another(*proto))
    fail_invalid("no {}: it holds fields that such a message does not have", kind);
  source.message = proto;
  return {proto->name(), from_proto(*proto, expected, source)};
}

// Sequences come before optionals: the two look the same, and sequences are by far more frequent.
NamedValue guess(const Bytes& file, const TensorSource& source) {
  using Parse = NamedValue (*)(const Bytes&, const char*, const ValueType*, TensorSource);
  constexpr Parse others[] = {parse_as<SequenceProto>, parse_as<OptionalProto>, parse_as<MapProto>};
  try {
    return parse_as<TensorProto>(file, "TensorProto", nullptr, source);
  } catch (const Error& as_tensor) {
    if (as_tensor.kind() == ErrorKind::limit) throw;
    for (const Parse parse : others) {
      try {
        return parse(file, "value", nullptr, source);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::limit) throw;
      }
    }
    throw as_tensor;
  }
}

}  // namespace

NamedValue parse_pb(const Bytes& file, const std::string& folder, const ValueType* expected) {
  if (file.size == 0) fail_invalid("the file is empty");
  if (file.size > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail_invalid("{} bytes, but protobuf messages end at 2 GiB", file.size);
  }
  if (file.text().starts_with("version https://git-lfs")) {
    fail_invalid("a Git LFS pointer, not the data itself; fetch it with `git lfs pull`");
  }
  ExternalData external(folder);
  const TensorSource source{&external, nullptr};
  switch (expected != nullptr ? expected->kind : ValueType::Kind::unknown) {
    case ValueType::Kind::tensor:
      return parse_as<TensorProto>(file, "TensorProto", expected, source);
    case ValueType::Kind::sequence:
      return parse_as<SequenceProto>(file, "SequenceProto", expected, source);
    case ValueType::Kind::optional:
      return parse_as<OptionalProto>(file, "OptionalProto", expected, source);
    case ValueType::Kind::map:
      return parse_as<MapProto>(file, "MapProto", expected, source);
    default:
      return guess(file, source);
  }
}

}  // namespace grurun::onnx_io
