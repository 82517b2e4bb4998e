#include "trial/data_set_names.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "onnx_io/values/tensor_files.h"
#include "tensor/ascii_case.h"

namespace grurun::trial {

namespace {

constexpr std::string_view output_infix = "_output_";

/// nullopt for what is not digits alone.
std::optional<std::size_t> whole(std::string_view digits) {
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  return number;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

bool is_data_set(std::string_view name) {
  return name.starts_with(data_set_prefix);
}

bool is_numbered_data_set(std::string_view name) {
  return is_data_set(name) && is_digits(name.substr(data_set_prefix.size()));
}

bool is_like_data_set(std::string_view name) {
  return ascii_lower(name).starts_with("test_data");
}

bool data_set_order(const std::string& a, const std::string& b) {
  const auto number = [](std::string_view name) {
    std::size_t value = std::numeric_limits<std::size_t>::max();
    std::from_chars(name.data() + data_set_prefix.size(), name.data() + name.size(), value);
    return value;
  };
  return std::pair(number(a), a) < std::pair(number(b), b);
}

std::optional<std::size_t> file_number(std::string_view name, std::string_view prefix) {
  const std::string_view ending = name.ends_with(".npy") ? ".npy" : ".pb";
  if (!name.starts_with(prefix) || !name.ends_with(ending)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (name.size() < ending.size()) return std::nullopt;
  return whole(name.substr(0, name.size() - ending.size()));
}

bool is_misnamed(const std::string& name, std::string_view prefix) {
  const std::string_view noun = prefix.substr(0, prefix.size() - 1);
  return ascii_lower(name).starts_with(noun) && onnx_io::format_of(name) != onnx_io::FileFormat::none &&
         !file_number(name, prefix);
}

std::optional<std::string> value_of_file(const std::string& name) {
  if (onnx_io::format_of(name) == onnx_io::FileFormat::none || file_number(name, input_prefix) ||
      file_number(name, output_prefix))
    return std::nullopt;
  return name.substr(0, name.rfind('.'));
}

std::optional<std::string> model_of_output(std::string_view name) {
  constexpr std::string_view ending = ".pb";
  const std::size_t at = name.rfind(output_infix);
  if (at == name.npos || !name.ends_with(ending)) return std::nullopt;
  const std::string_view number = name.substr(at + output_infix.size());
  if (!is_digits(number.substr(0, number.size() - ending.size()))) return std::nullopt;
  return std::string(name.substr(0, at));
}

std::string output_of_model(const std::string& model, std::size_t number) {
  return fmt::format("{}{}{}.pb", model, output_infix, number);
}

}  // namespace grurun::trial
