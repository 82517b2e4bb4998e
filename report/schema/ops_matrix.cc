#include "report/schema/ops_matrix.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/graph/op_registry.h"
#include "onnx_io/models/model.h"
#include "onnx_io/models/walk.h"
#include "opset/schema/added/listed_schemas.h"
#include "opset/schema/near_match.h"
#include "tensor/error.h"

namespace grurun::report {
namespace {

constexpr int deepest_body = 16;

std::string element_of(const std::string& type) {
  const bool tensor = type.starts_with("tensor(") && type.ends_with(')');
  return tensor ? type.substr(7, type.size() - 8) : type;
}

// The innermost element type of "seq(tensor(float))", "map(int64,tensor(float))", ...
DType innermost_dtype(const std::string& type) {
  const std::size_t start = type.find_last_of("(,");
  const std::size_t from = start == std::string::npos ? 0 : start + 1;
  return parse_dtype(type.substr(from, type.find(')', from) - from));
}

class BodyCheck {
 public:
  /// True when the body that the schema has for these types of its constraints runs.
  bool runs(const opset::SchemaInfo& schema, const std::map<std::string, std::string>& types) {
    onnx_io::Node node = node_of(schema);
    std::vector<ValueType> inputs;
    for (const opset::ParameterInfo& input : schema.inputs) {
      const auto bound = types.find(input.type_str);
      inputs.push_back(
          parse_value_type(bound == types.end() ? input.type_str : bound->second).value_or(ValueType()));
    }
    return body_runs(node, schema.since_version, inputs, 0);
  }

 private:
  // A call that names every input and output and has every default: the longest body. Required integers are
  // numbers of heads, groups and the like, for which 1 does.
  static onnx_io::Node node_of(const opset::SchemaInfo& schema) {
    onnx_io::Node node;
    node.op_type = schema.name;
    node.domain = schema.domain;
    for (std::size_t i = 0; i < schema.inputs.size(); ++i) node.inputs.push_back("i" + std::to_string(i));
    for (std::size_t i = 0; i < schema.outputs.size(); ++i) node.outputs.push_back("o" + std::to_string(i));
    for (const opset::AttributeInfo& attribute : schema.attributes) {
      if (attribute.default_value) {
        node.attributes.push_back(*attribute.default_value);
      } else if (attribute.required && attribute.type == onnx_io::AttributeType::int_) {
        onnx_io::Attribute& one = node.attributes.emplace_back();
        one.name = attribute.name;
        one.type = attribute.type;
        one.i = 1;
      }
    }
    return node;
  }

  bool body_runs(const onnx_io::Node& node, std::int64_t version, const std::vector<ValueType>& inputs,
                 int depth) {
    if (depth > deepest_body) return false;
    std::optional<onnx_io::Function> body;
    try {
      body = opset::function_body(node, version, inputs);
    } catch (const Error& error) {
      // A body for these types cannot be built. An added operator's may not handle all inputs at once.
      return error.kind() == ErrorKind::unsupported && !opset::newest_opset(node.domain);
    }
    // An added operator's may depend on shapes, too; its schema lists the types that it runs for.
    if (!body) return !opset::newest_opset(node.domain);
    return std::ranges::all_of(body->nodes, [&](const onnx_io::Node& inner) {
      return node_runs(inner, body->opset_imports, depth + 1);
    });
  }

  bool node_runs(const onnx_io::Node& node, const onnx_io::OpsetImports& imports, int depth) {
    const auto imported = imports.find(node.domain);
    if (imported == imports.end()) return false;
    bool bodies_run = true;
    onnx_io::for_each_body(node, [&](const onnx_io::Graph& body, const onnx_io::Attribute&) {
      for (const onnx_io::Node& inner : body.nodes)
        bodies_run = bodies_run && node_runs(inner, imports, depth);
    });
    if (!bodies_run) return false;
    const opset::SchemaInfo* schema = opset::find_schema(node.op_type, node.domain, imported->second);
    if (schema == nullptr) return false;
    const auto [known, added] = verdicts_.emplace(schema, false);
    if (!added) return known->second;
    bool runs = engine::find_op(schema->domain, schema->name, schema->since_version) != nullptr;
    const bool fixed_body = schema->has_function_body &&
                            !opset::function_body_needs_types(node.op_type, node.domain, imported->second);
    // Inside a body types are not known here, so a body built from types does not count.
    if (!runs && fixed_body) runs = body_runs(node, imported->second, {}, depth);
    return verdicts_[schema] = runs;
  }

