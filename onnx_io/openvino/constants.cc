#include "onnx_io/openvino/constants.h"

#include <cstring>

#include "tensor/dispatch.h"
#include "tensor/element_types.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

template <typename T>
void append_integers(const Constant& constant, const std::string& what, std::vector<std::int64_t>& out) {
  for (std::size_t at = 0; at + sizeof(T) <= constant.bytes.size; at += sizeof(T)) {
    T value{};
    std::memcpy(&value, constant.bytes.data + at, sizeof(T));
    if (!std::in_range<std::int64_t>(value))
      fail_invalid("{} holds {}, which is beyond 64 bits", what, value);
    out.push_back(static_cast<std::int64_t>(value));
  }
}

template <typename From, typename To>
std::string convert(const Bytes& bytes) {
  const std::size_t count = bytes.size / sizeof(From);
  std::string out(count * sizeof(To), '\0');
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, bytes.data + i * sizeof(From), sizeof(From));
    const To wide = static_cast<To>(static_cast<float>(value));
    std::memcpy(out.data() + i * sizeof(To), &wide, sizeof(To));
  }
  return out;
}

std::size_t element_size(const Value& value) {
  return dtype_size(value.dtype);
}

std::size_t product(const Dims& dims, std::size_t from, std::size_t to) {
  std::size_t out = 1;
  for (std::size_t i = from; i < to; ++i) out *= static_cast<std::size_t>(dims[i]);
  return out;
}

}  // namespace

std::vector<std::int64_t> integers_of(const Constant& constant, const std::string& what) {
  if (!Integers::set.contains(constant.dtype))
    fail_invalid("{} has elements of type {}; it must have integers", what, dtype_name(constant.dtype));
  std::vector<std::int64_t> out;
  dispatch(Integers{}, constant.dtype, [&]<typename T>() { append_integers<T>(constant, what, out); });
  return out;
}

Value Constants::once(const Value& constant, const std::string& key, const std::function<Value()>& make) {
  const auto where = std::pair(constant.constant, key);
  const auto known = made_.find(where);
  if (known != made_.end()) return known->second;
  return made_.emplace(where, make()).first->second;
}

Value Constants::with_dims(const Value& constant, const Dims& dims) {
  const auto make = [&] {
    Constant changed = *constant.constant;
    changed.dims = dims;
    Value value = constant;
    value.dims = dims;
    value.constant = std::make_shared<const Constant>(std::move(changed));
    return value;
  };
  return once(constant, fmt::format("dims {}", fmt::join(dims, ",")), make);
}

Value Constants::arranged(const Value& constant, const std::vector<int>& blocks, std::int64_t rows) {
  const auto make = [&] {
    const Bytes& from = constant.constant->bytes;
    Dims dims = constant.constant->dims;
    const std::size_t source = product(dims, 1, dims.size()) * element_size(constant);
    const std::size_t block =
        static_cast<std::size_t>(rows) * product(dims, 2, dims.size()) * element_size(constant);
    std::string out(static_cast<std::size_t>(dims[0]) * blocks.size() * block, '\0');
    char* to = out.data();
    for (std::int64_t d = 0; d < dims[0]; ++d) {
      const std::byte* const begin = from.data + static_cast<std::size_t>(d) * source;
      for (const int number : blocks) {
        if (number != no_block && block > 0)
          std::memcpy(to, begin + static_cast<std::size_t>(number) * block, block);
        to += block;
      }
    }
    dims[1] = static_cast<std::int64_t>(blocks.size()) * rows;
    return graph_.make_constant(constant.name, constant.dtype, dims, std::move(out));
  };
  return once(constant, fmt::format("blocks {} of {}", fmt::join(blocks, ","), rows), make);
}

Value Constants::transposed(const Value& constant) {
  const auto make = [&] {
    const Bytes& from = constant.constant->bytes;
    Dims dims = constant.constant->dims;
    const std::size_t rank = dims.size();
    const std::size_t rows = product(dims, rank - 2, rank - 1);
    const std::size_t columns = product(dims, rank - 1, rank);
    const std::size_t size = element_size(constant);
    std::string out(from.size, '\0');
    const std::size_t matrix = rows * columns * size;
    for (std::size_t at = 0; matrix > 0 && at < from.size; at += matrix) {
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
          std::memcpy(out.data() + at + (c * rows + r) * size, from.data + at + (r * columns + c) * size,
                      size);
        }
      }
    }
    std::swap(dims[rank - 2], dims[rank - 1]);
    return graph_.make_constant(constant.name, constant.dtype, dims, std::move(out));
  };
  return once(constant, "transposed", make);
}

bool Constants::can_widen(const Value& constant, DType to) {
  const bool narrow = constant.dtype == DType::float16 || constant.dtype == DType::bfloat16;
  return constant.constant != nullptr && narrow && (to == DType::float32 || to == DType::float64);
}

Value Constants::widened(const Value& constant, DType to) {
  const auto make = [&] {
    const Bytes& from = constant.constant->bytes;
    const bool half = constant.dtype == DType::float16;
    std::string out;
    if (to == DType::float32) {
      out = half ? convert<Float16, float>(from) : convert<BFloat16, float>(from);
    } else {
      out = half ? convert<Float16, double>(from) : convert<BFloat16, double>(from);
    }
    return graph_.make_constant(constant.name, to, constant.constant->dims, std::move(out));
  };
  return once(constant, dtype_name(to), make);
}

}  // namespace grurun::onnx_io::openvino
