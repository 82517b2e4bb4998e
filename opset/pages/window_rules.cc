#include <fmt/format.h>

#include <algorithm>

#include "opset/pages/page_rules.h"

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::Node;

const Attribute* stated(const Node& node, const char* name) {
  const Attribute* attribute = node.find_attribute(name);
  return attribute != nullptr && attribute->ref_attr_name.empty() ? attribute : nullptr;
}

// "stride/dilation" is read as the larger of both, as it is in ONNX Runtime.
std::optional<std::string> wide_output_padding(const Node& node) {
  const Attribute* padding = stated(node, "output_padding");
  const Attribute *strides = node.find_attribute("strides"), *dilations = node.find_attribute("dilations");
  for (const Attribute* list : {strides, dilations}) {
    if (list != nullptr && !list->ref_attr_name.empty()) return std::nullopt;
  }
  const auto entry = [](const Attribute* list, std::size_t i) {
    return list != nullptr && i < list->ints.size() ? list->ints[i] : 1;
  };
  for (std::size_t i = 0; padding != nullptr && i < padding->ints.size(); ++i) {
    const std::int64_t below = std::max<std::int64_t>(entry(strides, i), entry(dilations, i));
    if (padding->ints[i] < below) continue;
    return fmt::format(
        "output_padding {} of spatial axis {} must be less than its stride {} or its dilation {}",
        padding->ints[i], i, entry(strides, i), entry(dilations, i));
  }
  return std::nullopt;
}

}  // namespace

// NOTSET "means explicit padding is used". Zeros are what pads are when they are not stated, and exporters
// state them beside auto_pad.
std::optional<std::string> both_paddings(const Node& node, int) {
  const Attribute *auto_pad = stated(node, "auto_pad"), *pads = stated(node, "pads");
  if (auto_pad == nullptr || auto_pad->s.empty() || auto_pad->s == "NOTSET") return std::nullopt;
  if (pads == nullptr || std::ranges::all_of(pads->ints, [](std::int64_t pad) { return pad == 0; }))
    return std::nullopt;
  return fmt::format("pads cannot be used with auto_pad {}: state one of them", auto_pad->s);
}

std::optional<std::string> transposed_paddings(const Node& node, int since_version) {
  if (auto fault = both_paddings(node, since_version)) return fault;
  return since_version < 11 ? std::nullopt : wide_output_padding(node);
}

}  // namespace grurun::opset
