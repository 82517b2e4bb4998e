#include "trial/narrow_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "tensor/dispatch.h"
#include "trial/as_type.h"
#include "trial/intermediates.h"

namespace grurun::trial {
namespace {

using onnx_io::Attribute;
using onnx_io::Node;
using opset::ParameterInfo;
using opset::SchemaInfo;

bool has(std::span<const std::string> types, std::string_view type) {
  return std::ranges::find(types, type) != types.end();
}

/// The float that a parameter's tensors are, where they may be floats, but no double.
std::optional<DType> narrow_dtype(std::span<const std::string> types) {
  if (has(types, "tensor(double)")) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, DType>, 3> floats{{{"tensor(float)", DType::float32},
                                                                      {"tensor(float16)", DType::float16},
                                                                      {"tensor(bfloat16)", DType::bfloat16}}};
  for (const auto& [type, dtype] : floats)
    if (has(types, type)) return dtype;
  return std::nullopt;
}

/// Whether the parameter takes what is no float, too.
bool is_mixed(std::span<const std::string> types) {
  return std::ranges::any_of(types, [](const std::string& type) {
    return type.starts_with("tensor(") && type.find("float") == std::string::npos;
  });
}

Attribute int_attribute(const char* name, DType dtype) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = onnx_io::AttributeType::int_;
  attribute.i = static_cast<std::int64_t>(dtype);
  return attribute;
}

Node cast(std::string from, std::string to, DType dtype) {
  Node node;
  node.op_type = "Cast";
  node.inputs = {std::move(from)};
  node.outputs = {std::move(to)};
  node.attributes = {int_attribute("to", dtype)};
  return node;
}

class Casting {
 public:
  Casting(const FloatConstants& constants, const std::map<std::string, ValueType>& types)
      : constants_(constants), types_(types) {}

  void add(Node node, const SchemaInfo& schema) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ParameterInfo* const parameter = opset::parameter_at(schema.inputs, i);
      if (parameter == nullptr || node.inputs[i].empty()) continue;
      if (const auto dtype = dtype_of(schema, *parameter, node.inputs[i]))
        node.inputs[i] = narrowed(node.inputs[i], *dtype);
    }
    std::vector<Node> after;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ParameterInfo* const parameter = opset::parameter_at(schema.outputs, i);
      if (parameter == nullptr || node.outputs[i].empty()) continue;
      if (!dtype_of(schema, *parameter, node.outputs[i])) continue;
      std::string narrow = node.outputs[i] + " before its Cast";
      after.push_back(cast(narrow, node.outputs[i], DType::float64));
      node.outputs[i] = std::move(narrow);
    }
    nodes.push_back(std::move(node));
    for (Node& each : after) nodes.push_back(std::move(each));
  }

  std::vector<Node> nodes;

 private:
  std::optional<DType> dtype_of(const SchemaInfo& schema, const ParameterInfo& parameter,
                                const std::string& value) const {
    const std::span<const std::string> types = schema.types_of(parameter);
    const std::optional<DType> dtype = narrow_dtype(types);
    if (!dtype || !is_mixed(types) || constants_.find(value) != nullptr) return dtype;
    const auto known = types_.find(value);
    if (known != types_.end()) return Floats::set.contains(known->second.elem) ? dtype : std::nullopt;
    return has(types, "tensor(string)") ? std::nullopt : dtype;
  }

  std::string narrowed(const std::string& name, DType dtype) {
    std::string narrow = fmt::format("{} as {}", name, dtype_name(dtype));
    if (!made_.insert(narrow).second) return narrow;
    if (const Tensor* const constant = constants_.find(name)) {
      // Weights stay constant, for those that ask for that.
      Attribute value;
      value.name = "value";
      value.type = onnx_io::AttributeType::tensor;
      value.tensors.push_back(as_dtype(*constant, dtype).tensor());
      Node node;
      node.op_type = "Constant";
      node.outputs = {narrow};
      node.attributes = {std::move(value)};
      nodes.push_back(std::move(node));
    } else {
      nodes.push_back(cast(name, narrow, dtype));
    }
    return narrow;
  }

  const FloatConstants& constants_;
  const std::map<std::string, ValueType>& types_;
  std::set<std::string> made_;
};

}  // namespace

bool admits_double(const SchemaInfo& schema) {
  const auto admits = [&](const ParameterInfo& parameter) {
    return std::ranges::any_of(schema.types_of(parameter), [](const std::string& type) {
      return type.find("tensor(double)") != std::string::npos;
    });
  };
  return std::ranges::any_of(schema.inputs, admits) || std::ranges::any_of(schema.outputs, admits);
}

FloatConstants::FloatConstants(const std::vector<onnx_io::Initializer>& initializers,
                               const std::vector<Node>& nodes, const FloatConstants* outer)
    : outer_(outer) {
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    if (Floats::set.contains(tensor.dtype())) tensors_.emplace(name, &tensor);
  };
  for (const onnx_io::Initializer& initializer : initializers) add(initializer.name, initializer.tensor);
  for (const Node& node : nodes) {
    const Attribute* const value = is_constant(node) ? node.find_attribute("value") : nullptr;
    if (value != nullptr && !value->tensors.empty() && !node.outputs.empty())
      add(node.outputs[0], value->tensors[0]);
  }
}

const Tensor* FloatConstants::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  return outer_ == nullptr ? nullptr : outer_->find(name);
}

std::vector<Node> with_casts(std::vector<Node> nodes, onnx_io::OpsetImports& imports,
                             const FloatConstants& constants, const std::map<std::string, ValueType>& types) {
  Casting casting(constants, types);
  for (Node& node : nodes) {
    const auto import = imports.find(node.domain);
    const SchemaInfo* const schema =
        import == imports.end() ? nullptr : opset::find_schema(node.op_type, node.domain, import->second);
    if (schema == nullptr) {
      casting.nodes.push_back(std::move(node));
    } else {
      casting.add(std::move(node), *schema);
    }
  }
  constexpr std::int64_t with_bfloat16 = 13;  // Cast's version
  if (casting.nodes.size() > nodes.size()) imports.try_emplace("", with_bfloat16);
  return std::move(casting.nodes);
}

}  // namespace grurun::trial
