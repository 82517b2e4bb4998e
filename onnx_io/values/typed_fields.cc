#include "onnx_io/values/typed_fields.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx_io/values/packed_bits.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

struct ElementField {
  const char* name;
  int (*size)(const ::onnx::TensorProto&);
};

constexpr std::array<ElementField, 6> element_fields = {{
    {"float_data", [](const ::onnx::TensorProto& proto) { return proto.float_data_size(); }},
    {"int32_data", [](const ::onnx::TensorProto& proto) { return proto.int32_data_size(); }},
    {"string_data", [](const ::onnx::TensorProto& proto) { return proto.string_data_size(); }},
    {"int64_data", [](const ::onnx::TensorProto& proto) { return proto.int64_data_size(); }},
    {"double_data", [](const ::onnx::TensorProto& proto) { return proto.double_data_size(); }},
    {"uint64_data", [](const ::onnx::TensorProto& proto) { return proto.uint64_data_size(); }},
}};

const char* field_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64:
      return "float_data";
    case DType::float64:
    case DType::complex128:
      return "double_data";
    case DType::int64:
      return "int64_data";
    case DType::uint32:
    case DType::uint64:
      return "uint64_data";
    case DType::string:
      return "string_data";
    default:
      return "int32_data";
  }
}

// float6 is the exception: one element an entry, although raw_data packs it.
bool packs_entries(DType dtype) {
  const int bits = dtype_file_bits(dtype);
  return bits == 2 || bits == 4;
}

std::int64_t entries_needed(DType dtype, std::int64_t count) {
  if (is_complex(dtype)) return 2 * count;
  return packs_entries(dtype) ? file_bytes(dtype, count) : count;
}

template <typename To, typename From>
void narrow(const google::protobuf::RepeatedField<From>& from, To* to, std::int64_t lowest,
            std::int64_t highest, DType dtype) {
  for (const From value : from) {
    if (std::cmp_less(value, lowest) || std::cmp_greater(value, highest)) {
      fail_invalid("{} in the data is beyond what {} holds ({} to {})", value, dtype_name(dtype), lowest,
                   highest);
    }
    *to++ = static_cast<To>(value);
  }
}

template <typename To, typename From>
void narrow(const google::protobuf::RepeatedField<From>& from, To* to, DType dtype) {
  narrow(from, to, static_cast<std::int64_t>(std::numeric_limits<To>::min()),
         static_cast<std::int64_t>(std::numeric_limits<To>::max()), dtype);
}

void from_int32_data(const google::protobuf::RepeatedField<std::int32_t>& data, DType dtype, Tensor* out) {
  void* const to = out->mutable_raw();
  if (packs_entries(dtype)) {
    std::vector<std::uint8_t> packed(static_cast<std::size_t>(data.size()));
    // onnx 1.16 to 1.18 wrote such a byte with its sign extended.
    narrow(data, packed.data(), -128, 255, dtype);
    unpack(dtype, reinterpret_cast<const std::byte*>(packed.data()), static_cast<std::byte*>(to),
           out->size());
  } else if (dtype == DType::int32) {
    std::copy(data.begin(), data.end(), static_cast<std::int32_t*>(to));
  } else if (dtype == DType::int16) {
    narrow(data, static_cast<std::int16_t*>(to), dtype);
  } else if (dtype == DType::int8) {
    narrow(data, static_cast<std::int8_t*>(to), dtype);
  } else if (dtype_size(dtype) == 2) {
    narrow(data, static_cast<std::uint16_t*>(to), dtype);
  } else {
    const int bits = dtype == DType::boolean ? 1 : dtype_file_bits(dtype);
    narrow(data, static_cast<std::uint8_t*>(to), 0, (1 << bits) - 1, dtype);
  }
}

}  // namespace

const char* used_typed_field(const ::onnx::TensorProto& proto) {
  const char* used = nullptr;
  for (const ElementField& field : element_fields) {
    if (field.size(proto) == 0) continue;
    if (used != nullptr) fail_invalid("the data is in more than one place ({} and {})", used, field.name);
    used = field.name;
  }
  return used;
}

Tensor tensor_from_typed_field(const ::onnx::TensorProto& proto, DType dtype, const Shape& shape,
                               std::int64_t count) {
  const std::string_view wanted = field_of(dtype);
  const char* const used = used_typed_field(proto);
  if (used != nullptr && used != wanted) {
    fail_invalid("{} elements must lie in {}, but {} is used", dtype_name(dtype), wanted, used);
  }
  const auto row =
      std::ranges::find(element_fields, wanted, [](const ElementField& field) { return field.name; });
  const std::int64_t held = row->size(proto);
  const std::int64_t needed = entries_needed(dtype, count);
  if (held != needed) {
    fail_invalid("{} holds {} entries, but {} {} takes {}", wanted, held, dtype_name(dtype),
                 shape.to_string(), needed);
  }
  Tensor out(dtype, shape);
  if (count == 0) return out;
  void* const to = out.mutable_raw();
  if (dtype == DType::string) {
    std::copy(proto.string_data().begin(), proto.string_data().end(), static_cast<std::string*>(to));
  } else if (wanted == "float_data") {
    std::memcpy(to, proto.float_data().data(), out.byte_size());
  } else if (wanted == "double_data") {
    std::memcpy(to, proto.double_data().data(), out.byte_size());
  } else if (dtype == DType::int64) {
    std::memcpy(to, proto.int64_data().data(), out.byte_size());
  } else if (dtype == DType::uint64) {
    std::memcpy(to, proto.uint64_data().data(), out.byte_size());
  } else if (dtype == DType::uint32) {
    narrow(proto.uint64_data(), static_cast<std::uint32_t*>(to), dtype);
  } else {
    from_int32_data(proto.int32_data(), dtype, &out);
  }
  return out;
}

}  // namespace grurun::onnx_io
