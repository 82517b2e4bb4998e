#include "onnx_io/values/json_elements.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "onnx_io/utf8.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"

namespace grurun::onnx_io {

namespace {

using JsonNode = JsonTree::Node;
using Kind = JsonTree::Kind;

// Formats that have neither infinities nor NaN, so that conversion to them clips.
template <typename T>
inline constexpr bool is_clipped =
    std::is_same_v<T, Float4E2M1> || std::is_same_v<T, Float6E2M3> || std::is_same_v<T, Float6E3M2>;

template <typename T>
inline constexpr bool is_complex_type = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;

template <typename T>
[[noreturn]] void fail_kind(const JsonNode& node) {
  fail_invalid("{} where an element of type {} is needed", describe(node.kind), dtype_name(dtype_of<T>));
}

double read_number(const JsonTree& tree, const JsonNode& node, const char* type) {
  if (node.kind == Kind::integer) return static_cast<double>(node.integer);
  if (node.kind == Kind::unsigned_integer) return static_cast<double>(node.unsigned_integer);
  if (node.kind == Kind::number) return node.number;
  if (node.kind == Kind::string) {
    const std::string_view text = tree.text(node);
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  }
  fail_invalid("{} where a number of type {} is needed", describe(node.kind), type);
}

Float8E8M0 to_power_of_two(double value) {
  if (std::isnan(value)) return Float8E8M0::from_bits(0xff);
  int exponent = 0;
  // Digits are written for floats: it is the nearest float that must be the power.
  const float mantissa = std::frexp(static_cast<float>(value), &exponent);
  if (mantissa != 0.5f || exponent - 1 < -127 || exponent - 1 > 127) {
    fail_invalid("{} is no power of two from 2^-127 to 2^127, which a float8e8m0 must be", value);
  }
  return Float8E8M0::from_bits(static_cast<std::uint8_t>(exponent - 1 + 127));
}

template <typename T>
T to_floating(double value) {
  if constexpr (std::is_same_v<T, Float8E8M0>) {
    return to_power_of_two(value);
  } else {
    T out;
    if constexpr (std::is_constructible_v<T, double, bool>) {
      out = T(value, false);
    } else {
      out = T(value);
    }
    const auto back = static_cast<double>(out);
    bool fits = std::isnan(value)   ? std::isnan(back)
                : std::isinf(value) ? back == value
                                    : std::isfinite(back);
    if constexpr (is_clipped<T>)
      fits = fits && std::fabs(value) <= T(std::numeric_limits<double>::infinity());
    if (!fits) fail_invalid("{} does not fit in {}", value, dtype_name(dtype_of<T>));
    return out;
  }
}

template <typename T>
T to_integer(const JsonNode& node) {
  const auto convert = [](auto value) -> T {
    bool fits = false;
    if constexpr (is_small_int<T>) {
      fits = std::cmp_greater_equal(value, T::lowest) && std::cmp_less_equal(value, T::highest);
    } else {
      fits = std::in_range<T>(value);
    }
    if (!fits) fail_invalid("{} does not fit in {}", value, dtype_name(dtype_of<T>));
    if constexpr (is_small_int<T>) return T(static_cast<int>(value));
    return static_cast<T>(value);
  };
  if (node.kind == Kind::integer) return convert(node.integer);
  if (node.kind == Kind::unsigned_integer) return convert(node.unsigned_integer);
  // Digits of an integer beyond 64 bits are read as a number.
  if (node.kind == Kind::number && std::trunc(node.number) == node.number)
    fail_invalid("{} does not fit in {}, or is not written as an integer", node.number,
                 dtype_name(dtype_of<T>));
  fail_kind<T>(node);
}

std::string from_hex(std::string_view digits) {
  std::string out;
  if (digits.size() % 2 != 0) fail_invalid("an odd number of hexadecimal digits");
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto digit = [](char c) {
      if (c >= '0' && c <= '9') return c - '0';
      if (c >= 'a' && c <= 'f') return c - 'a' + 10;
      if (c >= 'A' && c <= 'F') return c - 'A' + 10;
      fail_invalid("'{}' is no hexadecimal digit", c);
    };
    out += static_cast<char>(digit(digits[i]) * 16 + digit(digits[i + 1]));
  }
  return out;
}

template <typename T>
T read_element(const JsonTree& tree, const JsonNode& node) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (node.kind == Kind::string) return std::string(tree.text(node));
    const JsonNode* const hex =
        node.kind == Kind::object && node.size == 1 ? tree.find(node, "hex") : nullptr;
    if (hex == nullptr || hex->kind != Kind::string) fail_kind<T>(node);
    return from_hex(tree.text(*hex));
  } else if constexpr (std::is_same_v<T, bool>) {
    if (node.kind == Kind::boolean) return node.boolean;
    if (node.kind == Kind::unsigned_integer && node.unsigned_integer < 2) return node.unsigned_integer == 1;
    fail_kind<T>(node);
  } else if constexpr (is_complex_type<T>) {
    if (node.kind != Kind::array || node.size != 2) fail_kind<T>(node);
    using Part = typename T::value_type;
    const JsonNode* const re = JsonTree::first(node);
    const char* const type = dtype_name(dtype_of<T>);
    return T(to_floating<Part>(read_number(tree, *re, type)),
             to_floating<Part>(read_number(tree, *JsonTree::next(re), type)));
  } else if constexpr (std::is_integral_v<T> || is_small_int<T>) {
    return to_integer<T>(node);
  } else {
    return to_floating<T>(read_number(tree, node, dtype_name(dtype_of<T>)));
  }
}