  std::map<const opset::SchemaInfo*, bool> verdicts_;
};

bool kernel_takes(const engine::OpRow& row, const std::string& constraint, const std::string& type) {
  return std::ranges::all_of(row.rules, [&](const engine::TypeRule& rule) {
    return rule.constraint != constraint || rule.types.contains(innermost_dtype(type));
  });
}

void add_type(TypeSupport& support, const std::string& type, bool supported) {
  (supported ? support.supported : support.unsupported).push_back(element_of(type));
}

std::vector<TypeSupport> kernel_types(const opset::SchemaInfo& schema, const engine::OpRow& row) {
  std::vector<TypeSupport> out;
  for (const opset::TypeConstraintInfo& constraint : schema.type_constraints) {
    TypeSupport& support = out.emplace_back(TypeSupport{constraint.name, {}, {}});
    for (const std::string& type : constraint.types) {
      add_type(support, type, kernel_takes(row, constraint.name, type));
    }
  }
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    const std::string name = "input:" + schema.inputs[i].name;
    const auto is_rule = [&](const engine::TypeRule& rule) { return rule.constraint == name; };
    if (std::ranges::none_of(row.rules, is_rule)) continue;
    TypeSupport& support = out.emplace_back(TypeSupport{name, {}, {}});
    const DTypeSet admitted = schema.input_dtypes(i);
    for (int number = 1; number < dtype_count; ++number) {
      const auto dtype = static_cast<DType>(number);
      if (admitted.contains(dtype))
        add_type(support, dtype_name(dtype), kernel_takes(row, name, dtype_name(dtype)));
    }
  }
  return out;
}

// For each type of each constraint, with the other constraints at float or else their first type.
std::vector<TypeSupport> body_types(const opset::SchemaInfo& schema, BodyCheck& check) {
  std::map<std::string, std::string> usual;
  for (const opset::TypeConstraintInfo& constraint : schema.type_constraints) {
    const auto& types = constraint.types;
    const bool has_float = std::ranges::count(types, "tensor(float)") > 0;
    usual[constraint.name] = has_float || types.empty() ? "tensor(float)" : types.front();
  }
  std::vector<TypeSupport> out;
  for (const opset::TypeConstraintInfo& constraint : schema.type_constraints) {
    TypeSupport& support = out.emplace_back(TypeSupport{constraint.name, {}, {}});
    for (const std::string& type : constraint.types) {
      std::map<std::string, std::string> types = usual;
      types[constraint.name] = type;
      add_type(support, type, check.runs(schema, types));
    }
  }
  return out;
}

std::vector<TypeSupport> no_types(const opset::SchemaInfo& schema) {
  std::vector<TypeSupport> out;
  for (const opset::TypeConstraintInfo& constraint : schema.type_constraints) {
    TypeSupport& support = out.emplace_back(TypeSupport{constraint.name, {}, {}});
    for (const std::string& type : constraint.types) add_type(support, type, false);
  }
  return out;
}

OpSupport support_of(const opset::SchemaInfo& schema, BodyCheck& check) {
  if (const engine::OpRow* row = engine::find_op(schema.domain, schema.name, schema.since_version)) {
    return {&schema, SupportKind::kernel, kernel_types(schema, *row)};
  }
  if (schema.deprecated) return {&schema, SupportKind::deprecated, {}};
  if (schema.has_function_body) {
    std::vector<TypeSupport> types = body_types(schema, check);
    const bool runs =
        types.empty() ? check.runs(schema, {}) : std::ranges::all_of(types, [](const TypeSupport& support) {
          return !support.supported.empty() || support.unsupported.empty();
        });
    if (runs) return {&schema, SupportKind::function_body, std::move(types)};
  }
  return {&schema, SupportKind::none, no_types(schema)};
}

}  // namespace

const char* support_kind_name(SupportKind kind) {
  switch (kind) {
    case SupportKind::kernel:
      return "kernel";
    case SupportKind::function_body:
      return "function body";
    case SupportKind::deprecated:
      return "deprecated";
    case SupportKind::none:
      break;
  }
  return "none";
}

bool OpSupport::has_gap() const {
  if (kind == SupportKind::none) return true;
  return std::ranges::any_of(types, [](const TypeSupport& support) { return !support.unsupported.empty(); });
}

OpsMatrix support_matrix() {
  BodyCheck check;
  OpsMatrix matrix;
  for (const opset::SchemaInfo* schema : opset::all_schemas()) matrix.push_back(support_of(*schema, check));
  for (const opset::SchemaInfo* schema : opset::added_schemas()) matrix.push_back(support_of(*schema, check));
  std::ranges::sort(matrix, {}, [](const OpSupport& row) {
    return std::tuple(row.schema->domain, row.schema->name, row.schema->since_version);
  });
  return matrix;
}

void keep_named(OpsMatrix& matrix, const std::vector<std::string>& names) {
  const auto is = [](const OpSupport& row, const std::string& name) {
    const opset::SchemaInfo& schema = *row.schema;
    return schema.name == name || onnx_io::qualified_name(schema.domain, schema.name) == name ||
           onnx_io::shown_domain(schema.domain) + "." + schema.name == name;
  };
  for (const std::string& name : names) {
    if (std::ranges::none_of(matrix, [&](const OpSupport& row) { return is(row, name); }))
      fail_usage("no operator '{}' in any version{}", name, opset::did_you_mean(opset::near_operators(name)));
  }
  std::erase_if(matrix, [&](const OpSupport& row) {
    return !names.empty() &&
           std::ranges::none_of(names, [&](const std::string& name) { return is(row, name); });
  });
}

}  // namespace grurun::report
