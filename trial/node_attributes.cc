#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <sstream>

#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "trial/node_case.h"

namespace grurun::trial {

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;

std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  std::istringstream in(text + ",");
  for (std::string piece; std::getline(in, piece, ',');) out.push_back(piece);
  return out;
}

template <typename Number>
Number number_of(const std::string& name, const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end)
    fail_usage("'{}' takes {}, not '{}'", name, std::is_integral_v<Number> ? "whole numbers" : "numbers",
               text);
  return number;
}

template <typename Number>
std::vector<Number> parse_numbers(const std::string& name, const std::string& text) {
  std::vector<Number> out;
  for (const std::string& piece : pieces_of(text)) out.push_back(number_of<Number>(name, piece));
  return out;
}

/// "float:1,2".
Tensor tensor_of_text(const std::string& name, const std::string& text) {
  const std::size_t colon = text.find(':');
  const DType dtype = colon == text.npos ? DType::undefined : parse_dtype(text.substr(0, colon));
  if (dtype == DType::undefined)
    fail_usage("'{}' takes a type and elements, as in float:1,2; got '{}'", name, text);
  return parse_elements(name, dtype, std::nullopt, text.substr(colon + 1));
}

}  // namespace

Attribute parse_attribute(const opset::AttributeInfo& info, const std::string& text) {
  Attribute out;
  out.name = info.name;
  out.type = info.type;
  switch (info.type) {
    case AttributeType::int_:
      out.i = number_of<std::int64_t>(info.name, text);
      return out;
    case AttributeType::float_:
      out.f = number_of<float>(info.name, text);
      return out;
    case AttributeType::string:
      out.s = text;
      return out;
    case AttributeType::ints:
      out.ints = parse_numbers<std::int64_t>(info.name, text);
      return out;
    case AttributeType::floats:
      out.floats = parse_numbers<float>(info.name, text);
      return out;
    case AttributeType::strings:
      out.strings = pieces_of(text);
      return out;
    case AttributeType::tensor:
      out.tensors = {tensor_of_text(info.name, text)};
      return out;
    default:
      fail_unsupported("attribute '{}' is a {}, which no flag can give", info.name,
                       onnx_io::attribute_type_name(info.type));
  }
}

Tensor parse_elements(const std::string& name, DType dtype, const std::optional<Shape>& shape,
                      const std::string& text) {
  const std::vector<std::string> pieces = pieces_of(text);
  const auto count = static_cast<std::int64_t>(pieces.size());
  Tensor list(dtype, Shape{count});
  if (dtype == DType::string) {
    std::copy(pieces.begin(), pieces.end(), list.mutable_data<std::string>());
  } else if (dtype == DType::boolean) {
    for (std::int64_t i = 0; i < count; ++i)
      list.mutable_data<bool>()[i] = number_of<int>(name, pieces[static_cast<std::size_t>(i)]) != 0;
  } else {
    dispatch(Numbers{}, dtype, [&]<typename T>() {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::string& piece = pieces[static_cast<std::size_t>(i)];
        if constexpr (std::is_integral_v<T>)
          list.mutable_data<T>()[i] = number_of<T>(name, piece);
        else
          list.mutable_data<T>()[i] = static_cast<T>(number_of<double>(name, piece));
      }
    });
  }
  if (!shape) return list;
  if (Tensor(dtype, *shape).size() != count)
    fail_usage("'{}' has shape {}, but {} elements are given", name, shape->to_string(), count);
  return list.reshaped(*shape);
}

}  // namespace grurun::trial
