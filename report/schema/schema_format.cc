#include "report/schema/schema_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "onnx_io/models/model.h"
#include "report/json_text.h"

namespace grurun::report {

namespace {

using nlohmann::ordered_json;
using onnx_io::Attribute;
using onnx_io::AttributeType;
using opset::AttributeInfo;
using opset::ParameterInfo;
using opset::ParameterKind;
using opset::SchemaInfo;

constexpr std::size_t line_width = 110;

// Words of the text, in lines that begin with the indent.
std::string wrapped(const std::string& text, const std::string& indent) {
  std::istringstream words(text);
  std::string out;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > line_width) {
      out += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? out : out + indent + line + "\n";
}

ordered_json default_json(const Attribute& value) {
  switch (value.type) {
    case AttributeType::float_:
      return std::stod(fmt::format("{}", value.f));  // 0.2, not the double nearest to float 0.2
    case AttributeType::int_:
      return value.i;
    case AttributeType::string:
      return value.s;
    case AttributeType::floats: {
      ordered_json list = ordered_json::array();
      for (const float element : value.floats) list.push_back(std::stod(fmt::format("{}", element)));
      return list;
    }
    case AttributeType::ints:
      return value.ints;
    case AttributeType::strings:
      return value.strings;
    default:
      return onnx_io::attribute_type_name(value.type);
  }
}

std::string presence(const AttributeInfo& attribute) {
  if (attribute.required) return "required";
  if (!attribute.default_value) return "optional";
  return "default " +
         default_json(*attribute.default_value).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string kind_text(const ParameterInfo& parameter) {
  if (parameter.kind == ParameterKind::variadic)
    return fmt::format("variadic, at least {}, types {}", parameter.min_arity,
                       parameter.homogeneous ? "equal" : "independent");
  return parameter.kind == ParameterKind::single ? "required" : kind_name(parameter.kind);
}

std::string count_text(int min, int max) {
  if (max == INT_MAX) return fmt::format("at least {}", min);
  return min == max ? fmt::format("{}", min) : fmt::format("{} to {}", min, max);
}

struct Row {
  std::string name;
  std::string type;
  std::string rest;
  std::string description;
};

std::string section(const std::string& title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::size_t name_width = 0;
  std::size_t type_width = 0;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    type_width = std::max(type_width, row.type.size());
  }
  std::string text = "\n" + title + "\n";
  for (const Row& row : rows) {
    text += fmt::format("  {:<{}}  {:<{}}  {}\n", row.name, name_width, row.type, type_width, row.rest);
    text += wrapped(row.description, "      ");
  }
  return text;
}

std::vector<Row> parameter_rows(const std::vector<ParameterInfo>& parameters) {
  std::vector<Row> rows;
  for (const ParameterInfo& parameter : parameters) {
    rows.push_back({parameter.name, parameter.type_str, kind_text(parameter), parameter.description});
  }
  return rows;
}

std::string version_list(const SchemaView& view) {
  std::vector<std::string> versions;
  for (const SchemaInfo* schema : view.versions) {
    versions.push_back(fmt::format("{}{}", schema->since_version, schema->deprecated ? " (deprecated)" : ""));
  }
  return fmt::format("{}", fmt::join(versions, ", "));
}

const char* yes_no(bool value) {
  return value ? "yes" : "no";
}

ordered_json parameters_json(const SchemaInfo& schema, const std::vector<ParameterInfo>& parameters) {
  ordered_json list = ordered_json::array();
  for (const ParameterInfo& parameter : parameters) {
    ordered_json entry = {{"name", parameter.name},
                          {"type", parameter.type_str},
                          {"kind", kind_name(parameter.kind)},
                          {"types", schema.types_of(parameter)}};
    if (parameter.kind == ParameterKind::variadic) {
      entry["min_arity"] = parameter.min_arity;
      entry["homogeneous"] = parameter.homogeneous;
    }
    entry["description"] = parameter.description;
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json limit_json(int max) {
  return max == INT_MAX ? ordered_json() : ordered_json(max);
}

}  // namespace

std::string schema_text(const SchemaView& view) {
  const SchemaInfo& schema = *view.schema;
  std::string text = fmt::format(
      "{}-{}, domain {}{}{}\n", schema.name, schema.since_version, onnx_io::shown_domain(schema.domain),
      schema.deprecated ? ", deprecated" : "", schema.experimental ? ", experimental" : "");
  text += fmt::format("  versions         {}\n", version_list(view));
  text += fmt::format("  shape inference  {}\n", yes_no(schema.has_shape_inference));
  text += fmt::format("  function body    {}\n", yes_no(schema.has_function_body));
  std::vector<Row> attributes;
  for (const AttributeInfo& attribute : schema.attributes) {
    attributes.push_back({attribute.name, onnx_io::attribute_type_name(attribute.type), presence(attribute),
                          attribute.description});
  }
  text += section("Attributes", attributes);
  text += section(fmt::format("Inputs ({})", count_text(schema.min_input, schema.max_input)),
                  parameter_rows(schema.inputs));
  text += section(fmt::format("Outputs ({})", count_text(schema.min_output, schema.max_output)),
                  parameter_rows(schema.outputs));
  if (!schema.type_constraints.empty()) text += "\nTypes\n";
  for (const auto& constraint : schema.type_constraints) {
    text += wrapped(fmt::format("{}: {}", constraint.name, fmt::join(constraint.types, ", ")), "  ");
    text += wrapped(constraint.description, "      ");
  }
  if (view.with_doc) text += "\nText\n" + schema.doc + (schema.doc.ends_with('\n') ? "" : "\n");
  return text;
}

std::string schema_json(const SchemaView& view) {
  const SchemaInfo& schema = *view.schema;
  ordered_json out = {{"name", schema.name},
                      {"domain", onnx_io::shown_domain(schema.domain)},
                      {"since_version", schema.since_version}};
  for (const SchemaInfo* version : view.versions) out["versions"].push_back(version->since_version);
  out["deprecated"] = schema.deprecated;
  out["experimental"] = schema.experimental;
  out["has_function_body"] = schema.has_function_body;
  out["has_shape_inference"] = schema.has_shape_inference;
  out["doc"] = schema.doc;
  out["attributes"] = ordered_json::array();
  for (const AttributeInfo& attribute : schema.attributes) {
    ordered_json entry = {{"name", attribute.name},
                          {"type", onnx_io::attribute_type_name(attribute.type)},
                          {"required", attribute.required}};
    if (attribute.default_value) entry["default"] = default_json(*attribute.default_value);
    entry["description"] = attribute.description;
    out["attributes"].push_back(std::move(entry));
  }
  out["min_input"] = schema.min_input;
  out["max_input"] = limit_json(schema.max_input);
  out["inputs"] = parameters_json(schema, schema.inputs);
  out["min_output"] = schema.min_output;
  out["max_output"] = limit_json(schema.max_output);
  out["outputs"] = parameters_json(schema, schema.outputs);
  out["type_constraints"] = ordered_json::array();
  for (const auto& constraint : schema.type_constraints) {
    out["type_constraints"].push_back(
        {{"name", constraint.name}, {"types", constraint.types}, {"description", constraint.description}});
  }
  return json_text(out);
}

}  // namespace grurun::report
