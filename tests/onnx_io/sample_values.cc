#include "tests/onnx_io/sample_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tensor/dispatch.h"

namespace grurun::onnx_io {

namespace {

template <typename T>
T sample_element(std::int64_t i) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, std::string>) {
    constexpr const char* texts[] = {"", "a", "grün", "日本語", "line\nbreak \"quoted\"", "\xf0\x9f\x99\x82"};
    return texts[i % 6];
  } else if constexpr (std::is_same_v<T, bool>) {
    return i % 3 == 0;
  } else if constexpr (std::is_integral_v<T>) {
    const T values[] = {0, 1, Limits::max(), Limits::min(), static_cast<T>(Limits::max() / 3)};
    return values[i % 5];
  } else if constexpr (std::is_floating_point_v<T>) {
    const T values[] = {0,
                        -T{0},
                        T(0.1),
                        Limits::max(),
                        Limits::denorm_min(),
                        -Limits::infinity(),
                        Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::epsilon() + 1};
    return values[i % 9];
  } else if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
    using Part = typename T::value_type;
    return T(sample_element<Part>(i), sample_element<Part>(i + 4));
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    // Zeros, a subnormal, a number, the largest, infinity; a NaN of no payload.
    const int large = std::is_same_v<T, Float16> ? 0x7bff : 0x7f7f;
    const int infinity = std::is_same_v<T, Float16> ? 0x7c00 : 0x7f80;
    const int nan = std::is_same_v<T, Float16> ? 0x7e00 : 0x7fc0;
    const int codes[] = {0, 0x8000, 1, 0x3c01, large, infinity, infinity | 0x8000, nan};
    return T::from_bits(static_cast<std::uint16_t>(codes[i % 8]));
  } else if constexpr (std::is_constructible_v<T, int>) {
    return T(static_cast<int>(i));
  } else {
    // Codes of 8 bits and less: those that are NaN become the NaN a reader makes.
    const int code = static_cast<int>(i * 37) & ((1 << dtype_file_bits(dtype_of<T>)) - 1);
    const T element = T::from_bits(static_cast<std::uint8_t>(code));
    if constexpr (std::is_constructible_v<T, double, bool>) {
      if (std::isnan(static_cast<float>(element))) return T(std::numeric_limits<double>::quiet_NaN(), false);
    }
    return element;
  }
}

std::string tensor_difference(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::string) {
    const auto as = a.span<std::string>();
    return std::ranges::equal(as, b.span<std::string>()) ? "" : "the strings differ";
  }
  const auto* const x = static_cast<const unsigned char*>(a.raw());
  const auto* const y = static_cast<const unsigned char*>(b.raw());
  for (std::size_t i = 0; i < a.byte_size(); ++i) {
    if (x[i] != y[i]) {
      const std::size_t width = dtype_size(a.dtype());
      return fmt::format("element {}, byte {}: {:#x} and {:#x}", i / width, i % width, x[i], y[i]);
    }
  }
  return "";
}

std::string list_difference(const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return fmt::format("{} and {} items", a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string found = difference(a[i], b[i]);
    if (!found.empty()) return fmt::format("item {}: {}", i, found);
  }
  return "";
}

template <typename T>
Value sample_map(std::vector<T> keys) {
  Map map;
  map.keys = Tensor::from<T>(Shape{static_cast<std::int64_t>(keys.size())}, keys);
  map.value_type = ValueType::tensor(DType::float32);
  for (std::size_t i = 0; i < keys.size(); ++i) map.values.push_back(sample_tensor(DType::float32, {2}));
  return map;
}

Value sequence_of(std::vector<Value> items, ValueType element) {
  return Sequence{std::move(element), std::move(items)};
}

}  // namespace

std::vector<DType> every_dtype() {
  std::vector<DType> out;
  for (int number = 1; number < dtype_count; ++number) out.push_back(static_cast<DType>(number));
  return out;
}

Tensor sample_tensor(DType dtype, Shape shape) {
  Tensor out(dtype, std::move(shape));
  dispatch(AllTypes{}, dtype, [&]<typename T>() {
    T* const to = out.mutable_data<T>();
    for (std::int64_t i = 0; i < out.size(); ++i) to[i] = sample_element<T>(i);
  });
  return out;
}

std::vector<Value> sample_containers() {
  const ValueType floats = ValueType::tensor(DType::float32);
  const ValueType strings = ValueType::tensor(DType::string);
  std::vector<Value> out;
  const Value two =
      sequence_of({sample_tensor(DType::float32, {2, 2}), sample_tensor(DType::float32, {})}, floats);
  out.push_back(two);
  out.push_back(sequence_of({two, two}, ValueType::sequence(floats)));
  out.push_back(sequence_of({sample_tensor(DType::string)}, strings));
  out.push_back(sequence_of({}, floats));
  out.push_back(Optional{floats, std::make_shared<const Value>(sample_tensor(DType::float32))});
  out.push_back(Optional{ValueType::sequence(floats), std::make_shared<const Value>(two)});
  out.push_back(Optional{floats, nullptr});
  out.push_back(sample_map<std::string>({"a", "", "ü"}));
  out.push_back(sample_map<std::int64_t>({-1, INT64_MAX, INT64_MIN}));
  out.push_back(sample_map<std::uint8_t>({0, 255}));
  out.push_back(sample_map<std::int16_t>({}));
  out.push_back(sequence_of({sample_map<std::int64_t>({7})}, ValueType::map(DType::int64, floats)));
  return out;
}

std::string difference(const Value& a, const Value& b) {
  if (a.describe() != b.describe()) return fmt::format("{} and {}", a.describe(), b.describe());
  if (a.is_tensor()) return tensor_difference(a.tensor(), b.tensor());
  if (a.is_sequence()) return list_difference(a.sequence().items, b.sequence().items);
  if (a.is_optional()) return a.optional().item ? difference(*a.optional().item, *b.optional().item) : "";
  if (a.is_map()) {
    const std::string keys = tensor_difference(a.map().keys, b.map().keys);
    return keys.empty() ? list_difference(a.map().values, b.map().values) : "keys: " + keys;
  }
  return "";
}

}  // namespace grurun::onnx_io
