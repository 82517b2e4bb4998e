#include "opset/inference/inference_message.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "onnx/onnx_pb.h"
#include "tensor/dtype.h"

namespace grurun::opset {

namespace {

using onnx::TypeProto;

std::string element_name(int number) {
  if (number == 0) return "none";
  return is_valid_dtype(number) ? dtype_name(static_cast<DType>(number)) : std::to_string(number);
}

std::string kind_of(int number) {
  switch (number) {
    case TypeProto::kTensorType:
      return "tensor";
    case TypeProto::kSequenceType:
      return "sequence";
    case TypeProto::kMapType:
      return "map";
    case TypeProto::kOptionalType:
      return "optional";
    case TypeProto::kSparseTensorType:
      return "sparse tensor";
    case TypeProto::kOpaqueType:
      return "opaque";
    case TypeProto::VALUE_NOT_SET:
      return "none";
    default:
      return std::to_string(number);
  }
}

/// A message that holds one text has numbers behind the others.
struct Wording {
  std::string_view holds;
  std::array<std::string_view, 2> before;
  std::string (*name)(int);
};

constexpr std::array wordings{
    Wording{"Input element type of ", {"element type of ", "output type of "}, element_name},
    Wording{"same elem type. Sequence=", {"Sequence=", "Tensor="}, element_name},
    Wording{"Mismatched tensor element type for output", {"then=", "else="}, element_name},
    Wording{"Mismatched type for output", {"then=", "else="}, kind_of},
    Wording{"Mismatched type: inferred=", {"inferred=", "declared="}, kind_of},
    Wording{"type case unsupported", {"existing=", "inferred="}, kind_of},
    Wording{"expected to have ", {"type. Got: ", "type. Got "}, kind_of}};

void name_number(std::string& message, std::size_t from, std::string_view before, std::string (*name)(int)) {
  const std::size_t found = message.find(before, from);
  if (found == message.npos) return;
  const char* const begin = message.data() + found + before.size();
  int number = 0;
  const auto [end, error] = std::from_chars(begin, message.data() + message.size(), number);
  if (error != std::errc()) return;
  message.replace(found + before.size(), static_cast<std::size_t>(end - begin), name(number));
}

// The number behind `word`; empty where there is none.
std::string_view number_behind(std::string_view message, std::string_view word) {
  const std::size_t found = message.find(word);
  if (found == message.npos) return {};
  message.remove_prefix(found + word.size());
  return message.substr(0, message.find_first_not_of("-0123456789"));
}

}  // namespace

std::string as_fault(std::string message) {
  if (message.starts_with("Invalid position of 0")) {
    return "the shape has a 0 on an axis that data does not have; a 0 takes the size of data's axis, so put "
           "the size itself or leave the 0 out";
  }
  if (message.starts_with("Can't merge shape info")) {
    return fmt::format("two sizes that must be the same differ on axis {}: {} and {}",
                       number_behind(message, "Dimension="), number_behind(message, "Inferred="),
                       number_behind(message, "Declared="));
  }
  if (message.starts_with("Mismatch between number of inferred and declared dimensions")) {
    return fmt::format("two shapes that must be of the same rank have {} and {} dimensions",
                       number_behind(message, "inferred="), number_behind(message, "declared="));
  }
  return message;
}

std::string with_type_names(std::string message) {
  for (const Wording& wording : wordings) {
    const std::size_t from = message.find(wording.holds);
    if (from == message.npos) continue;
    for (const std::string_view before : wording.before) name_number(message, from, before, wording.name);
  }
  return message;
}

}  // namespace grurun::opset
