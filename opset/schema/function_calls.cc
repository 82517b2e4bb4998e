#include "opset/schema/function_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "opset/findings/labels.h"
#include "opset/schema/attribute_faults.h"
#include "opset/schema/registry.h"
#include "opset/schema/signature.h"

namespace grurun::opset {

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Node;

namespace {

std::string function_key(const std::string& domain, const std::string& name, const std::string& overload) {
  return domain + '\n' + name + '\n' + overload;
}

// Of a function whatever its overload.
std::string family_key(const std::string& domain, const std::string& name) {
  return domain + '\n' + name;
}

std::string shown_overload(const std::string& overload) {
  return overload.empty() ? "one without a name" : fmt::format("'{}'", overload);
}

void add_repeated(const std::vector<std::string>& names, const char* what, std::vector<std::string>& faults) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) faults.push_back(fmt::format("two {} are named '{}'", what, name));
  }
}

}  // namespace

FunctionIndex::FunctionIndex(const std::vector<Function>& functions) {
  for (const Function& function : functions) {
    functions_.try_emplace(function_key(function.domain, function.name, function.overload), &function);
    std::string& overloads = overloads_[family_key(function.domain, function.name)];
    overloads += fmt::format("{}{}", overloads.empty() ? "" : ", ", shown_overload(function.overload));
  }
}

const Function* FunctionIndex::find(const Node& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(function_key(node.domain, node.op_type, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

std::optional<std::string> FunctionIndex::overload_fault(const Node& node) const {
  if (node.overload.empty() && overloads_.empty()) return std::nullopt;
  const auto others = overloads_.find(family_key(node.domain, node.op_type));
  const bool any = others != overloads_.end();
  if ((node.overload.empty() && !any) || find(node) != nullptr) return std::nullopt;
  const bool has_operator =
      newest_opset(node.domain) || !signatures(node.op_type, node.domain).versions.empty();
  if (node.overload.empty() && has_operator) return std::nullopt;
  return fmt::format("overloads of {} that the model defines: {}; the call wants {}",
                     onnx_io::qualified_name(node.domain, node.op_type), any ? others->second : "none",
                     shown_overload(node.overload));
}

bool declares_attribute(const Function& function, const std::string& name) {
  return std::ranges::find(function.attributes, name) != function.attributes.end() ||
         std::ranges::find(function.attribute_defaults, name, &Attribute::name) !=
             function.attribute_defaults.end();
}

std::vector<std::string> repeated_parameters(const Function& function) {
  std::vector<std::string> attributes = function.attributes;
  for (const Attribute& attribute : function.attribute_defaults) attributes.push_back(attribute.name);
  std::vector<std::string> faults;
  add_repeated(function.inputs, "inputs", faults);
  add_repeated(function.outputs, "outputs", faults);
  add_repeated(attributes, "attributes", faults);
  return faults;
}

CallAttributeFaults judge_call_attributes(const Node& call, const Function& function) {
  CallAttributeFaults faults;
  std::unordered_set<std::string_view> seen;
  for (const Attribute& attribute : call.attributes) {
    if (!seen.insert(attribute.name).second) {
      faults.repeated.push_back(fmt::format("attribute '{}' is given twice", attribute.name));
    } else if (!declares_attribute(function, attribute.name) && !is_internal_attribute(attribute.name)) {
      faults.unknown.push_back(fmt::format("{} has no attribute '{}': remove it, or declare it there",
                                           function_label(function.domain, function.name, function.overload),
                                           attribute.name));
    }
  }
  return faults;
}

namespace {

const Attribute* referred_attribute(const std::string& name, const Function& function, const Node& call) {
  if (const Attribute* given = call.find_attribute(name)) return given;
  const auto& defaults = function.attribute_defaults;
  const auto found = std::ranges::find(defaults, name, &Attribute::name);
  return found == defaults.end() ? nullptr : &*found;
}

}  // namespace

onnx_io::Node identity_node(const std::string& from, const std::string& to) {
  onnx_io::Node node;
  node.op_type = "Identity";
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

void resolve_references(Node& node, const Function& function, const Node& call) {
  std::erase_if(node.attributes, [&](Attribute& attribute) {
    if (attribute.ref_attr_name.empty()) return false;
    const Attribute* value = referred_attribute(attribute.ref_attr_name, function, call);
    if (value == nullptr) return true;
    std::string name = std::move(attribute.name);
    attribute = *value;
    attribute.name = std::move(name);
    return false;
  });
}

}  // namespace grurun::opset
