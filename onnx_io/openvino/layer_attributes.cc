#include "onnx_io/openvino/layer_attributes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "tensor/ascii_case.h"
#include "tensor/error.h"

namespace grurun::onnx_io::openvino {

namespace {

double parse_number(std::string_view text, const char* name) {
  const std::string_view digits = trimmed(text);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    fail_invalid("attribute {} has '{}', which is no number", name, digits);
  }
  return number;
}

constexpr std::array<std::pair<std::string_view, DType>, 19> element_types = {{
    {"f64", DType::float64},
    {"f32", DType::float32},
    {"f16", DType::float16},
    {"bf16", DType::bfloat16},
    {"f8e4m3", DType::float8e4m3fn},
    {"f8e5m2", DType::float8e5m2},
    {"i8", DType::int8},
    {"i16", DType::int16},
    {"i32", DType::int32},
    {"i64", DType::int64},
    {"u8", DType::uint8},
    {"u16", DType::uint16},
    {"u32", DType::uint32},
    {"u64", DType::uint64},
    {"boolean", DType::boolean},
    {"bool", DType::boolean},
    {"fp64", DType::float64},
    {"fp32", DType::float32},
    {"fp16", DType::float16},
}};

}  // namespace

const std::string* LayerAttributes::find(const char* name) {
  const auto found = layer_.attributes.find(name);
  if (found == layer_.attributes.end()) return nullptr;
  read_.insert(found->first);
  return &found->second;
}

const std::string& LayerAttributes::text(const char* name) {
  const std::string* found = find(name);
  if (found == nullptr) fail_invalid("attribute {} is missing", name);
  return *found;
}

std::string LayerAttributes::text(const char* name, const std::string& fallback) {
  const std::string* found = find(name);
  return found == nullptr ? fallback : std::string(trimmed(*found));
}

std::int64_t LayerAttributes::integer(const char* name) {
  return parse_integer(text(name), fmt::format("attribute {}", name));
}

std::int64_t LayerAttributes::integer(const char* name, std::int64_t fallback) {
  return find(name) == nullptr ? fallback : integer(name);
}

bool LayerAttributes::boolean(const char* name, bool fallback) {
  const std::string* found = find(name);
  if (found == nullptr) return fallback;
  const std::string value = ascii_lower(trimmed(*found));
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  fail_invalid("attribute {} is '{}'; it must be true, false, 1 or 0", name, *found);
}

double LayerAttributes::number(const char* name, double fallback) {
  const std::string* found = find(name);
  return found == nullptr ? fallback : parse_number(*found, name);
}

std::vector<double> LayerAttributes::numbers(const char* name) {
  std::vector<double> out;
  const std::string* found = find(name);
  if (found == nullptr) return out;
  for (const std::string_view item : split_list(*found)) out.push_back(parse_number(item, name));
  return out;
}

std::vector<std::string> LayerAttributes::words(const char* name) {
  std::vector<std::string> out;
  const std::string* found = find(name);
  if (found == nullptr) return out;
  for (const std::string_view item : split_list(*found)) out.push_back(ascii_lower(item));
  return out;
}

DType LayerAttributes::element_type(const char* name) {
  return parse_element_type(text(name));
}

void LayerAttributes::require_all_read() const {
  for (const auto& [name, value] : layer_.attributes) {
    if (!read_.contains(name)) fail_unsupported("attribute {}=\"{}\" is not known here", name, value);
  }
}

DType parse_element_type(std::string_view name) {
  const std::string wanted = ascii_lower(trimmed(name));
  const auto* const found =
      std::ranges::find(element_types, std::string_view(wanted), &std::pair<std::string_view, DType>::first);
  if (found == element_types.end()) fail_unsupported("elements of type '{}' are not read", name);
  return found->second;
}

}  // namespace grurun::onnx_io::openvino
