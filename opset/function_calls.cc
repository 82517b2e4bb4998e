#include "opset/function_calls.h"

#include <algorithm>

namespace grurun::opset {

using onnx_io::Attribute;
using onnx_io::Function;
using onnx_io::Node;

namespace {

std::string function_key(const std::string& domain, const std::string& name, const std::string& overload) {
  return domain + '\n' + name + '\n' + overload;
}

}  // namespace

FunctionIndex::FunctionIndex(const std::vector<Function>& functions) {
  for (const Function& function : functions) {
    functions_.try_emplace(function_key(function.domain, function.name, function.overload), &function);
  }
}

const Function* FunctionIndex::find(const Node& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(function_key(node.domain, node.op_type, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

const Attribute* referred_attribute(const std::string& name, const Function& function, const Node& call) {
  if (const Attribute* given = call.find_attribute(name)) return given;
  const auto& defaults = function.attribute_defaults;
  const auto found = std::ranges::find(defaults, name, &Attribute::name);
  return found == defaults.end() ? nullptr : &*found;
}

}  // namespace grurun::opset
