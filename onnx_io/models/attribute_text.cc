#include "onnx_io/models/attribute_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace grurun::onnx_io {

std::string attribute_text(const Attribute& attribute) {
  switch (attribute.type) {
    case AttributeType::float_:
      return fmt::format("{}", attribute.f);
    case AttributeType::int_:
      return fmt::format("{}", attribute.i);
    case AttributeType::string:
      return "\"" + attribute.s + "\"";
    case AttributeType::floats:
      return fmt::format("[{}]", fmt::join(attribute.floats, ", "));
    case AttributeType::ints:
      return fmt::format("[{}]", fmt::join(attribute.ints, ", "));
    case AttributeType::strings: {
      std::string text;
      for (const std::string& item : attribute.strings) text += (text.empty() ? "\"" : ", \"") + item + "\"";
      return "[" + text + "]";
    }
    default:
      return attribute_type_name(attribute.type);
  }
}

}  // namespace grurun::onnx_io