template <typename Real>
void append_real(Real value, std::string* out) {
  if (std::isnan(value)) {
    *out += "\"NaN\"";
  } else if (std::isinf(value)) {
    *out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    std::string text = fmt::format("{}", value);
    // The reader rounds twice, to double and then to float; the shortest digits may not survive that.
    if (static_cast<Real>(std::strtod(text.c_str(), nullptr)) != value) {
      text = fmt::format("{:.17g}", static_cast<double>(value));
    }
    // Without a point it would be an integer, which has no negative zero.
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    *out += text;
  }
}

void append_element(const std::string& value, std::string* out) {
  if (decode_utf8(value)) {
    *out += json_string(value);
    return;
  }
  *out += "{\"hex\": \"";
  for (const char c : value) *out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  *out += "\"}";
}

template <typename T>
void append_element(const T& value, std::string* out) {
  if constexpr (std::is_same_v<T, bool>) {
    *out += value ? "true" : "false";
  } else if constexpr (is_complex_type<T>) {
    *out += '[';
    append_real(value.real(), out);
    *out += ", ";
    append_real(value.imag(), out);
    *out += ']';
  } else if constexpr (std::is_integral_v<T>) {
    *out += fmt::format("{}", value);
  } else if constexpr (is_small_int<T>) {
    *out += fmt::format("{}", static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    append_real(value, out);
  } else {
    append_real(static_cast<float>(value), out);
  }
}

}  // namespace

bool is_json_element(const JsonNode& node, DType dtype) {
  if (node.kind != Kind::array) return true;
  return is_complex(dtype) && node.size == 2 && JsonTree::first(node)->kind != Kind::array;
}

void read_json_element(const JsonTree& tree, const JsonNode& node, DType dtype, void* to) {
  dispatch(AllTypes{}, dtype, [&]<typename T>() { *static_cast<T*>(to) = read_element<T>(tree, node); });
}

void append_json_element(const Tensor& tensor, std::int64_t index, std::string* out) {
  dispatch(AllTypes{}, tensor.dtype(), [&]<typename T>() { append_element(tensor.data<T>()[index], out); });
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump();
}

}  // namespace grurun::onnx_io
