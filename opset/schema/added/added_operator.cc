#include "opset/schema/added/added_operator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "onnx/defs/function.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx::AttributeProto;
using onnx::OpSchema;

std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

std::pair<std::string, std::string> split_at(const std::string& text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + separator.size())};
}

AttributeProto::AttributeType type_named(const std::string& name) {
  if (name == "int") return AttributeProto::INT;
  if (name == "float") return AttributeProto::FLOAT;
  if (name == "string") return AttributeProto::STRING;
  if (name == "ints") return AttributeProto::INTS;
  if (name == "floats") return AttributeProto::FLOATS;
  if (name == "strings") return AttributeProto::STRINGS;
  if (name == "graph") return AttributeProto::GRAPH;
  fail_internal("an added schema has an attribute of the type '{}'", name);
}

void add_attribute(OpSchema& schema, const std::string& text) {
  const auto [name, rest] = split_at(text, ": ");
  auto [type, value] = split_at(rest, " = ");
  const bool required = type.ends_with('!');
  if (required) type.pop_back();
  const auto kind = type_named(type);
  if (value.empty()) {
    schema.Attr(name, "", kind, required);
  } else if (kind == AttributeProto::INT) {
    schema.Attr(name, "", kind, static_cast<std::int64_t>(std::atoll(value.c_str())));
  } else if (kind == AttributeProto::FLOAT) {
    schema.Attr(name, "", kind, std::strtof(value.c_str(), nullptr));
  } else {
    schema.Attr(name, "", kind, value);
  }
}

struct Parameter {
  std::string name, type;
  OpSchema::FormalParameterOption option = OpSchema::Single;
};

Parameter parameter_of(const std::string& text) {
  Parameter made;
  std::tie(made.name, made.type) = split_at(text, ": ");
  if (made.type.ends_with("...")) {
    made.option = OpSchema::Variadic;
    made.type.resize(made.type.size() - 3);
  } else if (made.type.ends_with('?')) {
    made.option = OpSchema::Optional;
    made.type.pop_back();
  }
  return made;
}

bool is_variadic(const OpSchema& schema) {
  return !schema.inputs().empty() && schema.inputs().back().GetOption() == OpSchema::Variadic;
}

void parse_nodes(const std::string& text, onnx::FunctionProto& function) {
  try {
    onnx::FunctionBuilder(function).Add(text.c_str());
  } catch (const std::logic_error& error) {
    fail_internal("the body of {} cannot be read: {}: {}", function.name(), error.what(), text);
  }
}

bool build_body(const AddedOperator& row, const onnx::FunctionBodyBuildContext& context,
                const OpSchema& schema, onnx::FunctionProto& function) {
  const BodyNode node(context, schema);
  std::string text;
  try {
    text = row.body(node);
  } catch (const UnknownType&) {
    return false;
  }
  function.set_name(schema.Name());
  function.set_domain(schema.domain());
  for (const auto& input : schema.inputs()) {
    if (input.GetOption() != OpSchema::Variadic) function.add_input(input.GetName());
  }
  const int fixed = function.input_size();
  for (int i = fixed; is_variadic(schema) && i < node.input_count(); ++i)
    function.add_input(fmt::format("{}_{}", schema.inputs().back().GetName(), i - fixed));
  for (const auto& output : schema.outputs()) function.add_output(output.GetName());
  for (const auto& [name, attribute] : schema.attributes()) {
    if (attribute.default_value.has_name()) {
      *function.add_attribute_proto() = attribute.default_value;
    } else {
      function.add_attribute(name);
    }
  }
  for (const auto& [domain, version] : {std::pair("", body_opset), std::pair("com.microsoft", 1)}) {
    auto& import = *function.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  parse_nodes(text, function);
  node.require_all_used(function);
  return true;
}

OpSchema schema_of(const AddedOperator& row, const char* domain, const char* file) {
  OpSchema schema(row.name, file, 0);
  schema.SetDomain(domain).SinceVersion(1).SetDoc(row.doc);
  for (const std::string& text : parts_of(row.attributes, "; ")) add_attribute(schema, text);
  int number = 0;
  for (const std::string& text : parts_of(row.inputs, "; ")) {
    const Parameter input = parameter_of(text);
    const bool homogeneous = input.option != OpSchema::Variadic;
    schema.Input(number++, input.name, "", input.type, input.option, homogeneous);
  }
  number = 0;
  for (const std::string& text : parts_of(row.outputs, "; ")) {
    const Parameter output = parameter_of(text);
    schema.Output(number++, output.name, "", output.type, output.option);
  }
  for (const std::string& text : parts_of(row.types, "; ")) {
    const auto [name, list] = split_at(text, ": ");
    std::vector<std::string> types;
    for (const std::string& type : parts_of(list, ", ")) {
      types.push_back(type.ends_with(')') ? type : fmt::format("tensor({})", type));
    }
    schema.TypeConstraint(name, types, "");
  }
  if (row.infer != nullptr) schema.TypeAndShapeInferenceFunction(row.infer);
  if (row.body != nullptr) {
    schema.SetContextDependentFunctionBodyBuilder(
        [&row](const onnx::FunctionBodyBuildContext& context, const OpSchema& of,
               onnx::FunctionProto& function) { return build_body(row, context, of, function); },
        1);
  }
  return schema;
}

}  // namespace

