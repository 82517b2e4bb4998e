// Attributes alone: element types, names, numbers that go with another attribute.
#include <fmt/format.h>

#include <set>

#include "opset/pages/attribute_lists.h"
#include "opset/pages/page_rules.h"
#include "tensor/dtype.h"

namespace grurun::opset {

// Cast-1 has the name, which others have as a number.
std::optional<std::string> names_element_type(const onnx_io::Node& node, int) {
  for (const onnx_io::Attribute& attribute : node.attributes) {
    if ((attribute.name != "to" && attribute.name != "dtype") || !attribute.ref_attr_name.empty()) continue;
    if (attribute.type == onnx_io::AttributeType::string && parse_dtype(attribute.s) == DType::undefined)
      return fmt::format("attribute {} is '{}', which is no element type", attribute.name, attribute.s);
    if (attribute.type == onnx_io::AttributeType::int_ && !is_valid_dtype(attribute.i))
      return fmt::format("attribute {} is {}, which is no element type", attribute.name, attribute.i);
  }
  return std::nullopt;
}

std::optional<std::string> map_places_fault(const onnx_io::Node& node, int) {
  const bool is_sparse = string_of(node, "map_form") == "SPARSE";
  for (const onnx_io::Attribute& attribute : node.attributes)
    if (is_sparse && attribute.name == "max_map" && attribute.ref_attr_name.empty() && attribute.i < 1)
      return fmt::format("max_map is {}, but must be at least 1", attribute.i);
  return std::nullopt;
}

std::optional<std::string> gradient_names_fault(const onnx_io::Node& node, int) {
  if (refers_to_others(node)) return std::nullopt;
  const auto &xs = strings_of(node, "xs"), &zs = strings_of(node, "zs");
  if (node.inputs.size() != xs.size() + zs.size())
    return fmt::format("xs and zs name {} tensors, but the node has {} inputs", xs.size() + zs.size(),
                       node.inputs.size());
  if (node.outputs.size() > xs.size())
    return fmt::format("xs names {} tensors, but the node has {} outputs", xs.size(), node.outputs.size());
  std::set<std::string> named(xs.begin(), xs.end());
  named.insert(zs.begin(), zs.end());
  if (named.size() != xs.size() + zs.size()) return "xs and zs must name each tensor once";
  return std::nullopt;
}

}  // namespace grurun::opset
