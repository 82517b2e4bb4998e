#include "opset/pages/attribute_lists.h"

#include <fmt/format.h>

#include <algorithm>

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::Node;

constexpr std::string_view as_tensor = "_as_tensor";

const Attribute& stated_or_empty(const Node& node, std::string_view name) {
  static const Attribute empty;
  const auto found = std::ranges::find(node.attributes, name, &Attribute::name);
  return found == node.attributes.end() ? empty : *found;
}

// Those of tensors are lists, and the twins of lists of floats are doubles; a list has one of both.
std::optional<std::string> tensor_fault(const Node& node, std::string_view name) {
  for (const std::string& twin : {std::string(name), std::string(name) + std::string(as_tensor)}) {
    const Tensor* tensor = tensor_of(node, twin);
    if (tensor == nullptr) continue;
    if (tensor->rank() != 1)
      return fmt::format("{} must be a list, but has shape {}", twin, tensor->shape().to_string());
    if (twin == name) continue;
    if (tensor->dtype() != DType::float64)
      return fmt::format("{} is {}, but must be double", twin, dtype_name(tensor->dtype()));
    if (!floats_of(node, name).empty())
      return fmt::format("{} and {} are both given: remove one", name, twin);
  }
  return std::nullopt;
}

std::optional<std::string> choice_fault(std::string_view one, std::string_view other, const Node& node) {
  if ((length_of(node, one) == 0) != (length_of(node, other) == 0)) return std::nullopt;
  return fmt::format("one of {} and {} must be given, and not both", one, other);
}

std::optional<std::string> length_fault(std::string_view first, std::string_view others, const Node& node) {
  const bool is_needed = first.ends_with('!');
  if (is_needed) first.remove_suffix(1);
  if (auto fault = tensor_fault(node, first)) return fault;
  const std::int64_t wanted = length_of(node, first);
  if (is_needed && wanted == 0) return fmt::format("{} is empty or left out", first);
  for (std::string_view name : split_words(others, " ")) {
    const bool may_lack = name.ends_with('?');
    if (may_lack) name.remove_suffix(1);
    if (auto fault = tensor_fault(node, name)) return fault;
    const std::int64_t length = length_of(node, name);
    if (length != wanted && !(may_lack && length == 0))
      return fmt::format("{} has {} values, but {} has {}: they must be as long", name, length, first,
                         wanted);
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::int64_t>& ints_of(const Node& node, std::string_view name) {
  return stated_or_empty(node, name).ints;
}

const std::vector<float>& floats_of(const Node& node, std::string_view name) {
  return stated_or_empty(node, name).floats;
}

const std::vector<std::string>& strings_of(const Node& node, std::string_view name) {
  return stated_or_empty(node, name).strings;
}

const std::string& string_of(const Node& node, std::string_view name) {
  return stated_or_empty(node, name).s;
}

std::int64_t int_of(const Node& node, std::string_view name) {
  return stated_or_empty(node, name).i;
}

float float_of(const Node& node, std::string_view name) {
  return stated_or_empty(node, name).f;
}

const Tensor* tensor_of(const Node& node, std::string_view name) {
  const Attribute& attribute = stated_or_empty(node, name);
  return attribute.tensors.empty() ? nullptr : &attribute.tensors.front();
}

std::int64_t length_of(const Node& node, std::string_view name) {
  const Attribute& list = stated_or_empty(node, name);
  const std::size_t length = std::max({list.ints.size(), list.floats.size(), list.strings.size()});
  if (length != 0) return static_cast<std::int64_t>(length);
  if (const Tensor* tensor = tensor_of(node, name)) return tensor->size();
  return name.ends_with(as_tensor) ? 0 : length_of(node, std::string(name) + std::string(as_tensor));
}

bool refers_to_others(const Node& node) {
  return std::ranges::any_of(node.attributes, [](const Attribute& a) { return !a.ref_attr_name.empty(); });
}

std::optional<std::string> attribute_list_fault(const Page& page, const Node& node) {
  for (const std::string_view entry : split_words(page.lists, "; ")) {
    const std::size_t bar = entry.find(" | "), colon = entry.find(": ");
    auto fault = bar != entry.npos ? choice_fault(entry.substr(0, bar), entry.substr(bar + 3), node)
                                   : length_fault(entry.substr(0, colon), entry.substr(colon + 2), node);
    if (fault) return fault;
  }
  return std::nullopt;
}

}  // namespace grurun::opset
