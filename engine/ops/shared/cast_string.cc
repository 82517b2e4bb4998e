#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/ops/shared/cast.h"
#include "tensor/dispatch.h"

namespace grurun::engine::detail {

namespace {

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

[[noreturn]] void fail_text(const std::string& text, DType to) {
  fail_invalid("the string '{}' is no number that {} can be made of", text, dtype_name(to));
}

/// inf, nan and numbers in any notation of the standard; a sign in front.
template <typename Real>
Real parse_real(const std::string& text, DType to) {
  std::string_view body = without_spaces(text);
  if (body.size() > 1 && body[0] == '+' && body[1] != '-') body.remove_prefix(1);
  Real value{};
  const auto [rest, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (rest != body.data() + body.size() || error == std::errc::invalid_argument) fail_text(text, to);
  // Too large or too small for Real: infinity or zero, which from_chars does not tell apart.
  if (error == std::errc::result_out_of_range)
    return static_cast<Real>(std::strtold(std::string(body).c_str(), nullptr));
  return value;
}

template <typename Integer>
bool parse_integer(const std::string& text, Integer& value) {
  std::string_view body = without_spaces(text);
  if (body.size() > 1 && body[0] == '+' && body[1] != '-') body.remove_prefix(1);
  const auto [rest, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  return rest == body.data() + body.size() && error == std::errc{};
}

/// Strings to a wide type, from which an ordinary cast goes on.
template <typename Wide, typename Parse>
Tensor parse_all(const Tensor& x, Parse parse) {
  Tensor wide(dtype_of<Wide>, x.shape());
  const std::string* from = x.data<std::string>();
  Wide* into = wide.mutable_data<Wide>();
  for (std::int64_t i = 0; i < x.size(); ++i) into[i] = parse(from[i]);
  return wide;
}

std::string fixed_text(double value) {
  char buffer[400];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

template <typename T>
std::string real_text(T element) {
  const auto value = static_cast<double>(element);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  // The fewest digits that come back to this element; a double's 17 always do.
  for (int digits = 0; digits < 17; ++digits) {
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, digits).ptr;
    double again = 0;
    std::from_chars(buffer, end, again);
    const Tensor back = cast_tensor(Tensor::scalar(again), dtype_of<T>, {});
    if (static_cast<double>(*back.data<T>()) == value) return fixed_text(again);
  }
  return fixed_text(value);
}

template <typename T>
std::string text_of(T element) {
  if constexpr (std::is_same_v<T, bool>) {
    return element ? "1" : "0";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(element);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isfinite(element) ? fixed_text(element) : real_text(element);
  } else if constexpr (std::is_same_v<T, float>) {
    if (!std::isfinite(element)) return real_text(element);
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, element, std::chars_format::fixed).ptr;
    std::string text(buffer, end);
    return text.find('.') == std::string::npos ? text + ".0" : text;
  } else if constexpr (is_small_int<T>) {
    return std::to_string(static_cast<int>(element));
  } else {
    return real_text(element);
  }
}

}  // namespace

Tensor cast_from_string(const Tensor& x, DType to, const CastRule& rule) {
  if (to == DType::float32) {
    return parse_all<float>(x, [&](const std::string& text) { return parse_real<float>(text, to); });
  }
  if (is_floating(to) || to == DType::boolean) {
    return cast_tensor(
        parse_all<double>(x, [&](const std::string& text) { return parse_real<double>(text, to); }), to,
        rule);
  }
  if (to == DType::uint64) {
    return parse_all<std::uint64_t>(x, [&](const std::string& text) {
      std::uint64_t value = 0;
      if (parse_integer(text, value)) return value;
      const Tensor real = Tensor::scalar(parse_real<double>(text, to));
      return *cast_tensor(real, DType::uint64).data<std::uint64_t>();
    });
  }
  if (!is_integer(to)) fail_unsupported("Cast does not take element type {}", dtype_name(to));
  const Tensor wide = parse_all<std::int64_t>(x, [&](const std::string& text) {
    std::int64_t value = 0;
    if (parse_integer(text, value)) return value;
    const Tensor real = Tensor::scalar(parse_real<double>(text, to));
    return *cast_tensor(real, DType::int64).data<std::int64_t>();
  });
  return cast_tensor(wide, to, rule);
}

Tensor cast_to_string(const Tensor& x) {
  using Printable =
      Join<Numbers, Float8s, SmallInts, TypeList<bool, Float4E2M1, Float6E2M3, Float6E3M2, Float8E8M0>>;
  Tensor y(DType::string, x.shape());
  std::string* into = y.mutable_data<std::string>();
  dispatch(Printable{}, x.dtype(), [&]<typename T>() {
    const T* from = x.data<T>();
    for (std::int64_t i = 0; i < x.size(); ++i) into[i] = text_of(from[i]);
  });
  return y;
}

}  // namespace grurun::engine::detail
