#include <algorithm>

#include "onnx/defs/function.h"
#include "onnx_io/models/proto_convert.h"
#include "opset/schema/added/experimental.h"
#include "opset/schema/registry.h"
#include "opset/schema/schema_store.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

// The builders name the imports of their body after the version that is asked for. Asking for the version a
// builder was written for keeps its nodes' meaning, whatever the model imports.
std::optional<int> builder_version(const onnx::OpSchema& schema, std::int64_t opset_version) {
  std::optional<int> newest;
  for (const int version : schema.context_dependent_function_opset_versions()) {
    if (version <= opset_version) newest = std::max(version, newest.value_or(version));
  }
  return newest;
}

std::optional<onnx::FunctionProto> build(const onnx::OpSchema& schema, int version, const onnx_io::Node& node,
                                         const std::vector<ValueType>& input_types) {
  std::vector<onnx::TypeProto> types;
  for (const ValueType& type : input_types) types.push_back(onnx_io::type_to_proto(type));
  // The context keeps pointers to the attributes of the message it is given.
  const onnx::NodeProto proto = onnx_io::node_to_proto(node);
  const onnx::FunctionBodyBuildContextImpl context(proto, types);
  onnx::FunctionProto body;
  try {
    if (!schema.BuildContextDependentFunction(context, body, version)) return std::nullopt;
    restore_imports(schema, body);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail_invalid("the function body of {}-{} cannot be built for this node: {}", schema.Name(),
                 schema.since_version(), error.what());
  }
  return body;
}

// ONNX lists every attribute of the schema as one without a default.
void apply_schema_defaults(const onnx::OpSchema& schema, onnx_io::Function& function) {
  function.attributes.clear();
  function.attribute_defaults.clear();
  for (const auto& [name, attribute] : schema.attributes()) {
    if (attribute.default_value.has_name()) {
      function.attribute_defaults.push_back(onnx_io::attribute_from_proto(attribute.default_value));
    } else {
      function.attributes.push_back(name);
    }
  }
  std::sort(function.attributes.begin(), function.attributes.end());
  std::sort(function.attribute_defaults.begin(), function.attribute_defaults.end(),
            [](const onnx_io::Attribute& a, const onnx_io::Attribute& b) { return a.name < b.name; });
}

// Bodies of the preview domain use operators of ai.onnx without importing it; they are written for the opset
// of the release that brought them.
void complete_imports(onnx_io::Function& function) {
  for (const onnx_io::Node& node : function.nodes) {
    if (const std::optional<std::int64_t> newest = newest_opset(node.domain)) {
      function.opset_imports.try_emplace(node.domain, *newest);
    }
  }
}

}  // namespace

std::optional<onnx_io::Function> function_body(const onnx_io::Node& node, std::int64_t opset_version,
                                               const std::vector<ValueType>& input_types) {
  const onnx::OpSchema* schema = find_onnx_schema(node.op_type, node.domain, opset_version);
  if (schema == nullptr) return std::nullopt;
  std::optional<onnx_io::Function> function;
  if (const onnx::FunctionProto* body = schema->GetFunction(static_cast<int>(opset_version))) {
    function = onnx_io::function_from_proto(*body);
  } else if (const std::optional<int> version = builder_version(*schema, opset_version)) {
    const std::optional<onnx::FunctionProto> built = build(*schema, *version, node, input_types);
    if (built) function = onnx_io::function_from_proto(*built);
  }
  if (!function) return std::nullopt;
  complete_imports(*function);
  apply_schema_defaults(*schema, *function);
  return function;
}

namespace {

bool is_added(const onnx::OpSchema& schema) {
  return !newest_opset(schema.domain()) || is_experimental_addition(schema);
}

}  // namespace

bool function_body_needs_types(const std::string& op_type, const std::string& domain,
                               std::int64_t opset_version) {
  const onnx::OpSchema* schema = find_onnx_schema(op_type, domain, opset_version);
  if (schema == nullptr) return false;
  if (schema->GetFunction(static_cast<int>(opset_version)) != nullptr) return false;
  if (is_added(*schema)) return false;  // the body tells when it is built
  return builder_version(*schema, opset_version).has_value();
}

}  // namespace grurun::opset
