#include "tensor/element_text.h"

#include <fmt/format.h>

#include <cmath>

#include "tensor/dispatch.h"

namespace grurun {
namespace {

using NarrowFloats = Join<SmallFloats, TypeList<Float16, BFloat16>>;

constexpr std::size_t longest_string = 64;

template <typename Float>
std::string float_text(Float value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return digits > 0 ? fmt::format("{:.{}g}", value, digits) : fmt::format("{}", value);
}

// The fewest digits that a type of at most 16 bits needs: 5 tell all values of float16 apart.
template <typename T>
std::string narrow_text(T value, int digits) {
  constexpr int enough = 5;
  return float_text(static_cast<float>(value), digits > 0 ? std::min(digits, enough) : enough);
}

template <typename Part>
std::string complex_text(std::complex<Part> value, int digits) {
  const std::string imaginary = float_text(value.imag(), digits);
  const bool signed_already = imaginary.front() == '-';
  return float_text(value.real(), digits) + (signed_already ? "" : "+") + imaginary + "j";
}

std::string string_text(std::string_view text) {
  std::string out = "'";
  for (std::size_t at = 0; at < text.size();) {
    // Never between the bytes of one character of UTF-8.
    if (at >= longest_string) return out + "'...";
    if (text[at] == '\'' || text[at] == '\\') out += '\\';
    at += append_printable(out, text.substr(at));
  }
  return out + "'";
}

}  // namespace

std::string element_text(const Tensor& tensor, std::int64_t offset, int digits) {
  return dispatch(AllTypes{}, tensor.dtype(), [&]<typename T>() -> std::string {
    const T& value = tensor.data<T>()[offset];
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, std::string>) {
      return string_text(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return float_text(value, digits);
    } else if constexpr (NarrowFloats::set.contains(dtype_of<T>)) {
      return narrow_text(value, digits);
    } else if constexpr (Complexes::set.contains(dtype_of<T>)) {
      return complex_text(value, digits);
    } else if constexpr (std::is_integral_v<T>) {
      return fmt::format("{}", value);
    } else {
      return fmt::format("{}", static_cast<int>(value));
    }
  });
}

}  // namespace grurun
