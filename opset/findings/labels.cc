#include "opset/findings/labels.h"

#include <fmt/format.h>

#include "onnx_io/models/model.h"

namespace grurun::opset {

namespace {

constexpr std::size_t longest_name = 200;

}  // namespace

std::string shortened(std::string text, std::size_t longest) {
  if (text.size() <= longest) return text;
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0) == 0x80) --longest;
  text.resize(longest);
  return text + "...";
}

std::string node_name(const std::string& name, const std::string& op_type, std::size_t index) {
  return shortened(name.empty() ? fmt::format("{}#{}", op_type, index) : name, longest_name);
}

std::string op_label(const std::string& domain, const std::string& op_type,
                     std::optional<int> since_version) {
  const std::string name = shortened(onnx_io::qualified_name(domain, op_type), longest_name);
  return since_version ? fmt::format("{}-{}", name, *since_version) : name;
}

std::string function_label(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("function {}.{}{}{}", domain, name, overload.empty() ? "" : ":", overload);
}

}  // namespace grurun::opset
