#include "onnx_io/values/proto_tensor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "onnx_io/values/packed_bits.h"
#include "onnx_io/values/stored_elements.h"
#include "onnx_io/values/typed_fields.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and taken as it is");

namespace {

// Below this a borrowed tensor saves less than it costs to keep the whole message alive for it.
constexpr std::size_t borrow_from = 256;

std::uint64_t parse_number(const std::string& key, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail_invalid("external data: {} '{}' is not a number from 0 to 2^64-1", key, text);
  }
  return number;
}

ExternalLocation external_location(const ::onnx::TensorProto& proto) {
  ExternalLocation where;
  bool has_location = false;
  bool has_offset = false;
  for (const auto& entry : proto.external_data()) {
    const bool again = (entry.key() == "location" && has_location) ||
                       (entry.key() == "offset" && has_offset) || (entry.key() == "length" && where.length);
    if (again) fail_invalid("external data: {} is given twice", entry.key());
    if (entry.key() == "location") {
      has_location = true;
      where.location = entry.value();
    } else if (entry.key() == "offset") {
      has_offset = true;
      where.offset = parse_number("offset", entry.value());
    } else if (entry.key() == "length") {
      where.length = parse_number("length", entry.value());
    }
  }
  if (!has_location) fail_invalid("external data has no location");
  return where;
}

Shape shape_from_dims(const google::protobuf::RepeatedField<std::int64_t>& dims) {
  if (dims.size() > max_rank) {
    fail_unsupported("a tensor of rank {}; grurun holds tensors up to rank {}", dims.size(), max_rank);
  }
  for (const std::int64_t dim : dims) {
    if (dim < 0) fail_invalid("dimension {} is negative", dim);
  }
  return Shape(std::span<const std::int64_t>(dims.data(), static_cast<std::size_t>(dims.size())));
}

void require_bools(const std::byte* data, std::size_t size) {
  const auto* bad = std::find_if(data, data + size, [](std::byte b) { return b > std::byte{1}; });
  if (bad != data + size)
    fail_invalid("a bool of value {}; only 0 and 1 are bools", std::to_integer<int>(*bad));
}

Tensor from_bytes(DType dtype, const Shape& shape, std::int64_t count, const Bytes& bytes,
                  const char* place) {
  if (dtype == DType::string) fail_invalid("strings cannot lie in {}", place);
  const auto needed = static_cast<std::size_t>(file_bytes(dtype, count));
  if (bytes.size != needed) {
    fail_invalid("{} holds {} bytes, but {} {} takes {}", place, bytes.size, dtype_name(dtype),
                 shape.to_string(), needed);
  }
  if (dtype == DType::boolean) require_bools(bytes.data, bytes.size);
  const std::size_t alignment = std::min<std::size_t>(dtype_size(dtype), alignof(double));
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data) % alignment == 0;
  if (bytes.owner && needed >= borrow_from && aligned && !is_packed(dtype)) {
    return Tensor::borrow(dtype, shape, bytes.data, bytes.owner);
  }
  Tensor out(dtype, shape);
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  if (is_packed(dtype)) {
    unpack(dtype, bytes.data, to, count);
  } else if (needed > 0) {
    std::memcpy(to, bytes.data, needed);
  }
  return out;
}

}  // namespace

DType dtype_from_proto(std::int64_t number) {
  if (!is_valid_dtype(number)) fail_invalid("{} is the number of no element type", number);
  return static_cast<DType>(number);
}

Tensor tensor_from_proto(const ::onnx::TensorProto& proto, const TensorSource& source) {
  const DType dtype = dtype_from_proto(proto.data_type());
  if (proto.has_segment()) fail_unsupported("a tensor in segments; store it whole");
  const Shape shape = shape_from_dims(proto.dims());
  const std::int64_t count = stored_elements(shape.dims());
  const bool external = proto.data_location() == ::onnx::TensorProto::EXTERNAL;
  const char* const field = used_typed_field(proto);
  if (external && proto.has_raw_data())
    fail_invalid("the data is in more than one place (external data and raw_data)");
  if (field != nullptr && (external || proto.has_raw_data())) {
    fail_invalid("the data is in more than one place ({} and {})", external ? "external data" : "raw_data",
                 field);
  }
  if (external) {
    const ExternalLocation where = external_location(proto);
    if (source.external == nullptr) {
      fail_invalid("the data lies in the file '{}', but external data is not allowed here", where.location);
    }
    return from_bytes(dtype, shape, count, source.external->find(where), "the external data");
  }
  if (proto.has_raw_data()) {
    const std::string& raw = proto.raw_data();
    const Bytes bytes{reinterpret_cast<const std::byte*>(raw.data()), raw.size(), source.message};
    return from_bytes(dtype, shape, count, bytes, "raw_data");
  }
  return tensor_from_typed_field(proto, dtype, shape, count);
}

::onnx::TensorProto tensor_to_proto(const Tensor& tensor, const std::string& name) {
  ::onnx::TensorProto proto;
  if (!name.empty()) proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const std::int64_t dim : tensor.shape()) proto.add_dims(dim);
  if (tensor.dtype() == DType::string) {
    for (const std::string& element : tensor.span<std::string>()) proto.add_string_data(element);
    return proto;
  }
  std::string& raw = *proto.mutable_raw_data();
  raw.resize(static_cast<std::size_t>(file_bytes(tensor.dtype(), tensor.size())));
  const auto* from = static_cast<const std::byte*>(tensor.raw());
  if (is_packed(tensor.dtype())) {
    pack(tensor.dtype(), from, reinterpret_cast<std::byte*>(raw.data()), tensor.size());
  } else if (!raw.empty()) {
    std::memcpy(raw.data(), from, raw.size());
  }
  return proto;
}

}  // namespace grurun::onnx_io
