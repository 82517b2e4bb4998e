#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "onnx_io/models/model.h"
#include "onnx_io/models/proto_convert.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "opset/schema/added/experimental.h"
#include "opset/schema/added/listed_schemas.h"
#include "opset/schema/registry.h"
#include "opset/schema/schema_store.h"

namespace grurun::opset {

namespace {

std::string text(const char* doc) {
  return doc == nullptr ? std::string() : std::string(doc);
}

std::vector<AttributeInfo> attributes_of(const onnx::OpSchema& schema) {
  std::vector<AttributeInfo> attributes;
  for (const auto& [name, attribute] : schema.attributes()) {
    AttributeInfo info;
    info.name = name;
    info.description = attribute.description;
    info.type = static_cast<onnx_io::AttributeType>(attribute.type);
    info.required = attribute.required;
    if (attribute.default_value.has_name()) {
      info.default_value = onnx_io::attribute_from_proto(attribute.default_value);
    }
    attributes.push_back(std::move(info));
  }
  std::sort(attributes.begin(), attributes.end(),
            [](const AttributeInfo& a, const AttributeInfo& b) { return a.name < b.name; });
  return attributes;
}

ParameterKind kind_of(onnx::OpSchema::FormalParameterOption option) {
  switch (option) {
    case onnx::OpSchema::Optional:
      return ParameterKind::optional;
    case onnx::OpSchema::Variadic:
      return ParameterKind::variadic;
    case onnx::OpSchema::Single:
      break;
  }
  return ParameterKind::single;
}

std::vector<ParameterInfo> parameters_of(const std::vector<onnx::OpSchema::FormalParameter>& formal) {
  std::vector<ParameterInfo> parameters;
  for (const auto& parameter : formal) {
    parameters.push_back({parameter.GetName(), parameter.GetDescription(), parameter.GetTypeStr(),
                          kind_of(parameter.GetOption()), parameter.GetIsHomogeneous(),
                          parameter.GetMinArity()});
  }
  return parameters;
}

std::unique_ptr<const SchemaInfo> build(const onnx::OpSchema& schema) {
  auto info = std::make_unique<SchemaInfo>();
  info->domain = schema.domain();
  info->name = schema.Name();
  info->since_version = schema.since_version();
  info->deprecated = schema.deprecated();
  info->experimental = schema.support_level() == onnx::OpSchema::SupportType::EXPERIMENTAL;
  info->has_function_body = schema.HasFunction() || schema.HasContextDependentFunction();
  info->has_shape_inference = schema.has_type_and_shape_inference_function();
  info->doc = text(schema.doc());
  info->attributes = attributes_of(schema);
  info->inputs = parameters_of(schema.inputs());
  info->outputs = parameters_of(schema.outputs());
  for (const auto& constraint : schema.typeConstraintParams()) {
    info->type_constraints.push_back(
        {constraint.type_param_str, constraint.description, constraint.allowed_type_strs});
  }
  info->min_input = schema.min_input();
  info->max_input = schema.max_input();
  info->min_output = schema.min_output();
  info->max_output = schema.max_output();
  return info;
}

const SchemaInfo* info_of(const onnx::OpSchema& schema) {
  static std::mutex mutex;
  static std::unordered_map<const onnx::OpSchema*, std::unique_ptr<const SchemaInfo>> infos;
  std::lock_guard lock(mutex);
  std::unique_ptr<const SchemaInfo>& info = infos[&schema];
  if (info == nullptr) info = build(schema);
  return info.get();
}

DTypeSet tensor_dtype(std::string_view type) {
  const std::optional<ValueType> parsed = parse_value_type(type);
  if (!parsed || parsed->kind != ValueType::Kind::tensor || parsed->elem == DType::undefined) return {};
  return parsed->elem;
}

DTypeSet dtypes_at(const SchemaInfo& schema, const std::vector<ParameterInfo>& parameters,
                   std::size_t index) {
  const ParameterInfo* parameter = parameter_at(parameters, index);
  DTypeSet dtypes;
  if (parameter == nullptr) return dtypes;
  for (const std::string& type : schema.types_of(*parameter)) dtypes = dtypes | tensor_dtype(type);
  return dtypes;
}

}  // namespace

const char* kind_name(ParameterKind kind) {
  constexpr const char* names[] = {"single", "optional", "variadic"};
  return names[static_cast<std::size_t>(kind)];
}

const ParameterInfo* parameter_at(const std::vector<ParameterInfo>& parameters, std::size_t index) {
  if (index < parameters.size()) return &parameters[index];
  if (parameters.empty() || parameters.back().kind != ParameterKind::variadic) return nullptr;
  return &parameters.back();
}

std::span<const std::string> SchemaInfo::types_of(const ParameterInfo& parameter) const {
  const auto constraint = std::ranges::find(type_constraints, parameter.type_str, &TypeConstraintInfo::name);
  if (constraint != type_constraints.end()) return constraint->types;
  return {&parameter.type_str, 1};
}

DTypeSet SchemaInfo::input_dtypes(std::size_t index) const {
  return dtypes_at(*this, inputs, index);
}

DTypeSet SchemaInfo::output_dtypes(std::size_t index) const {
  return dtypes_at(*this, outputs, index);
}

const SchemaInfo* find_schema(const std::string& op_type, const std::string& domain,
                              std::int64_t opset_version) {
  const onnx::OpSchema* schema = find_onnx_schema(op_type, domain, opset_version);
  return schema == nullptr ? nullptr : info_of(*schema);
}

std::vector<const SchemaInfo*> schema_versions(const std::string& op_type, const std::string* domain) {
  std::vector<const SchemaInfo*> found;
  const auto add_domain = [&](const std::string& of_domain) {
    const auto versions = signatures(op_type, of_domain).versions;
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
      found.push_back(find_schema(op_type, of_domain, version->since_version));
    }
  };
  if (domain != nullptr) {
    add_domain(*domain);
    return found;
  }
  for (const Signatures& row : signature_table()) {
    if (row.op_type == op_type) add_domain(std::string(row.domain));
  }
  return found;
}

std::vector<const SchemaInfo*> added_schemas() {
  std::vector<const SchemaInfo*> found;
  for (const Signatures& row : signature_table()) {
    const std::string domain(row.domain);
    if (newest_opset(domain) || domain == onnx_io::openvino_domain) continue;
    for (const SchemaInfo* version : schema_versions(std::string(row.op_type), &domain))
      found.push_back(version);
  }
  return found;
}

std::vector<const SchemaInfo*> all_schemas() {
  std::vector<const SchemaInfo*> found;
  for (const OperatorName& name : operator_names()) {
    const std::vector<const SchemaInfo*> versions = schema_versions(name.op_type, &name.domain);
    for (const SchemaInfo* version : versions) {
      const onnx::OpSchema& schema = *find_onnx_schema(name.op_type, name.domain, version->since_version);
      if (!is_experimental_addition(schema)) found.push_back(version);
    }
  }
  return found;
}

}  // namespace grurun::opset