bool BodyNode::has(std::string_view input) const {
  return context_.hasInput(index_of(input));
}

bool BodyNode::wants(std::string_view output) const {
  const auto found = std::ranges::find(schema_.outputs(), output, &OpSchema::FormalParameter::GetName);
  return context_.hasOutput(static_cast<int>(found - schema_.outputs().begin()));
}

int BodyNode::input_count() const {
  int count = static_cast<int>(schema_.inputs().size());
  if (is_variadic(schema_)) {
    while (context_.hasInput(count)) ++count;
  }
  while (count > 0 && !context_.hasInput(count - 1)) --count;
  return count;
}

bool BodyNode::gives(const char* attribute) const {
  asked_.insert(attribute);
  return context_.getAttribute(attribute) != nullptr;
}

const AttributeProto* BodyNode::find(const char* attribute) const {
  asked_.insert(attribute);
  if (const AttributeProto* given = context_.getAttribute(attribute)) return given;
  const auto stated = schema_.attributes().find(attribute);
  if (stated == schema_.attributes().end() || !stated->second.default_value.has_name()) return nullptr;
  return &stated->second.default_value;
}

std::int64_t BodyNode::integer(const char* attribute) const {
  const AttributeProto* found = find(attribute);
  return found == nullptr ? 0 : found->i();
}

float BodyNode::number(const char* attribute) const {
  const AttributeProto* found = find(attribute);
  return found == nullptr ? 0 : found->f();
}

std::string BodyNode::text(const char* attribute) const {
  const AttributeProto* found = find(attribute);
  return found == nullptr ? "" : found->s();
}

std::vector<std::int64_t> BodyNode::integers(const char* attribute) const {
  const AttributeProto* found = find(attribute);
  if (found == nullptr) return {};
  return {found->ints().begin(), found->ints().end()};
}

std::vector<float> BodyNode::numbers(const char* attribute) const {
  const AttributeProto* found = find(attribute);
  if (found == nullptr) return {};
  return {found->floats().begin(), found->floats().end()};
}

int BodyNode::index_of(std::string_view input) const {
  const auto found = std::ranges::find(schema_.inputs(), input, &OpSchema::FormalParameter::GetName);
  return static_cast<int>(found - schema_.inputs().begin());
}

const onnx::TypeProto::Tensor& BodyNode::type(std::string_view input) const {
  const onnx::TypeProto* found = context_.getInputType(index_of(input));
  if (found == nullptr || !found->has_tensor_type()) throw UnknownType();
  return found->tensor_type();
}

std::size_t BodyNode::rank(std::string_view input) const {
  const auto& found = type(input);
  if (!found.has_shape()) throw UnknownType();
  return static_cast<std::size_t>(found.shape().dim_size());
}

std::int64_t BodyNode::dim(std::string_view input, std::size_t axis) const {
  if (axis >= rank(input)) fail_invalid("input {} has the rank {}, which is too low", input, rank(input));
  const auto& found = type(input).shape().dim(static_cast<int>(axis));
  if (!found.has_dim_value()) throw UnknownType();
  return found.dim_value();
}

int BodyNode::dtype(std::string_view input) const {
  const int found = type(input).elem_type();
  if (found == onnx::TensorProto::UNDEFINED) throw UnknownType();
  return found;
}

void BodyNode::require_all_used(const onnx::FunctionProto& body) const {
  std::set<std::string> used = asked_, read = accepted_;
  for (const onnx::NodeProto& node : body.node()) {
    for (const AttributeProto& attribute : node.attribute()) used.insert(attribute.ref_attr_name());
    read.insert(node.input().begin(), node.input().end());
  }
  for (const auto& [name, stated] : schema_.attributes()) {
    const AttributeProto* given = context_.getAttribute(name);
    if (given == nullptr || used.contains(name)) continue;
    const bool is_default = stated.default_value.has_name() &&
                            stated.default_value.SerializeAsString() == given->SerializeAsString();
    if (!is_default) fail_unsupported("attribute '{}' of {} is not handled", name, schema_.Name());
  }
  for (int i = 0; i < body.input_size(); ++i) {
    if (context_.hasInput(i) && !read.contains(body.input(i)))
      fail_unsupported("input '{}' of {} is not handled", body.input(i), schema_.Name());
  }
}

std::vector<OpSchema> schemas_of(std::span<const AddedOperator> rows, const char* domain, const char* file) {
  std::vector<OpSchema> schemas;
  for (const AddedOperator& row : rows) schemas.push_back(schema_of(row, domain, file));
  return schemas;
}

std::string list_text(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

}  // namespace grurun::opset
